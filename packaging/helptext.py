# SPDX-License-Identifier: GPL-2.0-only
"""What commands say of themselves with --help, for their man pages and for completion."""

import dataclasses
import re
import subprocess

# As -p, --param NAME=VALUE, --verdict[=PERCENT]
OPTION = r"--?[A-Za-z][\w-]*(?:\[?=[^\s\]]+\]?)?(?: (?:[A-Z][A-Z=|]*|[a-z][\w-]*(?:\|[\w-]+)+)\b)?"


@dataclasses.dataclass
class Help:
    """Of one command, or of one verb of it."""
    name: str           # "hipec sim"
    synopsis: list      # lines behind "usage: "
    summary: str        # one line, without its full stop
    lines: list         # the rest, but the examples
    version: str = ""
    examples: list = dataclasses.field(default_factory=list)    # [(what it does, command)]


def ask(program, *args):
    """Standard output."""
    return subprocess.run([program, *args], capture_output=True, text=True, check=True).stdout


def parse(name, text):
    """A help text: usage, an empty line, a paragraph whose first line is the summary."""
    usage, _, rest = text.partition("\n\n")
    synopsis = [line.removeprefix("usage:").strip() for line in usage.splitlines()]
    rest, _, shown = rest.partition("\nExamples:\n")
    lines = rest.rstrip("\n").split("\n")
    return Help(name, synopsis, lines[0].rstrip("."), lines[1:],
                examples=re.findall(r"^  (\S.*)\n    (\S.*)$", shown, re.M))


def of_program(program, name):
    """Its own."""
    got = parse(name, ask(program, "--help"))
    got.version = ask(program, "--version").split()[-1]
    return got


def verbs(hipec):
    """[(verb, its Help)], as the table of verbs has them."""
    names = re.findall(r"^  ([a-z]+) ", ask(hipec, "--help"), re.M)
    return [(verb, parse(f"hipec {verb}", ask(hipec, verb, "--help"))) for verb in names]


def option(line):
    """(an option with its other names, what follows it) if a line begins with one."""
    found = re.match(rf" +({OPTION}(?:, {OPTION})*)(?: +(.*))?$", line)
    return (found[1], found[2] or "") if found else None


def words(lines):
    """{an option in all its names: the words one of which it takes}"""
    heads = [head[0] for line in lines if (head := option(line))]
    return {head.rpartition(" ")[0].replace(", ", "|"): head.rpartition(" ")[2].replace("|", " ")
            for head in heads if re.search(r" [a-z][\w-]*\|\S+$", head)}


def options(lines):
    """All options that some lines explain."""
    found = {"--help"}
    for line in lines:
        head = option(line)
        if head:
            found.update(re.findall(r"(?<!\S)--?[A-Za-z][A-Za-z0-9-]*", head[0]))
    return sorted(found)
