#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Write the man pages: of the commands from what --help says, of the library from its
header and the comments above its functions, of the device from the module's parameters, of
formats from the documents.

    manual.py HIPEC AMPC FOLDER
"""

import pathlib
import re
import sys

import helptext
import markdown
import parameters
from markdown import escape

ROOT = parameters.ROOT
FILES = """\
.SH FILES
.TP
.I /dev/hipec
the device, see
.BR hipec (4)
.TP
.I ../share/hipec/policies
from the command's folder: the policies that are shipped, sources and compiled
"""
# Name: document, its sections if not all of it, summary, what else to see.
FORMATS = {
    "hipec-hp": ("policy/language", [], "the language that policies are written in, .hp",
                 [("ampc", 1), ("hipec-hpo", 5)]),
    "hipec-hpo": ("policy/ampc", ["The compiled policy"],
                  "the compiled policy, .hpo", [("ampc", 1), ("hipec-dis", 1)]),
    "hipec-trace": ("user/traces", ["Forms"], "traces of accesses to pages",
                    [("hipec-trace", 1), ("hipec-sim", 1), ("hipec-record", 5)]),
    "hipec-record": ("user/operations", ["Records"], "what hipec record writes",
                     [("hipec-record", 1), ("hipec-trace", 5)]),
    "hipec-hints": ("user/amp", ["State file"], "what hipec run has learnt of a program",
                    [("hipec-run", 1), ("hipec-amp", 1)]),
}


def head(name, section, summary, version):
    """The first two sections' beginning."""
    return (f'.TH {name.replace(" ", "-").upper()} {section} "" "hipec {version}" hipec\n'
            f'.SH NAME\n{escape(name.replace(" ", "-"))} \\- {escape(summary)}\n')


def synopsis(lines):
    """Usage, line by line."""
    return ".SH SYNOPSIS\n" + "\n.br\n".join(f".B {escape(line)}" for line in lines) + "\n"


def body(lines):
    """A help text: options with what they mean, the rest in paragraphs and lines."""
    out, in_option = [], False
    for line in lines:
        found = helptext.option(line)
        if not line:
            out.append(".PP")
            in_option = False
        elif found:
            out += [".TP", f".B {escape(found[0])}"] + ([escape(found[1])] if found[1] else [])
            in_option = True
        elif in_option and line.startswith("   "):
            out.append(escape(line.strip()))
        else:
            if in_option:
                out.append(".PP")
            if line.startswith(" "):
                out.append(".br")
            out.append(escape(line.strip()))
            in_option = False
    return "\n".join(out) + "\n"


def see(*names):
    """References."""
    return ".SH SEE ALSO\n" + ",\n".join(f".BR {escape(name)} ({section})"
                                        for name, section in names) + "\n"


def shown(examples):
    """Commands, each behind what it does."""
    return ".SH EXAMPLES\n" + "".join(
        f".TP\n{escape(what)}\n.EX\n{escape(command)}\n.EE\n" for what, command in examples) \
        if examples else ""


def of_verb(text, version):
    """hipec-VERB(1)"""
    verb = text.name.split()[1]
    return (head(text.name, 1, text.summary, version) + synopsis(text.synopsis) +
            ".SH DESCRIPTION\n" + body(text.lines) + shown(text.examples) + see(("hipec", 1), *(
                [("ampc", 1)] if verb in ("dis", "sim") else [("hipec", 4)])))


def of_hipec(hipec, verbs):
    """hipec(1)"""
    text = helptext.of_program(hipec, "hipec")
    table = "".join(f".TP\n.BR {escape('hipec-' + verb)} (1)\n{escape(of.summary)}\n"
                    for verb, of in verbs)
    return (head("hipec", 1, "page replacement that applications choose", text.version) +
            synopsis(text.synopsis) + ".SH VERBS\n" + table + ".SH EXIT STATUS\n" +
            escape(text.lines[-1].split("Exit codes: ")[1]) + "\n" + FILES +
            see(("ampc", 1), ("libhipec", 3), ("hipec", 4), *((name, 5) for name in FORMATS)))


def of_ampc(ampc):
    """ampc(1)"""
    text = helptext.of_program(ampc, "ampc")
    first = " ".join([text.summary, *text.lines[:text.lines.index("")]])
    return (head("ampc", 1, "compile a page replacement policy", text.version) +
            synopsis(text.synopsis) + f".SH DESCRIPTION\n{escape(first)}\n" +
            body(text.lines[text.lines.index(""):]) + see(("hipec", 1), ("hipec", 4)))


def of_device(version):
    """hipec(4)"""
    rows = "".join(f".TP\n.B {name}\n{escape(text)}{'' if live else ' (when it is loaded)'}\n"
                   for name, live, text in parameters.parameters())
    return head("hipec", 4, "the device of the hipec module", version) + f"""\
.SH DESCRIPTION
Each open of
.I /dev/hipec
is a container: a policy and frames, for ranges of files that are attached to it and
mapped. Programs use
.BR libhipec (3)
for that, or are run by
.BR hipec\\-run (1).
The device is root's and the group hipec's.
.SH MODULE PARAMETERS
For
.BR modprobe (8)
and
.IR /etc/modprobe.d ;
those that may be changed later are below
.IR /sys/module/hipec/parameters .
{rows}""" + see(("hipec", 1), ("libhipec", 3), ("hipec\\-doctor".replace("\\", ""), 1))


def of_format(name, version):
    """hipec-FORMAT(5)"""
    document, sections, summary, others = FORMATS[name]
    text = (ROOT / f"docs/{document}.md").read_text().split("\n", 1)[1]
    if sections:
        text = "".join(f"## {heading}\n" * (at > 0) + markdown.section(text, heading)
                       for at, heading in enumerate(sections))
    return ("'\\\" t\n" + head(name, 5, summary, version) + ".SH DESCRIPTION\n.ad l\n" +
            markdown.troff(text) + f"""\
.SH FILES
.TP
.I @docdir@/docs
the documents that are named here; this page is of
.IR docs/{document}.md
""" + see(*others))


def functions():
    """[(name, prototype, its comment's summary, arguments, text, return)] of libhipec."""
    source = "".join((ROOT / f"userlib/lib/{name}.c").read_text() for name in ("libhipec", "live"))
    found = re.findall(r"^/\*\*\n(.*?)^ \*/\n((?:int|void)\s[^{]*?\))\n\{", source, re.S | re.M)
    for comment, prototype in found:
        text = re.sub(r"^ \* ?", "", comment, flags=re.M)
        name, summary = re.match(r"(\w+)\(\) - (.*)", text).groups()
        rest = text.split("\n", 1)[1]
        arguments = re.findall(r"^@(\w+):\s*(.*(?:\n +.*)*)", rest, re.M)
        middle = re.sub(r"^@(\w+):\s*(.*(?:\n +.*)*)\n", "", rest, flags=re.M)
        middle, _, returns = middle.partition("Return: ")
        middle = middle.partition("Context:")[0]
        yield (name, re.sub(r"\s+", " ", prototype), summary, arguments, middle.strip(),
               re.sub(r"\s+", " ", returns.strip()))


def plain(text):
    """A comment's text, in one paragraph."""
    return escape(re.sub(r"@(\w+)", r"\1", re.sub(r"\s+", " ", text)))


def of_library(version):
    """libhipec(3)"""
    header = (ROOT / "userlib/lib/hipec.h").read_text()
    intro = re.search(r"/\*\n( \* libhipec:.*?) \*\n \* Interface:", header, re.S)[1]
    intro = re.sub(r"^ \* ?", "", intro, flags=re.M)
    title, _, intro = intro.partition("\n")
    out = [head("libhipec", 3, title.split(": ")[1].rstrip("."), version),
           ".SH SYNOPSIS\n.B #include <hipec.h>\n.PP\n.B cc $(pkg\\-config \\-\\-cflags hipec) "
           "program.c $(pkg\\-config \\-\\-libs hipec)\n.SH DESCRIPTION\n"]
    for paragraph in intro.strip("\n").split("\n\n"):
        if paragraph.startswith("\t"):
            out.append(f".PP\n.nf\n{escape(paragraph)}\n.fi\n")
        else:
            out.append(f".PP\n{plain(paragraph)}\n")
    out.append(".SH FUNCTIONS\n")
    for name, prototype, summary, arguments, text, returns in functions():
        out.append(f".SS {name}() \\- {escape(summary)}\n.B {escape(prototype)};\n")
        out += [f".TP\n.I {argument}\n{plain(meaning)}\n" for argument, meaning in arguments]
        out.append(f".PP\n{plain(text)}\n" if text else "")
        out.append(f".PP\nReturns {plain(returns)}\n")
    return "".join(out) + see(("hipec", 4), ("hipec", 1))


def installed(text):
    """With documents named by where make install puts them, which it knows."""
    return re.sub(r"(?<![\w/])docs/(?=[\w\\/-]+\.md)", "@docdir@/docs/", text)


def main():
    """Write all of them."""
    hipec, ampc, folder = sys.argv[1:]
    folder = pathlib.Path(folder)
    verbs = helptext.verbs(hipec)
    version = helptext.of_program(hipec, "hipec").version
    pages = {"hipec.1": of_hipec(hipec, verbs), "ampc.1": of_ampc(ampc),
             "hipec.4": of_device(version), "libhipec.3": of_library(version)}
    pages |= {f"hipec-{verb}.1": of_verb(text, version) for verb, text in verbs}
    pages |= {f"{name}.5": of_format(name, version) for name in FORMATS}
    pages |= {f"{found[0]}.3": ".so man3/libhipec.3\n" for found in functions()}
    for name, text in pages.items():
        where = folder / f"man{name[-1]}"
        where.mkdir(parents=True, exist_ok=True)
        (where / name).write_text(text if text.startswith(".so") else
                                  f'.\\" Made by packaging/manual.py.\n{installed(text)}')


if __name__ == "__main__":
    main()
