# SPDX-License-Identifier: GPL-2.0-only
"""What C text defines and uses, by its tokens: for sources that are not compiled here.

A kernel's objects say the same, and test/guest/test_objects.py checks that they do. So this
knows no more of C than the module's sources have: no declaration of a function within
another, no name of an external symbol that is also a field's without . or -> before it.
"""

import re

TOKEN = re.compile(r"""/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|->"""
                   r"""|[A-Za-z_]\w*|\d\w*|[^\s\w]""", re.S)
NAME = re.compile(r"[A-Za-z_]\w*")
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)
MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)((?:[^\n\\]|\\.)*(?:\\\n(?:[^\n\\]|\\.)*)*)",
                   re.M)
UNDEF = re.compile(r"^[ \t]*#[ \t]*undef[ \t]+(\w+)", re.M)
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n\\]|\\.|\\\n)*", re.M)
ATTRIBUTE = re.compile(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)")
DEFINES = re.compile(r"DEFINE_(MUTEX|SPINLOCK|SRCU)|LIST_HEAD|DECLARE_WAIT_QUEUE_HEAD")   # the kernel's
TAGS = {"struct", "union", "enum"}


def tokens(text):
    return [token for token in TOKEN.findall(text) if token[0] not in "\"'" and
            token[:2] not in ("/*", "//")]


def names(found):
    """Of a list of tokens: identifiers, but for tags and fields. prefix##x is prefix*."""
    return {token + "*" * (after == ["#", "#"])
            for before, token, after in zip(["", *found], found,
                                            (found[i + 1:i + 3] for i in range(len(found))))
            if NAME.fullmatch(token) and before not in TAGS | {".", "->"}}


def without_comments(text):
    return re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.S)


def outside(found):
    """Declarations at file scope: (their tokens without any body, the body's tokens)."""
    head, body, depth = [], [], 0
    for token in found:
        depth -= token == "}"
        if token == "}" and not depth and "=" not in head and ")" in head:
            yield head, body            # a function
            head, body = [], []
        elif token == ";" and not depth:
            yield head, body
            head, body = [], []
        elif depth or token in "{}":
            body.append(token)
        else:
            head.append(token)
        depth += token == "{"


def declared(head):
    """Names that a declaration declares or defines."""
    if not head or "typedef" in head:
        return []
    if DEFINES.fullmatch(head[0]):
        return head[2:3]
    found, depth, last = [], 0, None
    for before, token in zip(["", *head], [*head, ","]):
        if not depth and token in ("(", "[", "=", ",") and last:
            found.append(last)
            last = None
        if not depth and token in ("(", "="):
            break
        depth += (token in "([") - (token in ")]")
        if not depth and NAME.fullmatch(token) and before not in TAGS:
            last = token
    return found


def is_prototype(head, body):
    """Whether a declaration defines nothing."""
    start = head[:head.index("=")] if "=" in head else head
    return "extern" in head or ("(" in start and not body and not DEFINES.fullmatch(head[0]))


class Source:
    """A file: what it defines for others, for itself, and all that it names."""

    def __init__(self, text):
        self.includes = INCLUDE.findall(without_comments(text))
        text = without_comments(text)
        self.macros = {}
        for name, body in MACRO.findall(text):
            self.macros[name] = self.macros.get(name, set()) | names(tokens(body))
        self.uses = set().union(*self.macros.values())
        self.pasted = {name[:-1] for name in self.uses if name[-1] == "*"}
        for name in UNDEF.findall(text):
            self.macros.pop(name, None)
        text = ATTRIBUTE.sub("", DIRECTIVE.sub("", text))
        self.external, self.local, self.inline, self.declares = set(), set(), {}, set()
        for head, body in outside(tokens(text)):
            found = declared(head)
            self.uses |= names(head) - set(found) | names(body)
            if "static" in head:
                self.local |= set(found)
                self.inline |= {name: names(body) | names(head) for name in found}
            elif head and is_prototype(head, body):
                self.declares |= set(found)
            else:
                self.external |= set(found)


class Assembler:
    """The same of a file in assembler language."""

    def __init__(self, text):
        text = without_comments(text)
        self.includes, self.local = [], set()
        self.external = set(re.findall(r"SYM_FUNC_START\((\w+)\)", text))
        self.uses = names(tokens(DIRECTIVE.sub("", text)))


def closure(file, includes):
    """Headers that a file has, directly or not."""
    seen, todo = set(), {file}
    while todo:
        seen |= todo
        todo = set().union(*(includes.get(path, set()) for path in todo)) - seen
    return seen - {file}


def needs(sources, headers, includes):
    """{file: files whose functions or data it uses}, by macros and inline functions as well."""
    declares = set().union(*(header.declares for header in headers.values()))
    pasted = tuple(set().union(*(header.pasted for header in headers.values())))
    home = {name: file for file, source in sources.items() for name in source.external
            if name in declares or name.startswith(pasted)}
    found = {}
    for file, source in sources.items():
        shared = {}
        for path in closure(file, includes) & headers.keys():
            for name, body in (headers[path].macros | headers[path].inline).items():
                shared[name] = shared.get(name, set()) | body
        seen, todo = set(), source.uses - source.local
        while todo:
            seen |= todo
            todo = set().union(*(shared.get(name, set()) for name in todo)) - seen
        for prefix in {name[:-1] for name in seen if name[-1] == "*"}:
            seen |= {name for name in home if name.startswith(prefix)}
        found[file] = {home[name] for name in seen - source.external if name in home} - {file}
    return found
