# SPDX-License-Identifier: GPL-2.0-only
"""Forms of traces, against readers and writers in Python; what is malformed, with its
message; that nothing is half-read or half-written; docs/user/traces.md."""

import json
import lzma
import os
import random
import re
import struct
import subprocess

import pytest

from conftest import BUILD, ROOT, without
from trace_models import (MAGIC, as_binary, number, plain, read_text, sector_page, write_oracle,
                          write_records, write_text, zstd)

HIPEC = BUILD / "asan" / "hipec"
pytestmark = pytest.mark.usefixtures("quick_start")


@pytest.fixture(scope="module", autouse=True)
def built():
    subprocess.run(["make", "-s", "-C", ROOT, "build/asan/hipec", "build/asan/libhipectrace.so"],
                   check=True)


def hipec(*args, data=b"", **kwargs):
    data = data.encode() if isinstance(data, str) else data
    return subprocess.run([HIPEC, *map(str, args)], input=data, capture_output=True, check=False,
                          **kwargs)


def convert(data, *args, to="text"):
    """What was written, and what was said."""
    done = hipec("trace", "convert", "--to", to, *args, "-", "-", data=data)
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr.decode()


def read(data, *args):
    """(accesses, regions) of any form."""
    return read_text(convert(data, *args)[0].decode())


def refused(data, *args):
    """The one message; nothing else happens."""
    done = hipec("trace", "convert", *args, "-", "-", data=data)
    assert (done.returncode, done.stdout) == (1, b""), done.stderr
    prefix = b"hipec trace: -:"
    assert done.stderr.startswith(prefix) and done.stderr.count(b"\n") == 1
    return done.stderr.decode()[len(prefix):-1]


def random_accesses(seed, tags=True, most=(1 << 32) - 1):
    """Runs, far jumps, both ends, tags that stay for a while."""
    rng = random.Random(seed)
    accesses, tag = [], (0, 0)
    while len(accesses) < 400:
        first = rng.choice([0, most, rng.randrange(most + 1), rng.randrange(100)])
        if tags and rng.random() < 0.3:
            tag = rng.choice([(0, 0), (rng.randrange(1 << 32), 0), (0, rng.getrandbits(64)),
                              (7, 0xabc)])
        write = rng.random() < 0.3
        accesses += [(first + i, write, *tag) for i in range(rng.choice([1, 1, 2, 3, 40]))
                     if first + i <= most]
    return accesses


REGIONS = [(0, 3, "/a b # c"), (3, 1 << 20, "x" * 4095), ((1 << 32) - 1, 1, "last")]
ALL = [(0, 1 << 32, "everything")]


@pytest.mark.parametrize("seed, regions", [(1, []), (2, REGIONS), (3, ALL)])
def test_text_and_binary_are_read_and_written_to_the_byte(seed, regions):
    accesses = random_accesses(seed)
    text = write_text(accesses, regions)
    binary = convert(text, to="trace")[0]
    assert binary[:16] == MAGIC and binary[20] & 4     # the frame has a checksum
    assert zstd(binary[16:], "-d") == write_records(accesses, regions)
    assert read(as_binary(write_records(accesses, regions))) == (accesses, regions)
    assert read(text) == read(zstd(text.encode())) == (accesses, regions)


def test_text_may_say_it_in_several_ways():
    assert read("\n# c\nr 0x10 # 1\r\n\tw 3 0x2 c=00F h=0x5\nf 0 1 a  # b \nr 1 h=0 c=0") == (
        [(16, False, 0, 0), (3, True, 5, 15), (4, True, 5, 15), (1, False, 0, 0)], [(0, 1, "a  # b")])


def test_runs_that_go_on_are_one():
    text = "r 1\nr 2 3\nw 5\nw 6 h=1\nr 7 h=1\nr 7 h=1\nr 8 h=1\n"
    assert convert(text)[0] == b"r 1 4\nw 5\nw 6 h=1\nr 7 h=1\nr 7 2 h=1\n"


def test_a_large_trace_is_packed_and_unpacked_piece_by_piece():
    """More than any of the buffers on the way: a megabyte of text, 128 kB of records."""
    rng = random.Random(5)
    accesses = [(rng.randrange(1 << 32), rng.random() < 0.5, 0, 0) for _ in range(30000)]
    text = "# and much else\n" * 70000 + write_text(accesses)
    binary = convert(text, to="trace")[0]
    assert zstd(binary[16:], "-d") == write_records(accesses)
    assert len(binary) > 1 << 17 and len(text) > 1 << 20 and read(binary)[0] == accesses
    assert convert(zstd(text.encode()), to="trace")[0] == binary


def test_sectors_are_pages_as_in_the_thesis():
    lines = [("r", -1), ("w", -7), ("r", 0), ("w", 7), ("w", 8), ("r", 101531320), ("r", (1 << 35) - 1)]
    data = "# c\n" + "".join(f"{op} {sector}\n" for op, sector in lines) + "x 1\n\n"
    out, said = convert(data, "--from", "sectors")
    assert read_text(out.decode())[0] == plain((sector_page(s), op == "w") for op, s in lines)
    assert said == ("hipec trace: 2 accesses to negative sectors are accesses to page 0\n"
                    "hipec trace: 1 lines are neither 'r ' nor 'w ', and were skipped\n")
    accesses = random_accesses(3, tags=False)
    written = convert(write_text(accesses), to="sectors")[0]
    assert written.decode() == "".join(f"{'w' if w else 'r'} {8 * p}\n" for p, w, _, _ in accesses)
    assert read(written, "--from", "sectors")[0] == accesses


def test_sectors_are_recognised_by_many_that_are_negative():
    assert read("w 8\n" + "r -1\n" * 8)[0] == plain([(1, True)] + [(0, False)] * 8)
    assert refused("w 8\n" + "r -1\n" * 7).startswith("2: want a page number")
    assert refused("w 8 1\n" + "r -1\n" * 9).startswith("2: want a page number")


def published():
    """Lines of the thesis's trace."""
    return lzma.decompress((ROOT / "test/trace/published/web-office.lzma").read_bytes())


def test_the_published_trace_is_recognised_and_counted(tmp_path):
    """Both programs' counts of accesses, faults and pages written at 16 pages."""
    lines = [line.split() for line in published().decode().splitlines() if line[:2] in ("r ", "w ")]
    accesses = plain((sector_page(int(sector)), op == "w") for op, sector in lines)
    (tmp_path / "web").write_bytes(published())
    assert hipec("trace", "convert", "web", "web.trace", cwd=tmp_path).returncode == 0
    assert (tmp_path / "web.trace").stat().st_size < len(published()) / 60
    assert read((tmp_path / "web.trace").read_bytes())[0] == accesses
    for name, faults in (("web.trace", {"lru": 9080, "fifo": 9145, "clock": 9096, "opt": 8188}),
                         ("web", {"lru": 9080})):
        done = hipec("sim", "--json", "-p", ",".join(faults), "-f", 16, name, cwd=tmp_path)
        rows = json.loads(done.stdout)
        assert {row["policy"]: row["faults"] for row in rows} == faults
        assert rows[0]["written_pages"] == 1966
        assert {(row["accesses"], row["pages"]) for row in rows} == {(73480 + 17461, 6180)}


@pytest.mark.parametrize("base", [0, 1])
def test_oracle_is_read_and_written(base):
    accesses = [(page, False, 0, 0) for page, *_ in random_accesses(4)]
    data = write_oracle(accesses, base)
    assert read(data) == read(zstd(data)) == read(data, "--from", "oracle") == (accesses, [])
    assert convert(write_text(accesses), to="oracle")[0] == write_oracle(accesses)


def test_objects_with_high_ids_are_numbered_as_they_appear():
    ids = [1 << 63, 5, (1 << 32) + 5, 5, 1 << 63]
    data = b"".join(struct.pack("<IQIq", 0, i, 0, -1) for i in ids)
    out, said = convert(data)
    assert read_text(out.decode())[0] == plain((n, False) for n in (0, 1, 2, 1, 0))
    assert said == ("hipec trace: objects have ids above 4294967295: pages are numbered from 0 in "
                    "the order in which they appear\n")
    rows = "id,op\n" + "".join(f"{i},w\n" for i in ids)
    assert read(rows)[0] == plain((n, True) for n in (0, 1, 2, 1, 0))


def test_csv_is_read_and_written():
    accesses = [(page, write, 0, 0) for page, write, *_ in random_accesses(5)]
    out = convert(write_text(accesses), to="csv")[0]
    assert out.decode() == "time,obj_id,size,op\n" + "".join(
        f"{i},{page},4096,{'write' if write else 'read'}\n"
        for i, (page, write, *_) in enumerate(accesses))
    assert read(out)[0] == accesses


def test_csv_as_others_write_it():
    assert read("version,time,op,size,lbn\n1,9,2a,512,42\n1,9,28,8192,43\n")[0] == \
        plain([(42, True), (43, False)])
    assert read('# time, "object", size\r\n\n0, 7, 1\r\n0,"8",1\n')[0] == plain([(7, 0), (8, 0)])
    data = "1,host,0,Read,4096,8193,x\n1,host,0,Write,100,0,x\n1,host,0,Write,0,1\n"
    assert read(data, "--columns", "op=4,offset=5,size=6")[0] == \
        plain([(1, 0), (2, 0), (3, 0), (0, 1)])
    assert read("sector,size\n7,1024\n")[0] == plain([(0, 0), (1, 0)])
    out, said = convert("key,op\n1,GET\n1,delete\n2,set\n")
    assert read_text(out.decode())[0] == plain([(1, 0), (2, 1)])
    assert said == "hipec trace: 1 operations that neither read nor write were skipped\n"
    assert read("1,2\nx,3\n".replace("x", "4"), "--columns", "id=2")[0] == plain([(2, 0), (3, 0)])


WRONG = "byte {} of the records: want a number, 0 to {}, in as few bytes as it needs"
RECORDS = {
    b"": "byte 0 of the records: want more of a number, but they end",
    b"\x80": "byte 0 of the records: want more of a number, but they end",
    b"\x80\0": WRONG.format(0, (1 << 37) - 1),
    number(1 << 37): WRONG.format(0, (1 << 37) - 1),
    b"\xff" * 9 + b"\2": WRONG.format(0, (1 << 37) - 1),
    b"\x0a": "byte 0 of the records: want a run, a region or the end, not 10",
    b"\x10": "byte 1 of the records: want pages 0 to 4294967295",
    number(((1 << 33) - 1) << 4): "byte 6 of the records: want pages 0 to 4294967295",
    number(((1 << 33) - 2) << 4 | 2) + b"\0": "byte 6 of the records: want pages 0 to 4294967295",
    b"\2" + number((1 << 26) - 1): WRONG.format(1, (1 << 26) - 2),
    b"\4" + number(1 << 32): WRONG.format(1, (1 << 32) - 1),
    b"\0\x08\2": "byte 2 of the records: want their number of accesses, 1, not 2",
    b"\0\x08\1\0": "byte 3 of the records: want no more of them",
    b"\x08\0": "want an access, but there is none",
    b"\x09\0\1\1\x1f": "byte 4 of the records: want a printable character in a region's name",
    b"\x09\0\1\2a": "byte 5 of the records: want a printable character in a region's name",
    b"\x09\0\1\0": "want a region's name of 1 to 4095 bytes",
    b"\x09\0\1\2 a": "want a region's name without a blank at its ends",
    b"\x09\0\1\2a ": "want a region's name without a blank at its ends",
    b"\x09\0\0\1a": "want 1 to 4294967296 pages in a region that starts at 0",
    b"\x09\5\1\1a\x09\5\1\1a": "want regions in ascending order, the next from page 6 on",
}


@pytest.mark.parametrize("records", RECORDS)
def test_records_that_are_malformed(records):
    assert refused(as_binary(records)) == " " + RECORDS[records]


def test_a_file_that_is_no_trace_whole():
    good = as_binary(write_records(random_accesses(6)))
    body = good[16:]
    for data, message in {
        good[:15]: " byte 15: want a header of 16 bytes, but the file ends",
        good[:7] + b"X" + good[8:]: " byte 7: want 65, as a .trace begins, not 58",
        good[:8] + b"\2" + good[9:]: " byte 8: want version 1, not 2",
        good[:15] + b"\1" + body: f" byte 12: want 0, not {1 << 24}",
        good[:18]: " byte 18: want a zstd frame",
        good[:16] + b"PK\3\4": " byte 16: want a zstd frame",
        good[:20]: " byte 20: want a zstd frame, but the file ends",
        good[:16] + zstd(zstd(body, "-d"), "--no-check"): " byte 20: want a zstd frame with a checksum",
        good[:-1]: f" byte {len(good) - 1}: want more compressed data, but the file ends",
        good + b"\0": " want the end of the file behind the zstd frame",
        good + body: " want the end of the file behind the zstd frame",
        zstd(good): " want a .trace as it is: it was compressed again",
        zstd(b"r 1\n")[:-3]: " byte 14: want more compressed data, but the file ends",
    }.items():
        assert refused(data) == message
    # A checksum that is wrong, and damage in the middle: zstd's own words.
    assert "checksum" in refused(good[:-1] + bytes([good[-1] ^ 1]))
    damaged = body[:60] + bytes([body[60] ^ 0x55]) + body[61:]
    assert re.match(r" byte \d+: ", refused(good[:16] + damaged))
    assert refused(zstd(b"r 1\n") + b"x").startswith(" byte 18: ")


PACKED = " it was compressed by {}, and is damaged or not whole"
MALFORMED = [
    ((), b"\x1f\x8b\x08\0\0", PACKED.format("gzip")),
    ((), b"\xfd7zXZ\0\0", PACKED.format("xz")),
    ((), lzma.compress(b"r 1\n", lzma.FORMAT_ALONE)[:-9], PACKED.format("xz")),
    ((), b"BZh91AY&SY\0\1", PACKED.format("bzip2")),
    ((), b"\x7fELF\2\1\1\0", " want a trace in one of the forms of docs/user/traces.md"),
    ((), b"", " want an access, but there is none"),
    ((), "r 1 2 3", "1: want the end of the line, not '3'"),
    ((), "r 1\nr 1 h=1 2", "2: want the end of the line, not '2'"),
    ((), "r 1 h=", "1: want a hint, 0 to 4294967295, not ''"),
    ((), "r 1 h=4294967296", "1: want a hint, 0 to 4294967295, not '4294967296'"),
    ((), "r 1 c=0x1", "1: want a context of 1 to 16 hexadecimal digits, not '0x1'"),
    ((), "r 1 c=12345678123456781", "1: want a context of 1 to 16 hexadecimal digits, not "
     "'12345678123456781'"),
    ((), "r 1 h=1 h=1", "1: want one h= in a line"),
    ((), "f x", "1: want 'f PAGE COUNT NAME', a page number and not 'x'"),
    ((), "f 1", "1: want 'f PAGE COUNT NAME', a number of pages and not ''"),
    ((), "f 1 1 ", "1: want a region's name of 1 to 4095 bytes"),
    ((), "f 1 1 " + "x" * 4096, "1: want a region's name of 1 to 4095 bytes"),
    ((), "f 1 4294967296 a", "1: want 1 to 4294967295 pages in a region that starts at 1"),
    ((), "f 1 1 a\nf 1 1 a", "2: want regions in ascending order, the next from page 2 on"),
    (("--from", "sectors"), "r x", "1: want a sector, -7 to 34359738367, not 'x'"),
    (("--from", "sectors"), "r -8", "1: want a sector, -7 to 34359738367, not '-8'"),
    (("--from", "sectors"), "\nw 34359738368",
     "2: want a sector, -7 to 34359738367, not '34359738368'"),
    (("--from", "sectors"), "r 1 2", "1: want a sector, -7 to 34359738367, not '1 2'"),
    (("--from", "sectors"), "r " + "1" * (1 << 16), "1: want lines of at most 65536 bytes"),
    ((), write_oracle(plain([(1, 0), (1, 0)]))[:-7],
     " byte 24: want a record of 24 bytes, but 17 are left"),
    (("--from", "oracle"), struct.pack("<IQIq", 0, 1, 0, -2),
     " byte 16: want the number of a later access or -1, not -2"),
    (("--from", "oracle"), struct.pack("<IQIq", 0, 1, 0, 1) * 2,
     " byte 40: want the number of a later access or -1, not 1"),
    ((), "id,op\n1,x", "2: want an op as r, w, read, write, get or set in column 2, not 'x': "
     "--ops r=x, if it reads"),
    ((), "id,op\n1", "2: want 2 columns, of which the last has the op"),
    ((), "op,id\nr", "2: want 2 columns, of which the last has the id"),
    ((), "id,x\n1,\n,1", "3: want an id in column 1, but it is empty"),
    ((), "offset,size\n18446744073709551615,1", "2: want bytes below 2^64, but 1 bytes start at "
     "18446744073709551615"),
    ((), "offset,size\n0,274877906945",
     "2: want at most 67108864 pages in an access, not 274877906945 bytes"),
    ((), "sector,size\n36028797018963968,1", "2: want a sector, 0 to 36028797018963967, not "
     "36028797018963968"),
    (("--from", "csv"), "a,b", "1: want a header that has obj_id, or sector or offset and size; "
     "else --columns"),
    (("--columns", "id=0"), "1", " want columns as id=5,op=3,size=4,sector=5,offset=5, not 'id=0'"),
    (("--columns", "op=1,x"), "1", " want columns as id=5,op=3,size=4,sector=5,offset=5, not 'x'"),
    (("--columns", "op=1"), "1,2", "1: want a header that has obj_id, or sector or offset and size; "
     "else --columns"),
]


@pytest.mark.parametrize("args, data, message", MALFORMED)
def test_what_is_malformed_is_said_with_its_place(args, data, message):
    assert refused(data, *args) == message


def test_a_file_is_written_whole_or_not_at_all(tmp_path):
    (tmp_path / "good").write_text("r 1\n")
    (tmp_path / "bad").write_text("r 1\nr x\n")
    (tmp_path / "out").write_text("old")
    for args, words in {
        ("bad", "out"): "hipec trace: bad:2: want a page number",
        ("bad", "new"): "hipec trace: bad:2: want a page number",
        ("none", "new"): "hipec trace: none: No such file or directory",
        (".", "new"): "hipec trace: .: Is a directory",
        ("good", "none/new"): "hipec trace: none/new: No such file or directory",
        ("good", "/dev/full"): "hipec trace: /dev/full: No space left on device",
        ("--to", "trace", "good", "/dev/full"): "hipec trace: /dev/full: No space left on device",
    }.items():
        done = hipec("trace", "convert", *args, cwd=tmp_path)
        assert (done.returncode, done.stdout) == (1, b"") and done.stderr.decode().startswith(words)
    assert (tmp_path / "out").read_text() == "old"
    assert sorted(os.listdir(tmp_path)) == ["bad", "good", "out"]
    assert hipec("trace", "convert", "good", "out", cwd=tmp_path).returncode == 0
    assert (tmp_path / "out").read_text() == "r 1\n"


def test_a_file_that_cannot_be_completed_does_not_appear(tmp_path):
    """It may have 4 blocks of 512 bytes, and would need more."""
    (tmp_path / "good").write_text("r 1\nw 1\n" * 1000)
    (tmp_path / "out").write_text("old")
    for name in ("out", "new"):
        done = subprocess.run(["sh", "-c", f'trap "" XFSZ; ulimit -f 4; exec "$0" trace convert good {name}',
                               HIPEC], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (1, f"hipec trace: {name}: File too large\n")
    assert (tmp_path / "out").read_text() == "old"
    assert sorted(os.listdir(tmp_path)) == ["good", "out"]


def test_the_name_of_the_output_says_its_form(tmp_path):
    for name, begins in {"a.trace": MAGIC, "a.csv": b"time,", "a.oracleGeneral": b"\0\0\0\0\7",
                         "a.oracleGeneral.bin": b"\0\0\0\0\7", "a": b"r 7", "csv": b"r 7"}.items():
        assert hipec("trace", "convert", "-", name, data="r 7\n", cwd=tmp_path).returncode == 0
        assert (tmp_path / name).read_bytes().startswith(begins)
    assert hipec("trace", "convert", "--to", "text", "a.trace", "b.trace", cwd=tmp_path).returncode == 0
    assert (tmp_path / "b.trace").read_text() == "r 7\n"


@pytest.mark.parametrize("args, words", [
    ((), "hipec trace: want info, convert, make, play, or -- and a program\n"),
    (("look",), "hipec trace: want info, convert, make, play, or -- and a program, not 'look'\n"),
    (("convert", "a"), "hipec trace: convert: want a trace to read and one to write\n"),
    (("convert", "--from", "x", "a", "b"), "hipec trace: --from: want one of text, trace, sectors, "
     "oracle, csv, fio, blkparse, strace, record, list, lis, spc, "),
    (("convert", "--to", "strace", "a", "b"), "hipec trace: --to: want one of text, trace, sectors, "
     "oracle, csv, fio, not 'strace'\n"),
    (("convert", "--from", "fio", "--columns", "id=1", "a", "b"),
     "hipec trace: --columns and --ops: a trace of the form fio has no columns\n"),
    (("convert", "--top", "1", "a", "b"), "hipec trace: 'convert' has no such option\n"),
    (("info",), "hipec trace: info: want a trace\n"),
    (("info", "--to", "text", "a"), "hipec trace: 'info' has no such option\n"),
    (("info", "--top", "1001", "a"), "hipec trace: --top: want a number from 0 to 1000, not '1001'\n"),
])
def test_a_wrong_command_line_is_usage(args, words):
    done = hipec("trace", *args)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.decode().startswith(words) and b"usage: hipec trace " in done.stderr


DOC = without("docs/user/traces.md", "hipec trace play")


def test_examples_print_what_they_show(tmp_path):
    blocks = re.findall(r"^```\n(\$ .*?)^```", DOC, re.M | re.S)
    assert len(blocks) == 7
    for block in blocks:
        for command, output in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.M):
            done = subprocess.run(["sh", "-c", command.replace("hipec ", f"{HIPEC} ")], text=True,
                                  cwd=tmp_path, capture_output=True, check=False)
            assert done.stdout + done.stderr == output, command


def test_help_and_document_name_forms_and_options():
    text = hipec("trace", "--help").stdout.decode().partition("\n  play ")[0]
    options = set(re.findall(r"--(\w+)", text)) - {"help"}
    assert options == {"from", "to", "columns", "ops", "format", "json", "top", "pages", "accesses", "seed", "writes",
                       "skew", "run", "fanout", "scan", "set", "phase", "passes", "lookups", "output",
                       "mmap", "depth", "stack", "all", "only", "region", "min",
                       "sample"}
    assert all(f"--{option}" in DOC for option in options - {"output"})
    forms = [(name, kind) for names, kind in re.findall(
        r"^\| (`\w+`(?:, `\w+`)*) \|.*\| (yes|no|version 2) \|$", DOC, re.M)
        for name in re.findall(r"\w+", names)]
    assert ", ".join(name for name, _ in forms) in \
        hipec("trace", "convert", "--from", "x", "a", "b").stderr.decode()
    assert ", ".join(name for name, kind in forms if kind != "no") + ", not" in \
        hipec("trace", "convert", "--to", "x", "a", "b").stderr.decode()
