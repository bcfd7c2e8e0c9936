# SPDX-License-Identifier: GPL-2.0-only
"""hipec status, top, log and metrics with a stand-in for the module (test/cli/ops/standin.c):
what they print of known numbers, and of names that anybody may choose. With the module:
test_ops_guest.py."""

import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import termios
import time

import jsonschema
import pytest

from conftest import BUILD, ROOT, preloaded, valid, without
from ops import prometheus

pytestmark = pytest.mark.more

HIPEC = BUILD / "hipec"
SCHEMAS = {path.stem: json.loads(path.read_text())
           for path in (BUILD / "schemas").glob("*.json")}
COUNTERS = re.findall(r'X\((\w+),\s+"([^"]*)"\)', (
    ROOT / "module/include/uapi/hipec.h").read_text().split("#define HIPEC_COUNTERS(X)")[1]
    .split("\n\n")[0])


@pytest.fixture(scope="module")
def standin(tmp_path_factory):
    return preloaded(tmp_path_factory.mktemp("standin"), "test/cli/ops/standin.c")


@pytest.fixture
def module(standin, tmp_path, monkeypatch):
    """Makes the module one that answers with these lines."""
    def make(*lines):
        (tmp_path / "answers").write_text("".join(line + "\n" for line in lines))
        monkeypatch.setenv("STANDIN", str(tmp_path / "answers"))
        monkeypatch.setenv("TZ", "UTC")
        monkeypatch.setenv("LD_PRELOAD", str(standin))
    return make


def hipec(*args, **kwargs):
    return subprocess.run([HIPEC, *args], capture_output=True, text=True, check=False, **kwargs)


def out(*args):
    """What is printed, nothing being wrong."""
    done = hipec(*args)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


QUERY = "query frames=1100 pool_frames=1000 pool_max=4096 quota=2048"
JOIN = ("status id=3 pid=70 uid=1000 comm=join policy=mru frames=900 limit=1000 shares=1 "
        "free_frames=1 resident=899 dirty=5 ghosts=0 cluster=32 regions=2 ")
SQL = ("status id=5 pid=71 uid=33 comm=sql-of-everyone policy=lru frames=200 limit=200 shares=0 "
       "resident=200 cluster=1 regions=1 ")
BAD = ("status id=9 pid=72 uid=33 comm=bad policy=worse frames=100 limit=300 shares=1 "
       "exit.kind=0x42 message=far%20too%20many%20faults windows=4 judged_faults=800 "
       "default_faults=400 default_least=320 default_most=500 faults=1000 events=2000 ")
TWO_LOOKS = (
    QUERY, JOIN + "faults=100 evictions=50 read_pages=3200 events=500 windows=2 judged_faults=150 "
    "default_faults=200 default_least=187 default_most=214",
    SQL + "faults=7 events=9 helped=1", "operand id=3 slot=0 name=hits",
    "operand id=3 slot=1 name=depth operand_flags=8 value=-4",
    "look",
    "query frames=1200 pool_frames=1100 pool_max=4096 quota=2048",
    JOIN + "faults=300 evictions=60 read_pages=9600 written_pages=40 events=900 windows=3 "
    "judged_faults=150 default_faults=200 default_least=180 default_most=225",
    SQL + "faults=7 events=9 helped=4", BAD)


def test_status_as_a_table_and_as_json(module):
    module(*TWO_LOOKS)
    lines = out("status").splitlines()
    assert lines[0].split() == ["ID", "PID", "COMM", "POLICY", "FRAMES", "FREE", "RESIDENT", "DIRTY",
                                "FAULTS", "EVICTIONS", "READ", "WRITTEN", "COMMANDS", "STATE"]
    assert lines[1].split() == ["3", "70", "join", "mru", "900", "1", "899", "5", "100", "50",
                                "3200", "0", "0", "runs"]
    assert lines[2].endswith("runs, helped 1 time")
    assert {lines[0].index("STATE"), *(line.index("runs") for line in lines[1:])} == {lines[1].index("runs")}
    join, sql = valid("status", json.loads(out("status", "--json")))
    assert join["policy_counters"] == {"depth": -4} and sql["policy_counters"] == {}
    assert join["shares"] is True and join["counters"]["judged_faults"] == 150
    assert list(join["counters"]) == [name for name, _ in COUNTERS]


def test_pages_on_no_queue_are_said(module):
    """Of a policy whose PageFault keeps none: cumulated, and between two looks."""
    rows = [SQL + f"faults={n} events={n} evictions={n} forgotten={n}" for n in (7, 9, 12)]
    module(QUERY, *rows[:1], "look", QUERY, *rows[1:2])
    assert out("status").splitlines()[1].endswith("  runs, left 7 pages on no queue")
    row, = valid("top", json.loads(out("top", "--once", "--json", "--interval", "0.1")))["containers"]
    assert row["health"] == "orphans"
    module(QUERY, *rows[1:2], "look", QUERY, *rows[2:3])
    assert out("top", "-1", "-i", "0.1").splitlines()[2].endswith("  orphans 3")


def test_status_says_what_else_went_wrong(module):
    module(QUERY, SQL + "helped=1", BAD + "forgotten=3")
    sql, bad = out("status").splitlines()[1:]
    assert sql.endswith("  0  runs, helped 1 time") and bad.endswith("  0  far too many faults")


def test_top_is_the_difference_of_two_looks(module):
    module(*TWO_LOOKS)
    picture = valid("top", json.loads(out("top", "--once", "--json", "--interval", "0.2")))
    assert 0.2 <= picture["seconds"] < 30
    assert (picture["frames"], picture["pool_frames"]) == (1200, 1100)
    join, sql, bad = picture["containers"]
    assert [row["id"] for row in (join, sql, bad)] == [3, 5, 9]
    for key, did in [("faults", 200), ("evictions", 10), ("read", 6400), ("written", 40)]:
        assert abs(join[f"{key}_per_s"] * picture["seconds"] - did) < 1e-6
    # 150 in the place of 180 to 225: saved a sixth to a third.
    assert abs(join["gain_percent"] - 25) < 1e-9 and join["health"] == "runs"
    assert abs(join["gain_error_percent"] - 100 / 12) < 1e-9
    assert (sql["gain_percent"], sql["health"], sql["faults_per_s"]) == (None, "helped", 0)
    assert sql["gain_error_percent"] is None
    # It has come since: all it did was between the looks.
    assert abs(bad["faults_per_s"] * picture["seconds"] - 1000) < 1e-6
    # 800 in the place of 320 to 500: 1.5 times as many more, or 0.6.
    assert abs(bad["gain_percent"] + 105) < 1e-9 and bad["health"] == "ended"
    assert abs(bad["gain_error_percent"] - 45) < 1e-9


def test_top_as_a_table(module):
    module(*TWO_LOOKS)
    head, titles, *rows = out("top", "-1", "-i", "0.1").splitlines()
    assert re.fullmatch(r"3 containers, 1200 frames \(4\.7 MiB\); pool: 1100 of 4096; the last "
                        r"\d+\.\d s", head)
    assert titles.split() == ["ID", "PID", "UID", "COMM", "POLICY", "FRAMES", "LIMIT", "DIRTY",
                              "FAULTS/S", "EVICT/S", "READ/S", "WRITE/S", "GAIN", "+-", "HEALTH"]
    gains = [row.split()[12:] for row in rows]
    assert gains == [["+25.0%", "8.3%", "runs"], ["-", "-", "helped", "3"],
                     ["-105.0%", "45.0%", "far", "too", "many", "faults"]]


@pytest.mark.parametrize("sort, want", [
    ("frames", [3, 5, 9]), ("faults", [9, 3, 5]), ("evictions", [3, 5, 9]), ("loss", [9, 3, 5]),
    ("id", [3, 5, 9])])
def test_top_is_sorted(module, sort, want):
    module(*TWO_LOOKS)
    picture = json.loads(out("top", "-1j", "-i", "0.1", "--sort", sort))
    assert [row["id"] for row in picture["containers"]] == want


def test_a_container_that_has_anothers_number_is_new(module):
    """The module was loaded anew between the looks."""
    module(QUERY, JOIN + "faults=5000 events=9000", "look", QUERY, JOIN + "faults=100 events=200")
    picture = valid("top", json.loads(out("top", "-1j", "-i", "0.1")))
    assert abs(picture["containers"][0]["faults_per_s"] * picture["seconds"] - 100) < 1e-6


def test_pictures_come_one_after_the_other(module):
    module(QUERY, JOIN + "faults=0", "look", QUERY, JOIN + "faults=10", "look", QUERY,
           JOIN + "faults=30")
    pictures = [valid("top", json.loads(line))
                for line in out("top", "-j", "-n", "2", "-i", "0.1").splitlines()]
    did = [p["containers"][0]["faults_per_s"] * p["seconds"] for p in pictures]
    assert [round(n, 3) for n in did] == [10, 20]
    module(QUERY, "look", QUERY, "look", QUERY)
    text = out("top", "-n", "2", "-i", "0.1")
    assert text.count("0 containers, 1100 frames") == 2 and text.count("\n\n") == 1
    assert "\033" not in text


def test_without_a_terminal_there_is_one_picture(module):
    module(*TWO_LOOKS)
    assert out("top", "-i", "0.1").count("containers, ") == 1


def on_terminal(columns, rows, seconds, *args):
    """(exit code, what a terminal of that size got) of a command, interrupted then."""
    main, other = pty.openpty()
    fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("4H", rows, columns, 0, 0))
    with subprocess.Popen([HIPEC, *args], stdout=other, stderr=other, stdin=other) as child:
        os.close(other)
        got = b""
        end = time.monotonic() + 60
        while got.count(b"\033[J") < seconds and time.monotonic() < end:
            got += os.read(main, 65536)
        child.send_signal(signal.SIGINT)
        code = child.wait()
    os.close(main)
    return code, got.decode()


def test_on_a_terminal_the_picture_is_drawn_again_and_fits(module):
    module(QUERY, JOIN, SQL, BAD, "look", QUERY, JOIN, SQL, BAD, "look", QUERY, JOIN, SQL, BAD)
    code, got = on_terminal(60, 5, 2, "top", "-i", "0.1")
    assert code == 0
    start, *pictures = got.split("\033[H")
    assert start == "\033[2J" and len(pictures) == 2
    for picture in pictures:
        assert picture.endswith("\033[J")
        lines = picture[:-len("\033[J")].split("\033[K\r\n")
        assert lines.pop() == "" and len(lines) == 4
        assert all(len(line) <= 60 for line in lines) and len(lines[1]) == 60


# A name that would end a label, a line or a terminal's mood.
ODD = "a%22b%5cc%0ad%1b%e9"
ODD_SHOWN = 'a"b\\c?d??'


def test_metrics_are_read_by_a_strict_parser(module):
    module(QUERY, JOIN + "faults=100 evictions=50",
           f"status id=8 pid=1 uid=0 comm={ODD} policy={ODD} exit.kind=0x42 faults=7",
           "operand id=8 slot=0 name=hits%22 operand_flags=8 value=-12",
           "operand id=8 slot=1 name=limit operand_flags=1 value=3")
    families = prometheus.read(out("status", "--metrics"))
    join = (("comm", "join"), ("id", "3"), ("policy", "mru"), ("uid", "1000"))
    odd = (("comm", ODD_SHOWN), ("id", "8"), ("policy", ODD_SHOWN), ("uid", "0"))
    for name, meaning in COUNTERS:
        now = meaning.startswith("now,")
        kind, text, samples = families[f"hipec_container_{name}{'' if now else '_total'}"]
        assert (kind, text) == ("gauge" if now else "counter", meaning)
        assert set(samples) == {join, odd}
    assert families["hipec_container_faults_total"][2] == {join: 100, odd: 7}
    assert families["hipec_container_exit_kind"][2] == {join: 0, odd: 0x42}
    assert families["hipec_container_limit_frames"][2][join] == 1000
    assert families["hipec_policy_counter"][2] == {tuple(sorted([*odd, ("name", 'hits"')])): -12}
    assert [families[f"hipec_{name}"][2][()] for name in (
        "module_frames", "pool_frames", "pool_max_frames", "pool_quota_frames")] == [
            1100, 1000, 4096, 2048]


def test_metrics_into_a_file(module, tmp_path):
    """Whole, readable by others, and not at all where something is wrong."""
    module(QUERY, JOIN)
    path = tmp_path / "hipec.prom"
    assert out("status", "--metrics", "-o", path) == "" and path.stat().st_mode & 0o777 == 0o644
    assert path.read_text() == out("status", "--metrics")
    path.write_text("old")
    module("nothing")
    done = hipec("status", "--metrics", "-o", path)
    assert done.returncode == 1 and done.stderr and path.read_text() == "old"
    done = hipec("status", "--metrics", "-o", tmp_path / "no/dir")
    assert done.returncode == 1 and "No such file" in done.stderr
    assert sorted(os.listdir(tmp_path)) == ["answers", "hipec.prom"]


LOG = (f"log seq=7 time=1767225599123456789 lived=61500000000 closed=0 id=3 pid=70 uid=5 "
       f"comm=join policy={ODD} faults=100 read_pages=400 written_pages=2 exit.kind=0x22 "
       "exit.line=12 exit.command=4 exit.event=1 message=division%20by%20zero",
       "log seq=9 time=1767225600000000000 lived=1 closed=1 id=3 pid=70 uid=5 comm=join "
       "policy=mru exit.kind=0x10 message=the%20container%20was%20closed")


def test_log_as_a_table_and_as_json(module):
    module(*LOG)
    titles, first, second = out("log").splitlines()
    assert titles.split() == ["SEQ", "TIME", "LIVED", "ID", "PID", "UID", "COMM", "POLICY",
                              "FAULTS", "READ", "WRITTEN", "END", "WHY"]
    assert first.split(None, 14) == ["7", "2025-12-31", "23:59:59", "61.5", "s", "3", "70", "5",
                                     "join", ODD_SHOWN, "100", "400", "2", "policy",
                                     "division by zero"]
    assert second.split(None, 14)[-2:] == ["container", "the container was closed"]
    first, second = valid("log", json.loads(out("log", "--json")))
    assert (first["seq"], first["time"], first["lived_ms"], first["end"]) == (
        7, "2025-12-31T23:59:59.123Z", 61500, "policy")
    assert first["container"]["exit"] == {
        "kind": 0x22, "text": "division by zero", "event": 1, "command": 4, "line": 12, "word": 0,
        "operand": 0, "message": "division by zero"}
    assert second["time"] == "2026-01-01T00:00:00.000Z" and second["end"] == "container"


def test_the_last_ends_alone(module):
    module(*LOG)
    assert [row["seq"] for row in json.loads(out("log", "-j", "-n", "1"))] == [9]
    assert [line.split()[0] for line in out("log", "-n", "1").splitlines()] == ["SEQ", "9"]
    assert json.loads(out("log", "-j", "--last", "0")) == []
    assert len(json.loads(out("log", "-j", "--last", "99"))) == 2
    module("nothing")
    assert json.loads(out("log", "--json")) == [] and len(out("log").splitlines()) == 1


def test_on_an_older_module_status_and_detach_work_and_others_say_to_reboot(module, monkeypatch,
                                                                           tmp_path):
    """Which is loaded until then: an upgrade of the packages does not unload it."""
    module(QUERY, JOIN + "faults=100 evictions=50 read_pages=3200")
    now, = json.loads(out("status", "--json"))
    monkeypatch.setenv("STANDIN_OLD", "1")
    then, = json.loads(out("status", "--json"))
    assert now["counters"]["read_pages"] == 3200
    assert then == now | {"counters": now["counters"] | {"read_pages": 0}}
    number = str(then["id"])
    assert number in out("status")
    assert "hipec_container_faults_total" in out("status", "--metrics")
    assert out("detach", number) == f"released {number}\n"
    for command in (["log"], ["swap", number, "builtin"], ["swap", "--param", number],
                    ["swap", "--revoke", number], ["status", "--page", number, "3"],
                    ["attach", "--policy", "builtin", "--budget", "1M", tmp_path],
                    ["record", "-o", tmp_path / "r", number]):
        done = hipec(*command)
        assert (done.returncode, done.stdout) == (1, ""), command
        assert "the module that is loaded is older than this command; if the new one is installed, " \
            "reboot to use it\n" in done.stderr, command


@pytest.mark.parametrize("args, why", [
    (["top", "-i", "0"], "--interval wants seconds"), (["top", "-i", "x"], "--interval wants"),
    (["top", "-n", "0"], "--number wants"),
    (["top", "--sort", "x"], "--sort: want frames, faults, evictions, loss or id, not 'x'"),
    (["top", "x"], "usage: hipec top"), (["log", "-n", "-1"], "--last wants a number"),
    (["log", "x"], "usage: hipec log"),
    (["status", "--metrics", "x"], "usage: hipec status --metrics"),
    (["status", "--metrics", "--json"], "usage: hipec status --metrics")])
def test_wrong_arguments_are_said(args, why):
    done = hipec(*args)
    assert (done.returncode, done.stdout) == (2, "") and why in done.stderr


@pytest.mark.parametrize("args", [["top"], ["top", "--json"], ["log"], ["log", "--json"],
                                  ["status", "--metrics"], ["status"]])
def test_without_the_module_it_is_said(args):
    if os.path.exists("/dev/hipec"):
        pytest.skip("the module is loaded here")
    done = hipec(*args)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"hipec {args[0]}: /dev/hipec is missing; load the module first")


def test_what_cannot_be_written_is_said(module):
    module(*TWO_LOOKS)
    for verb in (["top"], ["log"], ["status", "--metrics"]):
        with open("/dev/full", "w", encoding="ascii") as full:
            done = subprocess.run([HIPEC, *verb], stdout=full, stderr=subprocess.PIPE, text=True,
                                  check=False)
        assert (done.returncode, done.stderr) == (
            1, f"hipec {verb[0]}: cannot write: No space left on device\n")


# The page

PAGE = without("docs/user/operations.md", "Records")
PROMPT = "# (?!HELP|TYPE)"    # lines of metrics begin alike
SESSIONS = [session for block in re.findall(rf"^```\n({PROMPT}.*?)^```", PAGE, re.M | re.S)
            for session in re.findall(rf"^{PROMPT}(.*)\n((?:(?!{PROMPT}).*\n)*)", block, re.M)]
EXIT_KINDS = re.findall(r'X\(\w+,\s+(0x\w+), "([^"]*)"\)', (
    ROOT / "module/include/uapi/hipec.h").read_text().split("#define HIPEC_EXIT_KINDS(X)")[1]
    .split("\n\n")[0])


def table(head):
    """Rows of the page's table whose head begins so: lists of cells."""
    rows = PAGE.split(f"\n| {head} |")[1].split("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in row.strip("|").split(" | ")] for row in rows]


PARAMETERS = {name.strip("`"): value for name, value, *_ in table("parameter")}
TRACEPOINTS = {row[0].strip("`").split(":")[1]: re.findall(r"`(\w+)`", row[2])
               for row in table("tracepoint")}


# Commands of the runbook that look at a module or change something in it.
RUNBOOK = list(dict.fromkeys(command for row in table("symptom") for command in re.findall(
    r"`((?:hipec (?!sim|run)\w+|echo|cat|rmmod)\b[^`]*)`", " ".join(row))))


def test_the_page_has_all_kinds_of_ends():
    assert [(int(kind), text) for kind, text, _ in table("kind")] == [
        (int(code, 16), text) for code, text in EXIT_KINDS]


def test_the_page_has_all_parameters():
    """Which can be set when, too; test_ops_guest.py has the defaults."""
    found = {}
    for path in (ROOT / "module").rglob("*.c"):
        for line in re.findall(r"^module_param\w*\((.*)\);", path.read_text(), re.M):
            found[line.split(",")[0]] = "any time" if line.endswith("0644") else "at load"
    assert {name.strip("`"): when for name, _, when in table("parameter")} == found


def test_the_page_has_all_tracepoints_with_their_fields():
    events = (ROOT / "module/base/trace.h").read_text().split("TRACE_EVENT(")[1:]
    assert TRACEPOINTS == {
        event.split(",")[0]: re.findall(r"__(?:field|array)\(\w+, (\w+)", event)
        for event in events}


def test_the_page_has_all_gauges(module):
    module(QUERY, JOIN)
    gauges = [name for name, (kind, _, _) in prometheus.read(out("status", "--metrics")).items()
              if kind == "gauge"]
    assert [name for row in table("metric") for name in re.findall(r"`(\w+)`", row[0])] == gauges


def test_the_page_has_all_schemas():
    named = re.findall(r"`hipec ([\w -]+?)(?: --json)?` \| `([\w-]+)\.json`", PAGE)
    assert sorted((re.sub("[ -]+", "-", verb), name) for verb, name in named) == [
        (name, name) for name in sorted(SCHEMAS)]


def test_what_the_page_alerts_on_is_there(module):
    module(QUERY, JOIN)
    names = set(prometheus.read(out("status", "--metrics")))
    alerts = PAGE.split("Worth an alert:")[1].split("\n\n")[0]
    assert set(re.findall(r"hipec_\w+", alerts)) <= names


def test_the_page_names_options_that_there_are():
    """And all orders of top."""
    text = hipec("top", "--help").stdout
    for option in re.findall(r"`(--(?:interval|number|sort|once))", PAGE):
        assert option in text
    orders = re.search(r"`--sort` takes (.*?) and `id`", PAGE, re.S)[1]
    assert re.findall(r"`(\w+)`", orders) == ["frames", "faults", "evictions", "loss"]


def test_commands_of_the_tables_are_understood(module):
    """Those of the runbook: hipec's, with the stand-in."""
    module(QUERY, JOIN, "look", QUERY, JOIN)
    commands = {command for row in table("symptom") for command in
                re.findall(r"`(hipec (?:top|status|log)[^`]*)`", " ".join(row))}
    assert len(commands) >= 5
    for command in sorted(commands):
        args = command.split()[1:]
        out(*args, *(["-i", "0.1"] if args[0] == "top" else []))


@pytest.mark.parametrize("name", sorted(SCHEMAS))
def test_a_schema_is_one_and_says_no(name):
    """To nothing at all, and to what it does not know."""
    jsonschema.Draft202012Validator.check_schema(SCHEMAS[name])
    with pytest.raises(jsonschema.ValidationError):
        valid(name, {} if SCHEMAS[name]["type"] == "object" else [{}])


# What more memory would bring: of 1,000 pages a quarter, a half, twice and four times

def curve(*teams):
    """(quarters, misses, variance of what it saves); the container's own 1,600 misses."""
    rows = [(4, 1600, 0), *teams]
    lines = [QUERY, JOIN, *(
        f"standing id=3 team={i} nr={len(rows)} runs=0 sampled=9000 missed=1600 misses={misses} "
        f"saves={1600 - misses} variance={variance} quarters={quarters} policy=mru"
        for i, (quarters, misses, variance) in enumerate(rows))]
    return [*lines, "look", *lines]


def test_a_budget_that_is_not_used_up_has_no_number_anywhere(module):
    """2,000 pages with 1,200 misses are not full; 4,000 neither."""
    module(*curve((1, 3200, 100), (2, 2400, 0), (8, 1200, 0), (16, 1200, 0)))
    row, = valid("status", json.loads(out("status", "--json")))
    assert {point["pages"]: (point["saves_percent"], point["error_percent"]) for point in row["curve"]["points"]} \
        == {250: (-100, 1.25), 500: (-50, 0), 2000: (None, None), 4000: (None, None)}
    metrics = out("status", "--metrics")
    for name in ("saves", "error"):
        assert set(re.findall(rf'^hipec_curve_{name}{{.*name="([\d.]+)"}}', metrics, re.M)) == {"0.25", "0.5"}
    assert "3: 2.0 MiB less: 50.0 % ± 0.0 % more misses; 3.9 MiB more: not full yet\n" in out("top", "--once")


def test_a_difference_below_its_error_is_none(module):
    module(*curve((2, 1610, 400), (8, 2000, 400)))
    assert ("3: 2.0 MiB less: as many misses, ± 2.5 %; 3.9 MiB more: 25.0 % ± 2.5 % more misses\n"
            in out("top", "--once"))


def test_one_number_looks_the_same_everywhere(module, tmp_path, monkeypatch):
    """1,000 pages four times in 742, which are 2.9 MiB: 1,777 misses instead of 4,000, 55.6 % less."""
    monkeypatch.setenv("HIPEC_POLICY_PATH", str(BUILD / "policies"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sweep").write_text("r 0 1000\n" * 4)
    assert "worth it: with 2.9 MiB, mru reads 6.9 MiB instead of 15.6 MiB (-55.6 %); " in out("try", "sweep")
    args = ("--policy", "lru,mru", "--frames", "742", "sweep")
    simulated, profile = out("sim", *args).splitlines(), out("profile", "--text", *args).splitlines()
    assert simulated[0].startswith("sweep: 4000 accesses to 1000 pages") and profile[0] == simulated[0].split(",")[0]
    assert simulated[-1] == "742 frames: mru gains 55.6 % over lru" and simulated[-1] in profile
    mru, drawn = (next(line.split() for line in lines if line.startswith("mru ")) for lines in (simulated, profile))
    assert mru[:4] == drawn[:4] == ["mru", "742", "1777", "55.58"]
    rows = [(4, 0, 4000), (4, 2223, 1777), (8, 2223, 1777)]
    look = [QUERY, JOIN.replace("=1000 shares", "=742 shares") + "judged_faults=1777 default_faults=4000 "
            "default_least=4000 default_most=4000", *(
                f"standing id=3 team={i} nr=3 runs=0 sampled=4000 missed=4000 misses={misses} saves={saves} "
                f"quarters={quarters} policy={policy}"
                for i, ((quarters, saves, misses), policy) in enumerate(zip(rows, ("lru", "mru", "lru"))))]
    module(*look, "look", *look)
    top = out("top", "--once", "--interval", "0.1").splitlines()
    assert top[2].split()[-3:] == ["+55.6%", "0.0%", "runs"], top
    assert "3: auto: lru runs, after 0 take-overs; mru from the beginning would have missed 55.6 % ± 0.0 % less" in top
    assert "3: 2.9 MiB more: 55.6 % ± 0.0 % fewer misses" in top
    assert re.search(r"^mru +1777 +\+55.6 ", out("status", "--league", "3"), re.M)
    assert re.search(r"^1484 +2.9 MiB .*55.6", out("status", "--curve", "3"), re.M) or out("status", "--curve", "3")
