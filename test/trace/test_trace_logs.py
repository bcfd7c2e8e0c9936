# SPDX-License-Identifier: GPL-2.0-only
"""Logs as traces: fio's iolog, blkparse and strace, against what Python makes of the
same accesses; what is malformed in them."""

import json
import random
import re
import subprocess

import pytest

from conftest import BUILD, ROOT
from test_traces import convert, hipec, read, refused
from test_trace_forms import FORMS
from trace_models import Log, plain, read_text, write_text

pytestmark = [pytest.mark.more, pytest.mark.usefixtures("quick_start")]


@pytest.fixture(scope="module", autouse=True)
def built():
    subprocess.run(["make", "-s", "-C", ROOT, "build/asan/hipec", "build/asan/trace-fuzz"],
                   check=True)


@pytest.mark.parametrize("version", [2, 3])
def test_iologs_are_read(version):
    rng = random.Random(version)
    log, lines = Log(), [f"fio version {version} iolog"]
    names = ["/dev/sdb", "b", "never"]
    for action in ("add", "open"):
        for name in names:
            log.name(name)
            lines.append(f"{name} {action}")
    for _ in range(200):
        name, op = rng.choice(names[:2]), rng.choice(["read", "write", "sync", "trim", "wait"])
        offset, length = rng.randrange(1 << 24), rng.choice([0, 1, 512, 4096, 4097, 65536])
        lines.append(f"{name} {op} {offset} {length}")
        if op in ("read", "write"):
            log.access(name, offset, length, op == "write")
    lines += [f"{names[0]} close", ""]
    if version == 3:
        lines[1:-1] = [f"{i} {line}" for i, line in enumerate(lines[1:-1])]
    assert read("\n".join(lines)) == log.trace()
    assert len(log.trace()[1]) == 2


def test_iologs_are_written():
    """A file for each region, and one for other pages; what crosses is cut."""
    text = "f 4 2 a b\nf 6 2 c\nr 3 4\nw 7\nr 9\n"
    out, _ = convert(text, to="fio")
    assert out.decode().splitlines() == [
        "fio version 2 iolog", "a_b add", "a_b open", "c add", "c open", "trace add", "trace open",
        "trace read 12288 4096", "a_b read 0 8192", "c read 0 4096", "c write 4096 4096",
        "trace read 36864 4096"]
    out, _ = convert("r 5 2\n", to="fio")
    assert out.decode().splitlines() == ["fio version 2 iolog", "trace add", "trace open",
                                         "trace read 20480 8192"]
    assert read(out)[0] == plain([(5, 0), (6, 0)])


@pytest.mark.parametrize("pages, after", [(1023, 1024), (1024, 2048), (1025, 2048)])
def test_files_never_touch(pages, after):
    log = f"fio version 2 iolog\na write 0 {4096 * pages}\nb write 0 1\n"
    assert read(log)[1] == [(0, pages, "a"), (after, 1, "b")]


BLKPARSE = """\
  8,0    3        1     0.000000000   697  G   W 223490 + 8 [kjournald]
  8,0    3        2     0.000001829   697  Q   W 223490 + 8 [kjournald]
  8,0    3        3     0.000002829   697  P   N [kjournald]
  8,16   1        1     0.002000000    12  Q  RA 17 + 16 [a b]
  8,16   1        2     0.003000000    12  Q  FN [b]
  8,0    3       36     0.009507758   697  C   W 223490 + 8 [0]
  8,0    1        4     0.100000000     3  Q   D 0 + 8 [x]
  8,0    1        5     0.100000000     3  Q FWS 0 + 1 [x]
  8,0    1        6     0.100000000     3  Q WZS IDLE 7 8 + 1 [x]
  8,0    1        6     0.200000000     0  m   N cfq workload slice:300
CPU0 (8,0):
 Reads Queued:           0,        0KiB\t Writes Queued:           3,       10KiB
Total (8,0):

Throughput (R/W): 0KiB/s / 0KiB/s
"""


def test_requests_are_read_when_they_are_queued():
    log = Log()
    log.access("8,0", 223490 * 512, 4096, True)
    log.access("8,16", 17 * 512, 8192, False)
    log.access("8,0", 0, 512, True)
    log.access("8,0", 8 * 512, 512, True)
    assert read(BLKPARSE) == log.trace()
    assert log.trace()[1][1] == (28672, 5, "8,16")


STRACE = r"""
70 execve("/bin/app", ["app"], 0x7ffe /* 9 vars */) = 0
70 openat(AT_FDCWD, "/tmp/a.dat", O_RDWR|O_CREAT|O_TRUNC|O_CLOEXEC, 0644) = 3
70 write(3, "xxx\"), = 3"..., 10000) = 10000
70 pwrite64(3, "yyy", 3, 4095)          = 3
70 lseek(3, 0, SEEK_SET)                = 0
70 read(3, "xxx"..., 5000)              = 5000
70 read(3, "xxx"..., 5000)              = 5000
70 read(3, "", 5000)                    = 0
70 read(9, 0x7ffc, 5000)                = -1 EBADF (Bad file descriptor)
70 fcntl(3, F_DUPFD_CLOEXEC, 0)         = 4
70 fcntl(3, F_GETFL)                    = 0x8002 (flags O_RDWR|O_LARGEFILE)
70 lseek(4, 100, SEEK_SET)              = 100
70 readv(3, [{iov_base="x,)", iov_len=10}, {iov_base="]", iov_len=20}], 2) = 30
70 close(4)                             = 0
70 clone(child_stack=NULL, flags=CLONE_CHILD_CLEARTID|SIGCHLD, child_tidptr=0x7f) = 71
71 set_robust_list(0x7f4c5bdcfe60, 24 <unfinished ...>
70 wait4(-1,  <unfinished ...>
71 <... set_robust_list resumed>)       = 0
71 openat(AT_FDCWD, "/tmp/b \"q\".dat", O_RDWR|O_CREAT|O_APPEND|O_CLOEXEC, 0644) = 4
71 write(4, "zzz"..., 100)              = 100
71 read(3,  <unfinished ...>
70 <... wait4 resumed>[{WIFEXITED(s) && WEXITSTATUS(s) == 0}], 0, NULL) = 71
71 <... read resumed>"", 1)             = 1
71 preadv2(3, [{iov_base="xxx", iov_len=10}], 1, 8192, 0) = 10
71 execve("/bin/x", ["x"], 0x7ffe /* 9 vars */) = 0
71 read(3, "", 1)                       = 1
71 exit_group(0)                        = ?
71 +++ exited with 0 +++
70 --- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=71, si_status=0} ---
70 read(3, "x", 1)                      = 1
70 close(3)                             = 0
70 pipe2([3, 4], O_CLOEXEC)             = 0
70 write(4, "a", 1)                     = 1
70 exit_group(0)                        = ?
70 +++ exited with 0 +++
"""


def strace_trace():
    """By hand. The offset is 10000 after the first write, 130 after readv, which the
    child moves to 131 and its parent then to 132."""
    log = Log()
    for offset, length, write in ((0, 10000, 1), (4095, 3, 1), (0, 5000, 0), (5000, 5000, 0),
                                  (100, 30, 0)):
        log.access("/tmp/a.dat", offset, length, write)
    log.access(r"/tmp/b \"q\".dat", 0, 100, True)
    log.access("/tmp/a.dat", 130, 1, False)
    log.access("/tmp/a.dat", 8192, 10, False)
    log.access("/tmp/a.dat", 131, 1, False)
    return log.trace()


def test_a_log_of_strace_is_what_it_is_by_hand():
    out, said = convert(STRACE)
    assert read_text(out.decode()) == strace_trace()
    assert said == ("hipec trace: 2 accesses to descriptors that the log does not open were passed "
                    "over\nhipec trace: pages 0 to 2 are /tmp/a.dat\n"
                    'hipec trace: pages 1024 to 1024 are /tmp/b \\"q\\".dat\n')
    done = hipec("sim", "--json", "-", data=STRACE)
    assert done.stderr.decode() == said.splitlines(True)[0].replace("trace", "sim")
    assert json.loads(done.stdout)[0]["pages"] == 4


def test_strace_prints_processes_and_times_in_many_ways():
    lines = [line.split(" ", 1) for line in STRACE.strip().splitlines()]
    for mark in ("{0} 12:00:01 {1}", "{0} 1700000000.5 {1}", "[pid {0:>5}] {1}",
                 "[pid {0}] 12:00:01.5 (+     0.000005) {1}", "{0}      0.000005 {1}"):
        assert read("\n".join(mark.format(*line) for line in lines)) == strace_trace()
    took = "\n".join(f"{pid} {call}{' <0.000005>' * (' = ' in call)}" for pid, call in lines)
    assert "= ? <" in took and read(took) == strace_trace()


def test_a_process_gets_its_number_when_there_is_another():
    """As on a terminal: none at first, and none again when one is left. The line of
    clone is interrupted by strace's own."""
    text = """\
open("a", O_RDONLY) = 3
clone(child_stack=NULL, flags=CLONE_FILES|SIGCHLDstrace: Process 8 attached
, child_tidptr=0x1) = 8
[pid     8] open("b", O_RDONLY <unfinished ...>
[pid     7] read(3, "", 4096) = 4096
[pid     8] <... open resumed>) = 4
[pid     8] +++ exited with 0 +++
read(4, "", 4096) = 4096
read(3, "", 4096) = 4096
"""
    assert read(text) == (plain([(0, 0), (1024, 0), (1, 0)]), [(0, 2, "a"), (1024, 1, "b")])


def test_paths_of_the_kernel_are_better_and_enough():
    text = """\
9 openat(AT_FDCWD</tmp>, "a", O_RDONLY) = 3</tmp/a>
9 read(3</tmp/a>, "", 5000) = 5000
9 openat(AT_FDCWD</home>, "a", O_RDONLY) = 4</home/a>
9 read(4</home/a>, "", 1) = 1
9 pread64(5</var/known:1>, "", 1, 4096) = 1
9 open("/proc/self/maps", O_RDONLY) = 7
9 read(7, "", 9) = 9
9 read(0</dev/null<char 1:3>>, "", 1) = 1
9 write(1<pipe:[99]>, "", 1) = 1
9 read(6<socket:[7]>, "", 1) = 1
"""
    log = Log()
    log.access("/tmp/a", 0, 5000, False)
    log.access("/home/a", 0, 1, False)
    log.access("/var/known:1", 4096, 1, False)
    assert read(text) == log.trace()


def random_log(seed):
    """Processes that open, duplicate, fork, exec and close; and their accesses."""
    rng, log, lines = random.Random(seed), Log(), []
    fds, ends = {10: {}}, {}       # by process, by descriptor: [file, offset, append], on exec
    for n in range(400):
        pid = rng.choice(list(fds))
        mine = fds[pid]
        free = min(set(range(3, 50)) - set(mine))
        fd = rng.choice([*mine, 3])
        op = rng.choice(["open", "dup", "fork", "exec", "close", "seek", "exit", *["io"] * 12])
        if op == "open":
            name, append, on_exec = f"/d/{rng.randrange(3)}", rng.random() < .3, rng.random() < .3
            flags = "O_RDWR" + "|O_APPEND" * append + "|O_CLOEXEC" * on_exec
            lines.append((pid, f'openat(AT_FDCWD, "{name}", {flags}) = {free}'))
            mine[free] = ([name, 0, append], on_exec)
            log.name(name)
        elif op == "fork" and len(fds) < 4:
            lines.append((pid, f"fork() = {100 + n}"))
            fds[100 + n] = dict(mine)
        elif op == "exec":
            lines.append((pid, 'execve("/x", ["x"], 0x1 /* 2 vars */) = 0'))
            fds[pid] = {fd: (file, on_exec) for fd, (file, on_exec) in mine.items() if not on_exec}
        elif op == "exit" and len(fds) > 1:
            lines.append((pid, "+++ exited with 0 +++"))
            del fds[pid]
        elif fd not in mine:
            continue
        elif op == "dup":
            lines.append((pid, f"dup2({fd}, {free}) = {free}"))
            mine[free] = (mine[fd][0], False)
        elif op == "close":
            lines.append((pid, f"close({fd}) = 0"))
            del mine[fd]
        elif op == "seek":
            mine[fd][0][1] = rng.randrange(1 << 20)
            lines.append((pid, f"lseek({fd}, {mine[fd][0][1]}, SEEK_SET) = {mine[fd][0][1]}"))
        elif op == "io":
            file, write, length = mine[fd][0], rng.random() < .4, rng.choice([1, 100, 4096, 20000])
            call = "write" if write else "read"
            if rng.random() < .5:
                offset = rng.randrange(1 << 20)
                text = f'p{call}64({fd}, "..."..., 20000, {offset}) = {length}'
            else:
                offset = ends.get(file[0], 0) if write and file[2] else file[1]
                text = f'{call}({fd}, "..."..., 20000) = {length}'
                file[1] = offset + length
            ends[file[0]] = max(ends.get(file[0], 0), offset + length)
            log.access(file[0], offset, length, write)
            lines.append((pid, text))
    return log, lines


@pytest.mark.parametrize("seed", range(6))
def test_random_processes_read_and_write_what_they_should(seed):
    log, lines = random_log(seed)
    assert len(log.accesses) > 100 and len({pid for pid, _ in lines}) > 2
    text, later = [], None
    rng = random.Random(seed)
    for pid, line in lines:      # one call may be interrupted, by lines of others
        if later and (later[0] == pid or rng.random() < .5):
            text.append(later[1])
            later = None
        if not later and ", " in line and rng.random() < .2 and "read" in line:
            cut = line.index(", ") + 2
            text.append(f"{pid} {line[:cut]} <unfinished ...>")
            text.append(f"{pid} <... {line.split('(')[0]} resumed>{line[cut:]}")
        else:
            text.append(f"{pid} {line}")
    assert read("\n".join(text)) == log.trace()


MALFORMED = [
    ("fio version 4 iolog", "1: want 'fio version 2 iolog' or 'fio version 3 iolog', not "
     "'fio version 4 iolog'"),
    ("fio version 2 iolog\na", "2: want a file and what was done to it"),
    ("fio version 2 iolog\na eat", "2: want read, write, add, open, close, wait, sync, datasync or "
     "trim, not 'eat'"),
    ("fio version 2 iolog\na read 1", "2: want an offset and a length behind 'read'"),
    ("fio version 2 iolog\na read 1 -1", "2: want an offset and a length behind 'read'"),
    ("fio version 3 iolog\na read 1 1", "2: want a time, a number, not 'a'"),
    ("fio version 2 iolog\na read 18446744073709551615 1",
     "2: want bytes below 2^64, but 1 bytes start at 18446744073709551615"),
    (BLKPARSE.splitlines()[1] + "\n1 2", "2: want 'MAJOR,MINOR CPU SEQUENCE TIME PID ACTION RWBS "
     "SECTOR + COUNT', not '1 2'"),
    ("8,0 3 1 0.0 697 ", "1: want an action behind the process"),
    ("8,0 3 1 0.0 697 Q", "1: want what kind of request was queued"),
    ("8,0 3 1 0.0 697 Q R 5 8", "1: want SECTOR + COUNT behind 'R'"),
    ("8,0 3 1 0.0 697 Q R x + 8", "1: want SECTOR + COUNT behind 'R'"),
    ("8,0 3 1 0.0 697 Q R 36028797018963968 + 8", "1: want SECTOR + COUNT behind 'R'"),
    ('open("a", 0) = 3\noops', "2: want a call as strace prints it, 'NAME(', not 'oops'"),
    ('open("a", 0', "1: want ')' behind what open was given"),
    ('open("a", 0)', "1: want '= RESULT' behind open"),
    ('open("a", 0) = x', "1: want a number as result of open, not 'x'"),
    ('open(0x7f, 0) = 3', "1: want a path as argument 1 of open, not '0x7f'"),
    ('openat(AT_FDCWD) = 3', "1: want a path as argument 2 of openat, not ''"),
    ('open("a", 0) = 1048576', "1: want a descriptor, 0 to 1048575, not 1048576"),
    ('open("a", 0) = 3\nread(x) = 1', "2: want a number as argument 1 of read, not 'x'"),
    ('open("a", 0) = 3\npread64(3, "", 1) = 1',
     "2: want a number as argument 4 of pread64, not ''"),
    ('open("a", 0) = 3\n<... read', "2: want '<... NAME resumed>', not '<... read'"),
]


@pytest.mark.parametrize("data, message", MALFORMED)
def test_what_is_malformed_is_said_with_its_line(data, message):
    assert refused(data) == message


TABLES = ["list", "lis", "spc", "msr", "alibaba", "tencent", "systor", "fiu", "twitter", "cos", "lrb", "ycsb",
          "lackey", "vscsi", "vscsi2", "lcs", "blktrace", "perf", "photo", "youtube", "cachelib, 2024",
          "cachelib, without a header", "cachelib's CDN", "wiki, 2007", "wikimedia, 2019", "tectonic", "thesios",
          "biosnoop", "damon, perf script", "numbers as people write them", "short titles", "tenants", "pandas",
          "quotes of RFC 4180", "strace, directories", "fio, appended", "blkparse, issued", "list, UUIDs"]


def test_damaged_traces_of_all_forms_are_refused_or_sound(tmp_path):
    """In one process; test/trace/fuzz/judge.c says what must hold."""
    text = "f 0 10 a file\nf 20 5 b\n# c\nr 1\nw 2 3\nr 5 h=3 c=deadbeef\nr 6 2 c=1\nr 0x10 4\n"
    samples = {"text": text.encode(), "blkparse": BLKPARSE.encode(), "strace": STRACE.encode(),
               "csv-sector": b"op,sector,size\nr,9,512\nw,17,4096\nwrite,0,9\n",
               "csv-device": b"disk,op,offset,size\na,r,0,512\nb,w,20000000000000,4096\n"}
    assert set(TABLES) <= FORMS.keys()
    samples.update({re.sub(r"\W+", "-", name): data.encode() if isinstance(data, str) else data
                    for name, (data, *_) in FORMS.items() if name in TABLES})
    samples["damon"] = FORMS["damon, raw"][0].encode()
    for form in ("trace", "sectors", "oracle", "csv", "fio"):
        samples[form], _ = convert(text, to=form)
    samples["records"] = subprocess.run(["zstd", "-dqc"], input=samples["trace"][16:], check=True,
                                        capture_output=True).stdout
    for name, data in samples.items():
        (tmp_path / name).write_bytes(data)
    fuzz = BUILD / "asan" / "trace-fuzz"
    done = subprocess.run([fuzz, "damage", "1", "60", *samples], cwd=tmp_path, text=True,
                          capture_output=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    accepted = {line.split()[0]: int(line.split()[1]) for line in done.stdout.splitlines()}
    assert accepted.keys() == samples.keys()
    # Both verdicts are tried; a .trace has a checksum, and is refused but for its own sake.
    assert all(0 < n < 60 for name, n in accepted.items() if name != "trace"), accepted
    assert accepted["trace"] < 5


def test_info_says_where_each_file_begins():
    text = write_text(plain([(0, 0), (1024, 0)]), [(0, 1, "a"), (1024, 1 << 20, "b")])
    out = hipec("trace", "info", "-", data=text).stdout.decode()
    assert out.endswith("files            2, by accesses:\n"
                        "   50.0%  1 access to 1 page, from page 0 on, of a\n"
                        "   50.0%  1 access to 1 page, from page 1024 on, of b\n")
