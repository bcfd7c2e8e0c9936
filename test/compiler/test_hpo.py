# SPDX-License-Identifier: GPL-2.0-only
"""The image format: what ampc writes into the header about its source and its host,
and docs/policy/ampc.md, whose tables are those of the headers and of the checks."""

import hashlib
import re
import struct
import subprocess

import pytest

from conftest import BUILD, ROOT, chapter
from test_compiler import EMPTY, POLICIES, built, run  # noqa: F401

pytestmark = [pytest.mark.more, pytest.mark.usefixtures("quick_start")]

NEEDS = {"context": 1, "hint": 2, "access": 4, "time": 8, "shared": 16}


def image(source, tmp_path):
    out = tmp_path / "x.hpo"
    result = run("-o", out, "-", source=source)
    assert result.returncode == 0, result.stderr
    return out.read_bytes()


def source_hash(data):
    return data[80:112]


def needs(data):
    bits, = struct.unpack_from("<I", data, 44)
    return {word for word, bit in NEEDS.items() if bits & bit}


def test_source_hash_is_sha_256_of_the_text(tmp_path):
    """At all lengths around the ends of blocks, and of a long text."""
    near = [size for size in range(len(EMPTY), 200) if size % 64 in (0, 1, 54, 55, 56, 57, 62, 63)]
    for size in [*near, 1 << 16, (1 << 20) - 1, 1 << 20]:
        text = EMPTY + "\n" * (size - len(EMPTY))
        assert source_hash(image(text, tmp_path)) == hashlib.sha256(text.encode()).digest(), size
    for path in POLICIES:
        assert run("-o", tmp_path / "x.hpo", path).returncode == 0
        assert source_hash((tmp_path / "x.hpo").read_bytes()) == hashlib.sha256(
            path.read_bytes()).digest()


def test_source_hash_does_not_depend_on_the_level(tmp_path):
    hashes = set()
    for level in ("-O0", "-O1"):
        assert run(level, "-o", tmp_path / "x.hpo", POLICIES[0]).returncode == 0
        hashes.add(source_hash((tmp_path / "x.hpo").read_bytes()))
    assert len(hashes) == 1


@pytest.mark.parametrize("declared, body, more, wanted", [
    ("Int n;", "n = FaultKind + FrameBudget + ResidentCount + PageEntries;", "", set()),
    ("Int n;", "n = Context;", "", {"context"}),
    ("Int n;", "if (Hint > n) n++;", "", {"hint"}),
    ("Int n;", "n = Time;", "", {"time"}),
    ("Int n; Timer 50;", "n++;", "Event Timer() { n++; }\n", {"time"}),
    ("Int n;", "n++;", "Event Access() { n++; }\n", {"access"}),
    ("shared Int level[4];", "", "", {"shared"}),
    ("Int n; Ghosts 100;", "n++;", "", set()),
    ("Int n; shared Int level[4];", "n = level[Hint & 3] + Time + Context;",
     "Event Access() { n++; }\n", set(NEEDS)),
    # What is left out is not needed.
    ("Int n;", "return; n = Hint;", "", set()),
])
def test_needs_are_what_the_policy_uses(declared, body, more, wanted, tmp_path):
    source = f"Event Init() {{ {declared} }}\nEvent PageFault() {{ {body} }}\n" \
             f"Event Replace() {{ }}\n{more}"
    data = image(source, tmp_path)
    assert needs(data) == wanted
    line = [line for line in run("-S", "-", source=source).stdout.split("\n")
            if line.startswith("needs ")]
    assert line == ([f"needs {', '.join(word for word in NEEDS if word in wanted)}"]
                    if wanted else [])


# docs/policy/ampc.md, against the headers

TEXT = chapter("docs/policy/ampc.md", "The compiled policy")
STRUCTS = {"Header": "hipec_image", "Operands": "hipec_image_operand",
           "Events and words": "hipec_image_event"}
FACTS = """#include <stddef.h>
#include <stdio.h>
#include "module/vm/optable.h"
#define X(name, code, text) printf("type %d " text "\\n", code);
#define F(name, bit, word, meaning) printf("flag %#x " word " " meaning "\\n", bit);
#define E(name, code, text, need, when) printf("event %d " text "%s\\n", code, need ? " yes" : "");
#define N(name, bit, word, slots, events, flags, meaning) printf("need %#x " word " " meaning "\\n", bit);
#define V(name, text) printf("verify " #name "\\n");
int main(void)
{
	HIPEC_TYPES(X) HIPEC_OPERAND_FLAGS(F) HIPEC_EVENTS(E) HIPEC_NEEDS(N) HIPEC_VERIFY_KINDS(V)
	printf("magics %#x %#x\\n", HIPEC_IMAGE_MAGIC, HIPEC_EVENT_MAGIC);
	printf("version %d user %d\\n", HIPEC_IMAGE_VERSION, HIPEC_EVENT_USER);
"""


def section(heading):
    """The text below a heading."""
    return re.search(rf"^## {heading}\n(.*?)(?=^## |\Z)", TEXT, re.M | re.S)[1]


def tables(heading):
    """Its tables as lists of rows, without their heads."""
    found = re.findall(r"^\|[-|]+\|\n((?:\|.*\n)+)", section(heading), re.M)
    return [[tuple(cell.strip() for cell in row[1:-1].split("|")) for row in table.splitlines()]
            for table in found]


def fields():
    """(struct, offset, bytes, name) as the document has them."""
    return [(struct, int(offset), int(size), name) for heading, struct in STRUCTS.items()
            for offset, size, name, _ in tables(heading)[0]]


def limits():
    return {name: int(value.replace(",", "")) for name, value, _ in tables("Limits")[0]}


@pytest.fixture(scope="module")
def facts(tmp_path_factory):
    """Lines that a C program prints of the headers."""
    where = tmp_path_factory.mktemp("facts")
    text = FACTS
    for of, _, _, name in fields():
        text += f'\tprintf("{of} %zu %zu {name}\\n", offsetof(struct {of}, {name}), ' \
                f"sizeof(((struct {of} *)0)->{name}));\n"
    for struct in STRUCTS.values():
        text += f'\tprintf("sizeof {struct} %zu\\n", sizeof(struct {struct}));\n'
    for name in limits():
        text += f'\tprintf("limit {name} %ld\\n", (long){name});\n'
    (where / "facts.c").write_text(text + "\treturn 0;\n}\n")
    subprocess.run(["cc", f"-I{ROOT}", f"-I{ROOT}/module/include/uapi", "-o", where / "facts",
                    where / "facts.c"], check=True)
    return subprocess.run([where / "facts"], capture_output=True, text=True,
                          check=True).stdout.splitlines()


def test_fields_are_those_of_the_headers(facts):
    header = (ROOT / "module/include/uapi/hipec.h").read_text()
    for heading, struct in STRUCTS.items():
        body = re.search(rf"^struct {struct} \{{\n(.*?)^\}};", header, re.M | re.S)[1]
        names = re.findall(r"^\t\w+ (\w+)(?:\[\w+\])?;", body, re.M)
        documented = [field for field in fields() if field[0] == struct]
        assert [name for *_, name in documented] == names
        size = sum(size for _, _, size, _ in documented)
        assert f"sizeof {struct} {size}" in facts
        assert f"`struct {struct}`, {size} bytes" in section(heading)
    for struct, offset, size, name in fields():
        assert f"{struct} {offset} {size} {name}" in facts


def test_limits_are_those_of_the_headers(facts):
    for name, value in limits().items():
        assert f"limit {name} {value}" in facts
    header = (ROOT / "module/include/uapi/hipec.h").read_text()
    assert set(re.findall(r"^#define (HIPEC_M(?:AX|IN)_\w+)", header, re.M)) - {
        "HIPEC_MAX_CLUSTER"} <= set(limits())
    ranges = {name: text for *_, name, text in tables("Header")[0]}
    for field, name in [("nr_operands", "HIPEC_SLOT_SYSTEM"), ("nr_events", "HIPEC_NR_EVENTS"),
                        ("nr_words", "HIPEC_MAX_WORDS"), ("strings_size", "HIPEC_MAX_STRINGS"),
                        ("ghosts", "HIPEC_MAX_GHOSTS")]:
        assert re.search(rf"\d to {limits()[name]:,}$", ranges[field])


def test_tables_are_those_of_the_headers(facts):
    def lines(kind):
        return [line.split(" ", 1)[1] for line in facts if line.startswith(f"{kind} ")]

    types, flags = tables("Operands")[1:]
    assert [f"{code} {name}" for code, name, *_ in types] == lines("type")
    assert [" ".join(row) for row in flags] == lines("flag")
    assert [" ".join(row).strip() for row in tables("Events and words")[1]] == lines("event")
    assert [f"{bit} {word} {meaning}" for bit, word, _, meaning in tables("Needs")[0]] == \
        lines("need")
    assert {kind for *_, kind in tables("What is checked")[0]} == set(lines("verify")) - {"OK"}
    magic, event_magic = re.findall(r"0x[0-9a-f]{8}", TEXT)
    assert lines("magics") == [f"{magic} {event_magic}"]
    version = dict((name, text) for *_, name, text in tables("Header")[0])["version"]
    assert lines("version") == [f"{version} user 16"]
    assert tables("Versions")[0][-1][0] == version


def test_what_a_type_may_have_is_what_the_parser_takes(tmp_path):
    """Each flag on each type, in an image that has nothing else wrong."""
    rows = {row[1]: row for row in tables("Operands")[1]}
    for kind, (_, _, _, allowed) in rows.items():
        value = "[2]" if kind in ("ints", "queues") else " = qs[0]" if kind == "queueref" else ""
        for _, flag, _ in tables("Operands")[2]:
            text = tmp_path / "x.hps"
            text.write_text("operands\n00 queue _free_queue\n01 int _free_count\n02 queues qs[1]\n"
                            f"03 {kind} it{value}, {flag}\nevent 1 PageFault\nreturn\n"
                            "event 2 Replace\nreturn\n")
            taken = run("-S", text).returncode == 0
            assert taken == (flag in allowed.split(", ")), (kind, flag)


# The order of the checks: an image with every fault is mended, one fault at a time

FAULTY = """policy faulty
operands
00 queue _free_queue
01 int _free_count
02 int n
03 field f
event 1 PageFault
%s
event 2 Replace
return
event 16 A
call B
return
event 17 B
%s
return
event 18 C
arith n, Hint, set
return
"""


def faulty(tmp_path):
    """An image with nothing wrong, and where its sections are."""
    text = tmp_path / "faulty.hps"
    text.write_text(FAULTY % ("arith n, -, inc\n" * 4 + "return", "arith n, -, inc"))
    assert run("-o", tmp_path / "x.hpo", text).returncode == 0
    data = (tmp_path / "x.hpo").read_bytes()
    nr_operands, nr_events, nr_words, nr_lines = struct.unpack_from("<4I", data, 16)
    events = 112 + 32 * nr_operands
    words = events + 16 * nr_events
    return bytearray(data), events, words, words + 4 * (nr_words + nr_lines)


def deep(tmp_path):
    """An image whose calls nest too deep once event 23 calls 24; the words of its events."""
    calls = "".join(f"event {n} E{n}\n{'return' if n in (23, 24) else f'call E{n + 1}'}\nreturn\n"
                    for n in range(16, 25))
    text = tmp_path / "deep.hps"
    text.write_text("operands\n00 queue _free_queue\n01 int _free_count\n02 int n\n"
                    f"event 1 PageFault\nreturn\nevent 2 Replace\nreturn\n{calls}"
                    "event 30 Z\ncall E16\narith n, Hint, set\nreturn\n")
    assert run("-o", tmp_path / "x.hpo", text).returncode == 0
    data = bytearray((tmp_path / "x.hpo").read_bytes())
    return data, 112 + 32 * 3 + 16 * 12


def refusal(data, tmp_path):
    """The kind by its text, as hipec dis says it; OK if it is not refused."""
    path = tmp_path / "y.hpo"
    path.write_bytes(data)
    done = subprocess.run([BUILD / "hipec", "dis", path], capture_output=True, text=True,
                          check=False)
    if not done.returncode:
        return "OK"
    header = (ROOT / "module/include/uapi/hipec.h").read_text()
    kinds = re.findall(r'^\tX\((\w+), +"(.*)"\)', header[header.index("VERIFY_KINDS"):], re.M)
    found = [kind for kind, text in kinds if text in done.stderr]
    return found[0] if found else "OPERAND"     # which is explained in other words


def test_steps_are_in_the_order_of_the_document(tmp_path):
    good, events, words, strings = faulty(tmp_path)
    fault = {   # step: offset, bytes
        2: (0, b"X"), 3: (4, b"\x09"), 4: (10, b"\xff"), 5: (12, b"\x01"),
        6: (32, struct.pack("<I", len(good) - strings - 1)), 7: (len(good) - 1, b"x"),
        8: (112, b"\x01"), 9: (112 + 32 * 2 + 7, b"\x7f"), 10: (112 + 32 * 2 + 1, b"\x04"),
        # Of steps 12 to 14 the first event has the faults.
        12: (events + 7, b"\x7f"), 13: (events, b"\x3f\x01"), 14: (words, b"\0"),
        # Replace becomes an event of the policy's own; words: see below.
        16: (events + 16, b"\x14"), 17: (40, b"\x20"),
        # The first command of PageFault; its second; the last.
        18: (words + 4, bytes([0, 0, 2, 0xff])), 19: (words + 8, bytes([5, 0, 9, 1])),
        20: (words + 12, bytes([99, 0, 0, 6])), 21: (words + 20, bytes([5, 0, 2, 1])),
        22: (words + 4 * (6 + 2 + 3) + 4, bytes([0, 0, 16, 0x13])),
        24: (44, b"\0\0\0\0"),
    }
    kinds = {int(step): kind for step, _, kind in tables("What is checked")[0]}
    assert refusal(good, tmp_path) == "OK"
    for step, (at, patch) in fault.items():
        data = bytearray(good)
        data[at:at + len(patch)] = patch
        assert refusal(data, tmp_path) == kinds[step], step
    # All at once, but for step 1; mended from the first on.
    for first in fault:
        data = bytearray(good)
        for step, (at, patch) in fault.items():
            if step >= first:
                data[at:at + len(patch)] = patch
        assert refusal(data, tmp_path) == kinds[first], first
        assert refusal(data[:111], tmp_path) == kinds[1]


def test_steps_about_sums_and_depth_are_where_the_document_has_them(tmp_path):
    kinds = {int(step): kind for step, _, kind in tables("What is checked")[0]}
    # Operand 2 asks for too much, operand 3 and the first event are wrong.
    data, events, words, _ = faulty(tmp_path)
    data[112 + 32 * 2] = 5
    data[112 + 32 * 2 + 8:112 + 32 * 2 + 16] = struct.pack("<q", 4096)
    data[112 + 32 * 3] = 99
    data[events] = 99
    assert refusal(data, tmp_path) == kinds[11]
    # The last event is a word short, PageFault is not there, nor the period of a Timer.
    data, events, words, _ = faulty(tmp_path)
    data[events + 16 * 4 + 12] -= 1
    data[events] = 5
    assert refusal(data, tmp_path) == kinds[15]
    # One call more; then a cycle, and a need that is not said.
    data, words = deep(tmp_path)
    assert refusal(data, tmp_path) == "OK"
    at = words + 4 * (2 + 2 + 3 * 7 + 1)
    data[at:at + 4] = bytes([0, 0, 24, 0x13])
    data[44] = 0
    assert refusal(data, tmp_path) == kinds[23]
    data[at + 12:at + 16] = bytes([0, 0, 16, 0x13])
    assert refusal(data, tmp_path) == kinds[22]


def test_example_prints_what_it_shows(tmp_path):
    command, shown = re.search(r"^\$ ampc (.*)\n\$ hipec dis mru.hpo\n(.*?)^```", section("An example"),
                               re.M | re.S).groups()
    (tmp_path / "policies").symlink_to(ROOT / "policies")
    assert run(*command.split(), cwd=tmp_path).returncode == 0
    done = subprocess.run([BUILD / "hipec", "dis", tmp_path / "mru.hpo"], capture_output=True,
                          text=True, check=True)
    assert done.stdout == shown
