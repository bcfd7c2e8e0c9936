#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Print completion for bash of hipec's verbs and options, from what --help says.

    completion.py HIPEC AMPC
"""

import sys

import helptext

TITLE = """\
# SPDX-License-Identifier: GPL-2.0-only
# Completion of hipec and ampc for bash; made by packaging/completion.py.
"""
HEAD = """
_hipec()
{
	local word=${COMP_WORDS[COMP_CWORD]} last=${COMP_WORDS[COMP_CWORD-1]}
	local verb=${COMP_WORDS[1]} options
	COMPREPLY=()
	if [ "${COMP_WORDS[0]##*/}" = ampc ]; then
		verb=ampc
	elif [ "$COMP_CWORD" = 1 ]; then
		COMPREPLY=($(compgen -W "$_hipec_verbs --help --version" -- "$word"))
		return
	fi
	case $verb in
"""
TAIL = """\
	esac
	case $word in
	-*) COMPREPLY=($(compgen -W "$options" -- "$word")) ;;
	*)
		case $last in
		-p|--policy)
			COMPREPLY=($(compgen -W "$(_hipec_policies)" -- "$word")) ;;
		esac
		COMPREPLY+=($(compgen -f -- "$word"))
		;;
	esac
}

# The policies that are installed with the command.
_hipec_policies()
{
	local command=$(type -P "${COMP_WORDS[0]}") file
	for file in "${command%/*}"/../share/hipec/policies/*.hpo; do
		[ ! -f "$file" ] || basename "$file" .hpo
	done
}

complete -o filenames -F _hipec hipec ampc
"""


def main():
    """Print it."""
    hipec, ampc = sys.argv[1:]
    verbs = helptext.verbs(hipec)
    print(TITLE)
    print(f'_hipec_verbs="{" ".join(verb for verb, _ in verbs)}"')
    print(HEAD, end="")
    for name, text in [*verbs, ("ampc", helptext.of_program(ampc, "ampc"))]:
        print(f'\t{name}) options="{" ".join(helptext.options(text.lines))}" ;;')
    print(TAIL, end="")


if __name__ == "__main__":
    main()
