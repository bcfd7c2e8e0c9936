# SPDX-License-Identifier: GPL-2.0-only
"""Rules of the house that a grep can see. make lint runs these, and lint.py says how they fail."""

import ast
import os
import pathlib
import re
import subprocess
import sys

import pytest

from conftest import BUILD, ROOT, VERSION

CODE = {".c", ".h", ".l", ".y", ".py", ".sh", ".mk", ".hp", ".lua"}
MEMORY_FUNCTIONS = {"memcpy", "memset", "memcmp", "memmove"}  # GCC emits calls to these


def tracked():
    """Files that git tracks, or would if they were added."""
    out = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT,
                         text=True, capture_output=True, check=True).stdout
    return [path for path in map(pathlib.Path, out.split("\n")) if (ROOT / path).is_file()]


def places(pattern, paths):
    """file:line of what matches."""
    found = []
    for path in paths:
        for number, line in enumerate((ROOT / path).read_text().split("\n"), 1):
            if re.search(pattern, line):
                found.append(f"{path}:{number}")
    return found


def code(*under):
    """Tracked sources below some folders."""
    return [path for path in tracked() if path.suffix in CODE
            and (not under or any(path.is_relative_to(folder) for folder in under))]


def symbols(path, *options):
    """Names of an object's external symbols."""
    out = subprocess.run(["nm", "-g", *options, path], text=True, check=True,
                         capture_output=True).stdout
    return {line.split()[-1] for line in out.splitlines()}


def needs(files):
    """{file: files whose functions or data it uses}. @files: {name: its object}."""
    home = {name: file for file, path in files.items() for name in symbols(path, "--defined-only")}
    return {file: {home[name] for name in symbols(path, "-u") if name in home} - {file}
            for file, path in files.items()}


def circles(uses):
    """Sets of files each of which needs all others of it, directly or not."""
    reach = {file: set(others) for file, others in uses.items()}
    for middle in uses:
        for file, others in reach.items():
            if middle in others:
                others |= reach[middle]
    return {frozenset(other for other in others if file in reach[other])
            for file, others in reach.items() if file in others}


def objects(folder, *generated, build=BUILD):
    """{file: its object} of a folder's sources in C."""
    return {str(path): build / path.with_suffix(".o") for path in tracked()
            if path.suffix == ".c" and path.parent == pathlib.Path(folder)} | \
        {f"{folder}/{name}": build / folder / f"{name}.o" for name in generated}


def test_a_circle_is_found():
    """Of two, of three, and of none: what calls one of a circle is not in it."""
    assert circles({"a": {"b"}, "b": {"a"}, "c": {"a"}}) == {frozenset("ab")}
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"a", "d"}, "d": set()}) == {frozenset("abc")}
    assert not circles({"a": {"b", "c"}, "b": {"c"}, "c": set()})


def portable(*folders):
    """{file: its object} of the VM core and the engine, as user space has them."""
    return {f"module/{folder}/{path.name}": BUILD / folder / f"{path.stem}.o"
            for folder in folders for path in (ROOT / "module" / folder).glob("*.c")}


def test_vm_core_includes_nothing_from_above():
    """Floor 1 stands on the ABI alone; <linux/...> comes in through port.h."""
    vm = [path for path in code("module/vm") if path.name != "port.h"]
    assert not places(r'#include <', vm)
    assert not places(r'#include "(?!\.\./include/uapi/)[^"]*/', vm)


def test_the_engine_stands_on_the_vm_core_alone():
    """It knows neither a kernel nor a host."""
    assert not places(r'#include (?!"(\.\./vm/\w+|\.\./include/uapi/hipec|\w+)\.h")',
                      code("module/core"))


def test_vm_core_has_one_kernel_test():
    """__KERNEL__ is port.h's alone."""
    found = {place.split(":")[0] for place in places("__KERNEL__", code("module/vm", "module/core"))
             if "port.h" not in place}
    assert not found


def test_vm_core_needs_no_library():
    """Freestanding: what the archive does not define, it does not use."""
    symbols = subprocess.run(["nm", BUILD / "libhipecvm.a"], text=True, check=True,
                             capture_output=True).stdout.split("\n")
    defined = {line.split()[-1] for line in symbols if re.search(r" [A-TV-Z] ", line)}
    used = {line.split()[-1] for line in symbols if " U " in line}
    assert not {name for name in used - defined - MEMORY_FUNCTIONS
                if not name.startswith("__stack_chk")}


def test_abi_headers_include_only_linux_types():
    """They are for everybody."""
    assert not places(r'#include (?!<linux/(types|ioctl)\.h>)', code("module/include"))


def test_compiler_never_opens_the_device():
    """ampc stands on the tables, the VM core and what it shares with the assembler."""
    assert not places("/dev/hipec", [path for path in code("compiler") if path.suffix != ".mk"])


LOADED = {"userlib/trace/inject"}     # into programs


@pytest.mark.user
@pytest.mark.parametrize("loaded", [False, True])
def test_no_two_files_of_userlib_need_each_other(loaded):
    """Whichever folders they are in: of the command, and of what is loaded into programs."""
    folders = {path.parent.as_posix() for path in tracked()
               if path.suffix == ".c" and path.is_relative_to("userlib")}
    files = {}
    for folder in folders & LOADED if loaded else folders - LOADED:
        files |= objects(folder, build=BUILD / "preload" if loaded else BUILD)
    uses = needs(files)
    assert len(uses) >= 6 and sum(map(len, uses.values())) >= 6
    assert not circles(uses)


@pytest.mark.user
def test_no_two_files_of_the_compiler_need_each_other():
    """Each can be read with those below it alone."""
    uses = needs(objects("compiler", "lexer", "parser"))
    assert len(uses) > 30 and "compiler/emit.c" in uses["compiler/compile.c"]
    assert not circles(uses)


def test_an_option_is_one_row():
    """getopt's tables are made of the rows that the help is made of: nowhere by hand."""
    found = places(r"\bgetopt_long\(argc|\bstruct option\b|_argument, NULL", code("userlib", "compiler"))
    assert found and {place.split(":")[0] for place in found} == {"userlib/option/option.c"}


def test_kernel_versions_are_in_one_file():
    """Callers never test versions."""
    assert not [place for place in places(r"LINUX_VERSION_CODE|KERNEL_VERSION\(",
                                          code("module"))
                if not place.startswith("module/compat.h:")]


def test_every_source_names_its_licence():
    """SPDX in the first line, or the second behind #!."""
    without = [str(path) for path in code()
               if "SPDX-License-Identifier:" not in
               "".join((ROOT / path).read_text().split("\n")[:2])]
    assert not without


def test_files_fit_a_head():
    """600 lines at most."""
    long = [str(path) for path in code() if len((ROOT / path).read_text().split("\n")) > 601]
    assert not long


def opens_with_a_comment(text):
    return text.split("\n", 1)[1].startswith("/*")


def test_a_source_in_c_says_what_lives_there():
    """The first thing behind the licence is a comment; the tutorial shows what a reader types."""
    assert not [str(path) for path in code("bench", "compiler", "module", "test", "userlib")
                if path.suffix == ".c" and not opens_with_a_comment((ROOT / path).read_text())]


def misnamed(text):
    """Names that a kernel-doc comment gives to a function with another name."""
    return [name for name, head in
            re.findall(r"/\*\*\n \* (\w+)\(\) - .*?\*/\n(.*?)[{;]", text, re.S)
            if not re.search(rf"\b{name}\(", head)]


def test_a_comment_is_of_the_function_behind_it():
    """`/** * name() - ` stands in front of name()."""
    assert misnamed("/**\n * one() - it\n */\nint two(void)\n{\n") == ["one"]
    assert not {str(path): names for path in code() if path.suffix in {".c", ".h"}
                if (names := misnamed((ROOT / path).read_text()))}


def unregistered(text):
    """Tables of the guest's tests that nothing runs."""
    return set(re.findall(r"\bstruct test (\w+)\[\]", text)) - set(re.findall(r"^SUITE\((\w+),", text, re.M))


def test_a_table_of_guest_tests_is_a_suite():
    """SUITE() of guest.h, behind the table in the same file."""
    assert unregistered("const struct test a[] = {\n};\nconst struct test b[];\nSUITE(a, 0);\n") == {"b"}
    assert not {str(path): names for path in code("test/guest/program")
                if (names := unregistered((ROOT / path).read_text()))}


# Where lines are longer still: 150 of them.
LONG = ("module", "test/guest")


def long_lines(text):
    """Numbers of lines of more than 100 columns, but for texts, which grep is to find whole."""
    return [number for number, line in enumerate(text.split("\n"), 1)
            if len(line.expandtabs(8)) > 100 and '"' not in line]


def test_lines_of_c_have_100_columns():
    """Tabs are 8 wide; a line with a text in it may be longer."""
    assert long_lines("\t" * 12 + "12345") == [1] and not long_lines("\t" * 12 + "1234")
    assert not [f"{path}:{number}" for path in code() if path.suffix in {".c", ".h", ".l", ".y"}
                and not any(path.is_relative_to(folder) for folder in LONG)
                for number in long_lines((ROOT / path).read_text())]


def script_error(path):
    """What is wrong with a script's grammar, or None."""
    if path.suffix == ".py":
        try:
            ast.parse((ROOT / path).read_text())
            return None
        except SyntaxError as error:
            return f"{path}:{error.lineno}: {error.msg}"
    shell = "bash" if "bash" in (ROOT / path).read_text().split("\n", 1)[0] else "sh"
    return subprocess.run([shell, "-n", path], cwd=ROOT, text=True, check=False,
                          capture_output=True).stderr or None


def test_scripts_can_be_read():
    """Their grammar: also of those that run in a guest only."""
    assert not [error for path in code() if path.suffix in {".py", ".sh"}
                if (error := script_error(path))]


def test_the_rule_and_the_file_are_found_in_what_make_lint_says(tmp_path):
    (tmp_path / "test_it.py").write_text('def test_all_is_well():\n    """Ours."""\n'
                                         '    assert not ["userlib/x.c"]\n')
    done = subprocess.run([sys.executable, "-B", "-m", "pytest", "-p", "lint", "-p", "no:cacheprovider",
                           "-rN", tmp_path], cwd=tmp_path, text=True, check=False, capture_output=True,
                          env={**os.environ, "PYTHONPATH": ROOT / "test/docs", "CI": "1"})
    assert "rule: all is well. Ours.\n" in done.stdout and "['userlib/x.c']" in done.stdout


# The first version that a file says, where it cannot read the Makefile.
VERSIONS = {"CHANGELOG.md": r"^## (\S+),", "packaging/debian/changelog": r"^hipec \((\S+)\)",
            "editors/package.json": r'"version": "([^"]+)"'}


def test_the_version_is_that_of_the_makefile():
    """VERSION there; a release is a line in each of these files, and in documents none is older."""
    assert {path: re.search(pattern, (ROOT / path).read_text(), re.M)[1]
            for path, pattern in VERSIONS.items()} == dict.fromkeys(VERSIONS, VERSION)
    documents = [path for path in tracked() if path.suffix == ".md"]
    assert not places(rf"hipec[-/ ](?!{re.escape(VERSION)})\d+\.\d+\.\d+", documents)


def test_nothing_is_left_to_do_in_code():
    """What is missing is an issue, not a comment."""
    words = "|".join(("TO" + "DO", "FIX" + "ME", "XX" + "X"))
    assert not places(rf"\b({words})\b", code())


def test_docs_link_to_files_that_exist():
    """Relative links of README and docs/."""
    broken = []
    for path in [path for path in tracked() if path.suffix == ".md"]:
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", (ROOT / path).read_text()):
            if not (ROOT / path).parent.joinpath(target).exists():
                broken.append(f"{path}: {target}")
    assert not broken


def test_a_stranger_can_read_the_readme():
    """Some 120 lines of at most 100 columns; all else is in docs/."""
    lines = (ROOT / "README.md").read_text().split("\n")
    assert len(lines) <= 130
    assert not [line for line in lines if len(line) > 100]
