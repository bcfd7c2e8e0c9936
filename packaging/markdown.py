# SPDX-License-Identifier: GPL-2.0-only
"""Documents in Markdown, as docs/ has them, as text for troff: headings, paragraphs, lists,
blocks of code and tables, which tbl draws."""

import re

# A column of a table is broken into lines if one of its cells is longer.
WIDE = 26


# What troff would print otherwise than it is written.
ESCAPES = {"\\": r"\e", "-": r"\-", "'": r"\(aq", "`": r"\(ga", "^": r"\(ha", "~": r"\(ti"}


def escape(text):
    """Text that troff prints as it is."""
    text = re.sub(r"[\\'`^~-]", lambda found: ESCAPES[found[0]], text)
    return re.sub(r"^\.", r"\\&.", text, flags=re.M)


def words(text):
    """A piece of a paragraph: code and what is marked strong are bold."""
    out = []
    for code, strong, slanted, label, other in re.findall(
            r"`([^`]+)`|\*\*(.+?)\*\*|\*([^*\s][^*]*)\*|\[([^]]+)\]\([^)]+\)|((?:\\.|[^`*[\\])+|.)",
            text):
        if code or strong:
            out.append(f"\\fB{escape(code) if code else words(strong)}\\fR")
        elif slanted:
            out.append(f"\\fI{escape(slanted)}\\fR")
        else:
            out.append(words(label) if label else escape(re.sub(r"\\(.)", r"\1", other)))
    line = "".join(out)
    return "\\&" + line if line.startswith(".") else line


def table(lines):
    """Rows, the first of which is the head."""
    rows = [[cell.strip().replace(r"\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
            for line in lines if not re.fullmatch(r"[-| :]+", line)]
    wide = [max(map(len, column)) > WIDE for column in zip(*rows)]
    layout = ["lx" if broken else "l" for broken in wide]
    out = [".TS", "tab(\t);", " ".join("lb" for _ in wide), " ".join(layout) + "."]
    for number, row in enumerate(rows):
        cells = [f"T{{\n{words(cell)}\nT}}" if cell and broken and number else words(cell)
                 for cell, broken in zip(row, wide)]
        out.append("\t".join(cells))
    # Cells are too narrow to be filled to their edges; groff 1.23 forgets at each .PP what the
    # page has said of that.
    return [".PP", ".ad l", *out, ".TE"]


def code(lines):
    """As it stands."""
    return [".PP", ".RS 4", ".EX",
            *(escape(line.expandtabs()) or "\\&" for line in lines), ".EE", ".RE"]


def plain(lines):
    """A paragraph, or a list."""
    item = re.match(r"(-|\d+\.) +", lines[0])
    if not item:
        return [".PP", words(" ".join(lines))]
    out = []
    for each in re.split(r"\n(?=(?:-|\d+\.) )", "\n".join(lines)):
        mark, text = re.match(r"(-|\d+\.) +(.*)", each, re.S).groups()
        out += [f".IP {mark if mark != '-' else chr(92) + '(bu'} 4",
                words(" ".join(text.split()))]
    return out


def blocks(text):
    """(function, lines) of each block, headings without one."""
    lines = re.sub(r"<!--.*?-->\n?", "", text, flags=re.S).splitlines()
    while lines:
        if lines[0].startswith("```"):
            end = lines.index("```", 1)
            yield code, lines[1:end]
            lines = lines[end + 1:]
        elif lines[0].startswith("#"):
            yield None, [lines.pop(0)]
        elif not lines[0]:
            lines.pop(0)
        else:
            kind = table if lines[0].startswith("|") else plain
            end = next((at for at, line in enumerate(lines) if not line or
                        line.startswith(("```", "#")) or (kind is table) != line.startswith("|")),
                       len(lines))
            yield kind, lines[:end]
            lines = lines[end:]


def troff(text):
    """The body of a page; ## is a section, ### a part of one."""
    out = []
    for kind, lines in blocks(text):
        if kind:
            out += kind(lines)
        else:
            marks, title = lines[0].split(" ", 1)
            out.append(f".SH {words(title.upper())}" if marks == "##" else f".SS {words(title)}")
    return "\n".join(out) + "\n"


def section(text, heading):
    """What stands below a heading, without it."""
    return re.search(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", text, re.M | re.S)[1]
