# SPDX-License-Identifier: GPL-2.0-only
"""ampc, under ASan and UBSan: what it makes of test/compiler/ok/*.hp, what run/*.hp
do when they run, what it says about err/*.hp and warn/*.hp, and what it must never do.

Golden listings and trees: `AMPC_UPDATE=1 pytest test/compiler/test_compiler.py` writes ok/*.hps
(-O1), ok/*.O0.hps and those ok/*.tree that there are anew. Read what changes: -O0 shows
the code of each construct.

Expectations stand in the error files, on the line they belong to:
    x = y;  //~ error: undeclared name 'y' //~ note: did you mean 'x'?
`//~+1` means the line below, `//~@` the file as a whole. Files of warn/ are
named after the warning that they are about, and compile."""

import collections
import hashlib
import os
import pathlib
import pty
import re
import struct
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Another ampc counts lines: coverage.py.
AMPC = pathlib.Path(os.environ.get("AMPC", ROOT / "build" / "asan" / "ampc"))
HPT = ROOT / "build" / "asan" / "hpt"
TORTURE = ROOT / "build" / "asan" / "ampc-torture"
OK = sorted((ROOT / "test/compiler/ok").glob("*.hp"))
ERR = sorted((ROOT / "test/compiler/err").glob("*.hp*"))
RUN = sorted((ROOT / "test/compiler/run").glob("*.hp"))
TREES = sorted((ROOT / "test/compiler/ok").glob("*.tree"))
LISTINGS = [path.with_suffix(".hps") for path in OK]
WARN = sorted((ROOT / "test/compiler/warn").glob("*.hp"))
LEVELS = {"-O1": ".hps", "-O0": ".O0.hps"}     # and what a golden listing is called
POLICIES = sorted((ROOT / "policies").glob("*.hp"))

EMPTY = "Event PageFault() { }\nEvent Replace() { }\n"


@pytest.fixture(scope="module", autouse=True)
def built():
    targets = [tool.relative_to(ROOT) for tool in (AMPC, HPT, TORTURE)]
    subprocess.run(["make", "-s", "-C", ROOT, *targets], check=True)


def run(*args, source=None, cwd=ROOT, **kwargs):
    kwargs.setdefault("encoding", "utf-8")
    return subprocess.run([AMPC, *args], input=source, capture_output=True, cwd=cwd,
                          errors="surrogateescape", check=False, **kwargs)


def listing(path_or_text, level="-O1"):
    """The -S listing of a source that compiles."""
    if isinstance(path_or_text, pathlib.Path):
        result = run(level, "-S", path_or_text)
    else:
        result = run(level, "-S", "-", source=path_or_text)
    assert result.returncode == 0, result.stderr
    return result.stdout


def commands(text):
    """{event: [(word in hex, text)]} of a listing."""
    events = {}
    for line in text.splitlines():
        if line.startswith("event "):
            current = events.setdefault(line.split()[2], [])
        elif match := re.match(r" +\d+  ((?:[0-9A-F]{2} ){4}) (.*?)(?: *; line .*)?$", line):
            current.append((match[1].replace(" ", "").lower(), match[2]))
    return events


def operands(text):
    """{name: (slot, type, value, flags, key)} of a listing. An array's value is its
    length, a queue variable's the array that it starts in."""
    found = {}
    for line in text.splitlines():
        match = re.match(r" +([0-9A-F]{2})  (\w+) +([^ ,\[]+)(?:\[(\d+)\])?(?: = ([-\w]+)(?:\[0\])?)?"
                         r"(?: in -?\d+\.\.-?\d+)?(?: by (\w+))?((?:, \w+)*)$", line)
        if match:
            slot, kind, name, length, value, key, flags = match.groups()
            found[name] = (int(slot, 16), kind,
                           value if kind == "queueref" else int(length or value or 0),
                           flags.split(", ")[1:], key)
    return found


# What compiles


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("path", OK, ids=lambda p: p.stem)
def test_listing_is_the_golden_one(path, level):
    golden = path.with_suffix(LEVELS[level])
    text = listing(path, level)
    if os.environ.get("AMPC_UPDATE"):
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8")


def test_every_golden_listing_has_its_source():
    names = {path.with_suffix(suffix).name for path in OK for suffix in LEVELS.values()}
    assert {path.name for path in OK[0].parent.glob("*.hps")} == names


@pytest.mark.parametrize("golden", TREES, ids=lambda p: p.stem)
def test_tree_is_the_golden_one(golden):
    text = run("-E", golden.with_suffix(".hp")).stdout
    if os.environ.get("AMPC_UPDATE"):
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8")


@pytest.mark.more
def test_trees_have_types_and_commands():
    """Each expression has a type, and each call of a command that command's code."""
    assert len(TREES) >= 5
    table = (ROOT / "module" / "include" / "uapi" / "hipec_ops.h").read_text()
    codes = dict(re.findall(r'X\(\w+, (\w+), "\w+", 0x(\w\w), ', table))
    called = set()
    for path in [*OK, *RUN, *POLICIES]:
        result = run("-E", path)
        assert result.returncode == 0
        for line in result.stdout.splitlines():
            if re.match(r" *(name|number|call|field|operator) ", line):
                assert re.search(r": (int|page|queue|ints|queues|field|nothing)( = -?\d+)?$", line)
        for name, code, word in re.findall(r"call (\w+), command (\w\w) (\w+): ", result.stdout):
            assert name.lower() == word and codes[word].upper() == code
            called.add(word)
    assert {"enqueue", "findpa", "set", "random"} <= called <= set(codes)


@pytest.mark.parametrize("path", POLICIES, ids=lambda p: p.stem)
def test_policies_compile_without_a_word(path, tmp_path):
    result = run("-o", tmp_path / "x.hpo", path)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


def test_every_command_of_table_1_is_made_by_some_source():
    """An extension has a golden file where it has a place in the language."""
    table = subprocess.run([HPT, "--list-table"], capture_output=True, text=True, check=True)
    wanted = [line.split()[1] for line in table.stdout.splitlines()
              if line.startswith("command ")][:20]
    made = {text.split()[0] for path in OK
            for words in commands(path.with_suffix(".hps").read_text()).values()
            for _, text in words}
    assert wanted[-1] == "call"
    assert set(wanted) <= made


def test_figure_3_has_the_operand_numbers_of_the_paper():
    found = operands(listing(ROOT / "policies" / "fifo2.hp"))
    slots = {name: slot for name, (slot, *_) in found.items()}
    assert slots == {
        "_free_queue": 0, "_free_count": 1, "active_queue": 2, "active_count": 3,
        "inactive_queue": 4, "inactive_count": 5, "reserve_free_target": 6, "free_target": 7,
        "inactive_target": 8, "page": 9, ".t0": 10, "2": 11, "3": 12}
    assert found["free_target"] == (7, "int", 1, ["param"], None)
    assert found["3"] == (12, "int", 3, ["const"], None)


def test_figure_3_has_the_words_that_the_paper_prints():
    """The listing at the right of Figure 3, where it can be read. Its jumps lack
    conditions and its first command adds to a temporary that nothing has set."""
    replace = [word for word, _ in commands(listing(ROOT / "policies" / "fifo2.hp"))["Replace"]]
    assert replace[1:6] == ["010a0501", "010a0b03", "010a0c04", "01080a07", "02050802"]
    assert replace[7:12] == ["07090201", "01030006", "0c090201", "08090402", "01050005"]
    assert replace[13:14] + replace[15:16] + replace[18:19] == ["02010702", "07090401", "01050006"]


def test_policies_take_as_few_commands_as_they_can():
    sizes = {path.stem: {name: len(code) for name, code in commands(listing(path)).items()}
             for path in POLICIES}
    assert sizes["fifo2"] == {"PageFault": 5, "Replace": 31, "Remove": 3}
    assert sizes["mru"] == {"PageFault": 3, "Replace": 3, "Adopt": 2}
    assert sizes["mpfifo2"] == {"PageFault": 17, "Replace": 21}
    plain = commands(run("-O0", "-S", ROOT / "policies" / "fifo2.hp").stdout)
    assert {name: len(code) for name, code in plain.items()} == {
        "PageFault": 5, "Replace": 33, "Remove": 3}


@pytest.mark.more
def test_output_is_the_same_byte_for_byte(tmp_path):
    for path in [*OK, *POLICIES]:
        images = []
        for out in (tmp_path / "one.hpo", tmp_path / "two.hpo"):
            assert run("-o", out, path).returncode == 0
            images.append(out.read_bytes())
        assert images[0] == images[1]


def test_image_has_names_values_and_lines(tmp_path):
    source = tmp_path / "tiny.hp"
    source.write_text("Event Init()\n{\n\tparam Int n = -5;\n}\nEvent Replace()\n{\n"
                      "\tn = 7;\n}\nEvent PageFault() { }\n")
    assert run(source, cwd=tmp_path).returncode == 0
    image = (tmp_path / "tiny.hpo").read_bytes()
    magic, _, header, size, _, nr_operands, nr_events, nr_words, nr_lines, strings, \
        ghosts, timer, needs, name, source_hash = struct.unpack_from("<IHHIIIIIIIIII32s32s", image)
    assert (magic, header, size, nr_operands, nr_events, nr_words, nr_lines, ghosts, timer,
            needs) == (0x43504948, 112, len(image), 4, 2, 5, 5, 0, 0, 0)
    assert name.rstrip(b"\0") == b"tiny"
    assert source_hash == hashlib.sha256(source.read_bytes()).digest()
    names = image[-strings:]
    slots = []
    for i in range(nr_operands):
        kind, flags, _, at, *values = struct.unpack_from("<BBHIqqq", image, header + 32 * i)
        slots.append((kind, flags, names[at:names.index(b"\0", at)], *values))
    assert slots == [(2, 0, b"_free_queue", 0, 0, 0), (1, 0, b"_free_count", 0, 0, 0),
                     (1, 1, b"n", -5, 0, 0), (1, 2, b"7", 7, 0, 0)]
    at = header + 32 * nr_operands
    events = [struct.unpack_from("<IIII", image, at + 16 * i) for i in range(nr_events)]
    assert [(number, first, nr) for number, _, first, nr in events] == [(1, 0, 2), (2, 2, 3)]
    at += 16 * nr_events
    words = struct.unpack_from("<5I", image, at)
    assert words == (0x48495045, 0, 0x48495045, 0x01020307, 0)
    assert struct.unpack_from("<5I", image, at + 20) == (9, 9, 5, 7, 8)


# What it computes


def policy(text):
    """The sections of a .hpt file that say what a listing says."""
    lines = ["# A listing of ampc reads back.", "-- operands"]
    # The assembler wants a field before the queues that it orders.
    for name, (slot, kind, value, flags, key) in sorted(
            operands(text).items(), key=lambda operand: operand[1][1] != "field"):
        if slot >= 2:
            shown = value if kind in ("int", "ints", "queues", "queueref") else ""
            lines.append(f"{slot}: {name} {' '.join(flags)} {kind} {shown} {key and f'by {key}' or ''}")
    lines.append("-- set\nfuel 1000000")
    lines += re.findall(r"^(ghosts \d+|timer \d+) (?:%|ms)$", text, re.M)
    for line in text.splitlines():
        if line.startswith("event "):
            _, number, name = line.split()[:3]
            lines.append(f"-- code {name}" + (f" {number}" if int(number) > 2 else ""))
            lines += [code for _, code in commands(text)[name]]
    return lines


def assembled(text, ints, arrays=None, more=(), pages=(), event="PageFault"):
    """A .hpt file from a listing, which runs one event and shows all integers."""
    lines = policy(text)
    if pages:
        lines += ["-- pages", *pages]
    lines.append(f"-- run {event}\n-- result ok")
    if ints:
        lines.append("-- ints")
        lines += [f"{name} {value}" for name, value in ints.items()]
    if arrays:
        lines.append("-- arrays")
        lines += [f"{name} {' '.join(map(str, values))}" for name, values in arrays.items()]
    lines += more
    return "\n".join(lines) + "\n"


@pytest.mark.more
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("path", [*OK, *POLICIES], ids=lambda p: p.stem)
def test_listing_reads_back(path, level, tmp_path):
    """The assembler of the .hpt files makes the same words of the texts."""
    text = listing(path, level)
    case = tmp_path / "case.hpt"
    case.write_text(assembled(text, {}))
    result = subprocess.run([HPT, "-v", case], capture_output=True, text=True, check=False)
    words = re.findall(r"^# +\d+  ([0-9a-f]{8})  ", result.stdout, re.M)
    made = [word for code in commands(text).values() for word, _ in code]
    assert words == made, result.stdout + result.stderr


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("path", RUN, ids=lambda p: p.stem)
def test_program_does_what_it_says(path, level, tmp_path):
    """run/*.hp on the VM: run/*.run has what happens and what must come out, in the
    sections of a .hpt file (test/vm/README.md)."""
    case = tmp_path / f"{path.stem}.hpt"
    case.write_text("\n".join(policy(listing(path, level))) + "\n"
                    + path.with_suffix(".run").read_text(encoding="utf-8"))
    result = subprocess.run([HPT, case], capture_output=True, text=True, check=False)
    assert result.stdout == f"ok {path.stem}\n", result.stdout + result.stderr


def test_what_is_known_is_not_computed():
    """run/folding.hp says what comes out; here that the compiler knew it."""
    path = ROOT / "test/compiler/run/folding.hp"
    made = commands(listing(path))
    assert {code.split()[0] for _, code in made["PageFault"]} == {"arith", "return"}
    assert sum(code.split()[0] == "comp" for _, code in made["Access"]) == 1
    plain = commands(run("-O0", "-S", path).stdout)
    assert sum(code.split()[0] == "comp" for code in
               (code for _, code in plain["PageFault"])) == 18


def test_figure_9_gives_up_the_deepest_level_first(tmp_path):
    """policies/mpfifo2.hp with an array that a test can write in place of the shared
    one: a page that was touched gets its second chance, also one of a level that is
    none, and the root is the last to go."""
    text = (ROOT / "policies" / "mpfifo2.hp").read_text(encoding="utf-8")
    levels = {1: 0, 2: 1, 3: 2, 4: 2, 5: 26, 6: -1}
    stores = "".join(f"IndexLevel[{page}] = {level};" for page, level in levels.items())
    text = re.sub(r"shared (Int\s+IndexLevel)", r"\1", text)
    text = text.replace("*Page\t\tpage;\n", f"*Page\t\tpage;\n{stores}")
    case = tmp_path / "mpfifo2.hpt"
    case.write_text("\n".join([
        *policy(listing(text)),
        "-- pages", "3 level[2] ref", "4 level[2] mod",
        "-- set", "table 8",
        "-- run Init fault 1 PageFault fault 2 PageFault fault 70000 PageFault"
        " fault 5 PageFault fault 6 PageFault" + 8 * " Replace",
        "-- result ok", "-- ints", "Indicator 0",
        "-- given up", "70000 kept", "5 kept", "6 kept", "4 kept", "3 kept", "2 kept", "1 kept",
    ]) + "\n")
    result = subprocess.run([HPT, case], capture_output=True, text=True, check=False)
    assert result.stdout == "ok mpfifo2\n", result.stdout + result.stderr


@pytest.mark.more
def test_hipec_dis_says_the_same(tmp_path):
    """Operands, settings and commands of a listing and of `hipec dis`."""
    subprocess.run(["make", "-s", "-C", ROOT, "build/hipec"], check=True)
    for path in [*OK, *RUN, *POLICIES]:
        image = tmp_path / f"{path.stem}.hpo"
        both = run("-S", "-o", image, path)
        assert both.returncode == 0
        dis = subprocess.run([ROOT / "build" / "hipec", "dis", image], capture_output=True,
                             text=True, check=True).stdout
        for pattern in (r"^(?:policy|ghosts|timer) .*$", r"^ +\d+  ((?:[0-9A-F]{2} ){4} .*?) *(?:;? line.*)?$"):
            assert re.findall(pattern, dis, re.M) == re.findall(pattern, both.stdout, re.M)
        mine, theirs = ({name: (*row[:3], sorted(row[3]), row[4]) for name, row in operands(text).items()}
                        for text in (both.stdout, dis))
        assert mine == theirs


# What is refused


def expected(path):
    """Counter of (line or None, text) from the comments of an error file."""
    found = collections.Counter()
    text = path.read_bytes().decode("utf-8", "surrogateescape")
    for number, line in enumerate(text.split("\n"), 1):
        for mark, message in re.findall(r"//~(\+\d+|@|) ((?:error|warning|note): .*?)(?= *//~|$)",
                                        line):
            found[None if mark == "@" else number + int(mark or 0), message] += 1
    return found


def said(stderr, name):
    """The same from the output, without the names of warnings."""
    found = collections.Counter()
    for line, message in re.findall(
            rf"^{re.escape(str(name))}:(?:(\d+):\d+:)? ((?:error|warning|note): .*?)(?: \[-W\S+\])?$",
            stderr, re.M):
        found[int(line) if line else None, message] += 1
    return found


@pytest.mark.parametrize("path", ERR, ids=lambda p: p.stem)
def test_errors_are_the_expected_ones(path, tmp_path):
    result = run("-o", tmp_path / "x.hpo", path)
    assert result.returncode == 1
    assert result.stdout == ""
    assert said(result.stderr, path) == expected(path)
    assert not list(tmp_path.iterdir())


def refused_files(tmp_path):
    """Sources that no file under err/ can be: (path, what is said)."""
    def write(name, content):
        path = tmp_path / name
        path.write_bytes(content)
        return path

    long = "Event Init() { Int x; }\nEvent Replace() { }\nEvent PageFault()\n{\n"
    return [
        (tmp_path / "none.hp", "error: cannot read the file: No such file or directory"),
        (tmp_path, "error: cannot read the file: Is a directory"),
        (write("empty.hp", b""), "error: the file is empty"),
        (write("binary.hp", b"Event\0Init"), "error: zero byte: this is not a text file"),
        (write("large.hp", b" " * (1 << 20 | 1)), "error: the file is larger than 1048576 bytes"),
        (write("long.hp", (long + "x++;" * 65533 + "}\n").encode()),
         "error: the commands of event 'PageFault' and those before it take more than 65536 words"),
        (write("two words.hp", EMPTY.encode()),
         "error: policy name 'two words' has a character other than letters, digits, '.', '_', "
         "'+' and '-'"),
        (write("x" * 32 + ".hp", EMPTY.encode()),
         f"error: policy name '{'x' * 32}' is longer than 31 bytes"),
    ]


def test_files_that_are_no_policies_are_refused(tmp_path):
    for path, message in refused_files(tmp_path):
        result = run("-o", tmp_path / "x.hpo", path)
        assert result.returncode == 1, path
        assert message in [text for _, text in said(result.stderr, path)], result.stderr
    assert not (tmp_path / "x.hpo").exists()


def test_an_event_of_exactly_the_greatest_length_compiles(tmp_path):
    source = tmp_path / "long.hp"
    source.write_text("Event Init() { Int x; }\nEvent Replace() { }\nEvent PageFault()\n{\n"
                      + "x++;" * 65532 + "}\n")
    assert run(source, cwd=tmp_path).returncode == 0


def test_every_diagnostic_is_provoked(tmp_path):
    """A row of compiler/diag.h that neither a file under err/ nor one of the files
    above provokes is a diagnostic that nobody has looked at."""
    header = (ROOT / "compiler" / "diag.h").read_text().split("#define AMPC_WARNINGS")[0]
    rows = re.findall(r'^\tX\((\w+), (\w+), "((?:[^"\\]|\\.)*)"\)', header, re.M)
    assert len(rows) == len(re.findall(r"^\tX\(", header, re.M)) > 60
    output = [message for path in [*ERR, *WARN] for _, message in expected(path)]
    for path, _ in refused_files(tmp_path):
        output += [message for _, message in said(run(path, cwd=tmp_path).stderr, path)]
    nowhere = tmp_path / "none" / "x.hpo"
    result = run("-o", nowhere, "-", source=EMPTY)
    output += [message for _, message in said(result.stderr, nowhere)]
    for name, level, text in rows:
        pattern = re.sub(r"%(lld|[sud])", ".*", re.escape(f"{level.lower()}: {text}"))
        assert any(re.fullmatch(pattern, line) for line in output), f"{name} has no test"


def test_caret_stands_below_its_place_behind_tabs_and_wide_characters():
    source = "Event PageFault()\n{\n\tif (1)\t/* \u00e9\u20ac */ nothing++;\n}\nEvent Replace() { }\n"
    lines = run("-S", "-", source=source).stderr.splitlines()
    assert lines[0] == "<stdin>:3:21: error: undeclared name 'nothing'"
    assert lines[1] == "    3 | \tif (1)\t/* \u00e9\u20ac */ nothing++;"
    assert lines[2] == "      | \t      \t         ^~~~~~~"


def test_a_long_line_is_shown_around_the_caret():
    source = "Event PageFault() {" + " " * 5000 + "oops++;" + " " * 5000 + "}\nEvent Replace() { }\n"
    error, line, caret, *rest = run("-S", "-", source=source).stderr.splitlines()
    assert error == "<stdin>:1:5020: error: undeclared name 'oops'"
    assert len(line) < 200 and rest == []
    assert line[caret.index("^"):].startswith("oops++")


def test_control_characters_do_not_reach_the_terminal():
    source = "Event PageFault() { \x1b[31m oops++; }\nEvent Replace() { }\n"
    assert "\x1b" not in run("-S", "-", source=source).stderr


def test_colour_is_for_terminals_only():
    def on_terminal(**env):
        ours, theirs = pty.openpty()
        subprocess.run([AMPC, "-S", "-"], input=b"oops", stdout=subprocess.DEVNULL, stderr=theirs,
                       env={"TERM": "xterm", **env}, check=False)
        os.close(theirs)
        text = os.read(ours, 65536)
        os.close(ours)
        return text

    assert b"\x1b[1;31merror:\x1b[0m" in on_terminal()
    assert b"\x1b" not in on_terminal(NO_COLOR="1")
    assert b"\x1b" not in on_terminal(TERM="dumb")
    assert "\x1b" not in run("-S", "-", source="oops").stderr


@pytest.mark.parametrize("step, changes, paths", [
    (2, 6, [*OK, *POLICIES, *LISTINGS[::3]]),
    (5, 4, [*ERR, *WARN]),
], ids=["good", "bad"])
@pytest.mark.user
def test_damaged_sources_never_crash_and_never_make_a_bad_image(step, changes, paths):
    """Some beginnings of the sources and random changes of all: refused with an error,
    or accepted by the verifier. `make fuzz-compiler` tries many more."""
    result = subprocess.run([TORTURE, str(step), str(changes), *paths], capture_output=True,
                            encoding="utf-8", errors="replace", check=False)
    assert result.returncode == 0, result.stderr


# The command line


def test_usage_errors_exit_2():
    for args in ([], ["-x", "a.hp"], ["-E", "a.hps"], ["-O2", "a.hp"], ["a.hp", "b.hp"], ["-o"], ["-"]):
        result = run(*args, source="")
        assert result.returncode == 2
        assert result.stderr.splitlines()[-1] == "Try 'ampc --help'."


def test_help_and_version():
    assert run("--help").stdout.startswith("usage: ampc ")
    assert re.fullmatch(r"ampc \d+\.\d+\.\d+\n", run("--version").stdout)
    for option in ("--help", "--version"):
        assert run(option).returncode == 0


def test_output_is_named_after_the_source_in_the_current_directory(tmp_path):
    source = tmp_path / "deep" / "down" / "x.y.hp"
    source.parent.mkdir(parents=True)
    source.write_text(EMPTY)
    assert run(source, cwd=tmp_path).returncode == 0
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["x.y.hpo"]


def test_standard_input_is_named_after_the_output(tmp_path):
    assert run("-o", tmp_path / "a.hpo", "-", source=EMPTY).returncode == 0
    assert b"a\0" == (tmp_path / "a.hpo").read_bytes()[48:50]


def test_listing_writes_a_file_only_when_told(tmp_path):
    source = tmp_path / "x.hp"
    source.write_text(EMPTY)
    for option in ("-S", "-E", "--tree"):
        assert run(option, source, cwd=tmp_path).returncode == 0
    assert not (tmp_path / "x.hpo").exists()
    both = run("--list", "--output", "y.hpo", source, cwd=tmp_path)
    assert both.stdout.startswith("policy x\n") and (tmp_path / "y.hpo").exists()


def test_output_that_cannot_be_written_leaves_nothing_behind(tmp_path):
    old = tmp_path / "old"
    old.mkdir()
    for out in (tmp_path / "none" / "x.hpo", old, pathlib.Path("/dev/full")):
        result = run("-o", out, "-", source=EMPTY)
        assert result.returncode == 1
        assert result.stderr.startswith(f"{out}: error: cannot write the file: ")
    assert list(tmp_path.iterdir()) == [old] and not list(old.iterdir())


def test_a_source_with_errors_leaves_the_old_output_alone(tmp_path):
    out = tmp_path / "x.hpo"
    out.write_text("old")
    assert run("-o", out, "-", source="oops").returncode == 1
    assert out.read_text() == "old"


def test_output_is_replaced_whole_and_readable(tmp_path):
    out = tmp_path / "x.hpo"
    link = tmp_path / "link.hpo"
    out.write_text("old")
    link.symlink_to(out)
    assert run("-o", link, "-", source=EMPTY, umask=0o022).returncode == 0
    assert link.is_symlink() and out.read_bytes()[:4] == b"HIPC"
    assert out.stat().st_mode & 0o777 == 0o644
    assert len(list(tmp_path.iterdir())) == 2
