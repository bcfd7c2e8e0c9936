#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""The parameters of the module, as its sources describe them.

    parameters.py           print the table
    parameters.py --docs    put it into docs/user/install.md
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
DOCUMENT = ROOT / "docs/user/install.md"


def parameters():
    """[(name, whether it may be changed while the module is loaded, what it is)]"""
    source = "".join(path.read_text() for path in sorted((ROOT / "module").rglob("*.c")))
    mode = {name: mode for name, mode in
            re.findall(r"^module_param(?:_cb|_named)?\((\w+),.*, (0[0-7]+)\);", source, re.M)}
    texts = re.findall(r'^MODULE_PARM_DESC\((\w+), "(.*)"\);', source, re.M)
    return sorted((name, mode[name].endswith("644"), text) for name, text in texts)


def table():
    """In Markdown."""
    rows = ["| parameter | when | what |", "|---|---|---|"]
    rows += [f"| `{name}` | {'any time' if live else 'load'} | {text} |"
             for name, live, text in parameters()]
    return "\n".join(rows)


def main():
    """Print it, or put it where the last one is."""
    if sys.argv[1:] != ["--docs"]:
        print(table())
        return
    text = DOCUMENT.read_text()
    DOCUMENT.write_text(re.sub(r"^\| parameter \|.*?\n(?!\|)", lambda _: table() + "\n", text,
                               count=1, flags=re.S | re.M))


if __name__ == "__main__":
    main()
