#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Print completion for bash of hipec's verbs and options, from what --help says, and of what
options want, from what the sources have.

    completion.py HIPEC AMPC
"""

import pathlib
import re
import sys

import helptext

ROOT = pathlib.Path(__file__).resolve().parent.parent

TITLE = """\
# SPDX-License-Identifier: GPL-2.0-only
# Completion of hipec and ampc for bash; made by packaging/completion.py.
"""
HEAD = """
_hipec()
{
	local word=${COMP_WORDS[COMP_CWORD]} last=${COMP_WORDS[COMP_CWORD-1]}
	local verb=${COMP_WORDS[1]} options below= words= i
	COMPREPLY=()
	if [ "${COMP_WORDS[0]##*/}" = ampc ]; then
		verb=ampc
	elif [ "$COMP_CWORD" = 1 ]; then
		COMPREPLY=($(compgen -W "$_hipec_verbs help --help --version" -- "$word"))
		return
	elif [ "$verb" = help ]; then
		COMPREPLY=($(compgen -W "$_hipec_verbs" -- "$word"))
		return
	fi
	# Behind -- is a command, then what it takes.
	for ((i = 2; i < COMP_CWORD; i++)); do
		if [ "${COMP_WORDS[i]}" = -- ]; then
			if [ $((i + 1)) = "$COMP_CWORD" ]; then
				COMPREPLY=($(compgen -c -- "$word"))
			else
				COMPREPLY=($(compgen -f -- "$word"))
			fi
			return
		fi
	done
	case $verb in
"""
TAIL = """\
	esac
	[ -z "$words" ] || { COMPREPLY=($(compgen -W "$words" -- "$word")); return; }
	case $word in
	-*)
		COMPREPLY=($(compgen -W "$options" -- "$word"))
		return ;;
	esac
	case $last in
	-p|--policy|--over|--among)
		_hipec_list "$(_hipec_policies) $_hipec_built_in"
		return ;;
	--columns) [ "$verb" != sim ] || { _hipec_list "$_hipec_columns all"; return; } ;;
	--from|--to) _hipec_list "$_hipec_forms"; return ;;
	make) [ "$verb" != trace ] || { _hipec_list "$_hipec_kinds"; return; } ;;
	esac
	if [ "$COMP_CWORD" = 2 ] && [ -n "$below" ]; then
		COMPREPLY=($(compgen -W "$below" -- "$word"))
	fi
	COMPREPLY+=($(compgen -f -- "$word"))
}

# Of a list with commas, the last word; files too, since a policy may be one.
_hipec_list()
{
	local before= part=${word##*,}
	case $word in
	*,*) before=${word%,*}, ;;
	esac
	COMPREPLY=($(compgen -P "$before" -W "$1" -- "$part"))
	COMPREPLY+=($(compgen -P "$before" -f -- "$part"))
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


def names(path, macro):
    """The texts of an X-macro's rows: X(ID, "text", ...)"""
    rows = (ROOT / path).read_text().split(f"#define {macro}(X)")[1].split("\n\n")[0]
    return " ".join(re.findall(r'X\(\w+, "([^"]+)"', rows))


def below(text):
    """The verbs that a verb has of its own, as hipec trace convert."""
    return [found[1] for line in text.synopsis
            if (found := re.match(rf"{text.name} ([a-z]+) ", line))]


def main():
    """Print it."""
    hipec, ampc = sys.argv[1:]
    verbs = helptext.verbs(hipec)
    print(TITLE)
    print(f'_hipec_verbs="{" ".join(verb for verb, _ in verbs)}"')
    print(f'_hipec_built_in="{names("userlib/policy/policy.h", "POLICY_REFERENCES")} builtin"')
    print(f'_hipec_columns="{names("userlib/job/job.h", "SIM_COLUMNS")}"')
    print(f'_hipec_forms="{names("userlib/trace/trace.h", "TRACE_FORMS")}"')
    print(f'_hipec_kinds="{names("userlib/trace/trace.h", "TRACE_KINDS")}"')
    print(HEAD, end="")
    for name, text in [*verbs, ("ampc", helptext.of_program(ampc, "ampc"))]:
        print(f'\t{name}) options="{" ".join(helptext.options(text.lines))}"'
              f' below="{" ".join(below(text))}"')
        cases = [f'{option}) words="{words}" ;;' for option, words in
                 helptext.words(text.lines).items()]
        print("\t\tcase $last in " + " ".join(cases) + " esac ;;" if cases else "\t\t;;")
    print(TAIL, end="")


if __name__ == "__main__":
    main()
