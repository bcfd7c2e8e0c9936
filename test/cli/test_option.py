# SPDX-License-Identifier: GPL-2.0-only
"""What the command line says of itself and of what is wrong with it: the verbs by what they
are for, two lines on a usage error, the nearest name to one that does not exist."""

import os
import pty
import re
import subprocess

import pytest

from conftest import BUILD, ROOT

pytestmark = pytest.mark.more

HIPEC = BUILD / "asan/hipec"
ENV = {**os.environ, "HIPEC_POLICY_PATH": str(BUILD / "policies")}


def hipec(*args, **kwargs):
    return subprocess.run([HIPEC, *args], capture_output=True, text=True, check=False, env=ENV,
                          **kwargs)


def verbs():
    return re.findall(r"^  ([a-z]+) ", hipec("--help").stdout, re.M)


def test_help_fits_a_terminal_and_begins_with_what_needs_no_module():
    """By what verbs are for; each has a line."""
    text = hipec("--help").stdout
    assert max(map(len, text.splitlines())) <= 80
    groups = re.findall(r"^(\S.*):\n((?:  [a-z]+ +\S.*\n)+)", text, re.M)
    assert len(groups) == 4 and "without the module" in groups[0][0]
    assert re.findall("^  (trace|sim)", groups[0][1], re.M) == ["trace", "sim"]
    assert sum(len(rows.splitlines()) for _, rows in groups) == len(verbs()) == 18


@pytest.mark.parametrize("verb", verbs() if HIPEC.exists() else [])
def test_help_of_a_verb(verb):
    """hipec help VERB is hipec VERB --help, fits a terminal, and says where it exits."""
    done = hipec("help", verb)
    assert done.returncode == 0 and not done.stderr
    assert done.stdout == hipec(verb, "--help").stdout
    assert done.stdout.startswith(f"usage: hipec {verb}")
    assert max(map(len, done.stdout.splitlines())) <= 80


EXAMPLES = re.findall(r"^    (.*)$", "".join(
    hipec(verb, "--help").stdout.partition("\nExamples:\n")[2] for verb in verbs()), re.M) \
    if HIPEC.exists() else []
# What needs the module ends with 1 where it is missing, after its words were understood.
NEEDS_MODULE = ("attach", "detach", "swap", "status", "top", "log", "record")
# Others that do not end with 0 here: (exit codes, what they say).
WANT = {"try": ((0, 3, 4), "worth it|nothing to save"), "doctor": ((0, 1), "kernel"),
        "sim --verdict=5": ((0, 3, 4), "gain"),
        "record --check": ((1,), "minute.record: No such file"),
        "status --metrics": ((1,), "hipec.prom: No such file|/dev/hipec is missing"),
        "sweep": ((0, 1), "^2 runs|it needs"),
        "tune": ((1,), "want a trace to search on"),
        "status --page": ((1,), "/srv/data/index: No such file|/dev/hipec is missing")}


def test_verbs_have_examples():
    """And none has two alike."""
    assert len({example.split()[1] for example in EXAMPLES}) >= 17
    assert len(EXAMPLES) == len(set(EXAMPLES)) >= 30


@pytest.mark.skipif(os.path.exists("/dev/hipec"), reason="they change what lives here")
@pytest.mark.parametrize("example", EXAMPLES)
def test_examples_work(example, tmp_path):
    """As they are, beside the files that they name."""
    (tmp_path / "disk.img").write_bytes(bytes(20 * 4096))
    for name in ("app.trace", "search.txt"):
        (tmp_path / name).write_text("f 0 10 /srv/app.db\nf 10 10 /lib/app\nr 0 20\nr 0 10\nr 0 10\n")
    (tmp_path / "my.hp").write_bytes((ROOT / "policies/mru.hp").read_bytes())
    (tmp_path / "apps").write_text("a policy=mru privileged=16 : app.trace\nb : app.trace\n")
    (tmp_path / "plan.toml").write_text('traces = ["app.trace"]\npolicies = ["lru"]\n')
    (tmp_path / "app").write_text("#!/bin/sh\n")
    (tmp_path / "app").chmod(0o755)
    done = subprocess.run(["sh", "-c", example.split(" | ")[0]], cwd=tmp_path, text=True, check=False,
                          capture_output=True, stdin=subprocess.DEVNULL,
                          env={**ENV, "PATH": f"{BUILD}:{os.environ['PATH']}", "HOME": str(tmp_path)})
    verb = example.split()[1]
    wanted = [want for name, want in WANT.items() if f"{example} ".startswith(f"hipec {name} ")]
    if wanted:
        codes, says = wanted[0]
        assert done.returncode in codes and re.search(says, done.stdout + done.stderr), done
    elif verb in NEEDS_MODULE:
        assert done.returncode == 1 and "/dev/hipec is missing" in done.stderr, done
    elif example.startswith("hipec amp report"):
        assert done.returncode == 1 and "nothing was learnt" in done.stderr, done
    else:
        assert done.returncode == 0, done


def test_help_alone_lists_the_verbs():
    assert hipec("help").stdout == hipec("--help").stdout == hipec("-h").stdout
    done = hipec()
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == hipec("help").stdout


@pytest.mark.parametrize("args, says", [
    (["statsu"], "hipec: there is no verb 'statsu'; did you mean 'status'?"),
    (["porfile", "t"], "hipec: there is no verb 'porfile'; did you mean 'profile'?"),
    (["help", "trac"], "hipec: there is no verb 'trac'; did you mean 'trace'?"),
    (["frobnicate"], "hipec: there is no verb 'frobnicate'"),
    (["--frobnicate"], "hipec: there is no option '--frobnicate'"),
    (["\x1b[31mred"], "hipec: there is no verb '?[31mred'"),
])
def test_a_verb_that_does_not_exist(args, says):
    """Two lines, not the whole help."""
    done = hipec(*args)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines() == [says, "'hipec help' lists the verbs"]


@pytest.mark.parametrize("name, now", [
    ("play", "trace play"), ("grade", "sim --grade"), ("debug", "sim --step"),
    ("set", "swap --param"), ("revoke", "swap --revoke"), ("why", "status --page"),
    ("metrics", "status --metrics"), ("serve", "top --serve"), ("replay", "record --check")])
def test_a_name_that_a_verb_had_says_the_new_one(name, now):
    """Which is another verb's form: help lists it there alone."""
    for args in ([name], [name, "--json", "1"], ["help", name]):
        done = hipec(*args)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == f"hipec {name} is now hipec {now}\n"
    verb, form = now.split()
    text = hipec("help", verb).stdout
    assert name not in verbs()
    assert f"       hipec {now} " in text and re.search(f"^ +{form}  +[a-z]", text, re.M)
    usage = hipec(verb, form, "--frobnicate")
    assert usage.returncode == 2
    assert usage.stderr.splitlines()[1].startswith(f"usage: hipec {now} ")


def test_an_option_that_asks_for_a_form_may_be_anywhere(tmp_path):
    """But not behind --, where a command begins; a word is the first."""
    (tmp_path / "t").write_text("r 0 9\n")
    before, behind = (hipec("sim", *args, cwd=tmp_path) for args in (
        ["--grade", "-f", "3", "mru", "t"], ["-f", "3", "mru", "t", "--grade"]))
    assert before.returncode == 0 and before.stdout == behind.stdout != ""
    assert "mru: No such file" in hipec("sim", "-f", "3", "--", "mru", "--grade").stderr
    assert hipec("trace", "info", "play", cwd=tmp_path).stderr == \
        "hipec trace: play: No such file or directory\n"


@pytest.mark.parametrize("args, says", [
    (["sim", "--fames", "3", "t"], "there is no option '--fames'; did you mean '--frames'?"),
    (["sim", "t", "--fames=3"], "there is no option '--fames'; did you mean '--frames'?"),
    (["sim", "--frobnicate"], "there is no option '--frobnicate'; 'hipec help sim' lists them"),
    (["sim", "-x"], "there is no option '-x'; 'hipec help sim' lists them"),
    (["sim", "--whole-writes", "-jx", "t"], "there is no option '-x'; 'hipec help sim' lists them"),
    (["sim", "--detect", "3"], "'--detect' may be '--detector' or '--detect-every'"),
    (["sim", "--json=3", "t"], "'--json' takes no argument"),
    (["sim", "--frames"], "'--frames' wants an argument"),
    (["sim", "-f"], "'-f' wants an argument"),
    (["trace", "make", "loop", "--paegs", "3"],
     "there is no option '--paegs'; did you mean '--pages'?"),
    (["trace", "--ouput", "x", "--", "true"],
     "there is no option '--ouput'; did you mean '--output'?"),
    (["sim"], "want a trace"),
    (["record", "--check"], "want a record, of hipec record"),
    (["detach"], "want a container's number, of hipec status"),
    (["detach", "x"], "'x' is no container's number; hipec status has them"),
    (["swap", "1"], "want a container's number and a policy"),
    (["status", "now"], "'now' is one word too many"),
    (["amp"], "want detect, feed or report"),
    (["amp", "fed", "1"], "there is no 'fed'; did you mean 'feed'?"),
    (["trace"], "want info, convert, make, play, or -- and a program"),
    (["trace", "inof"], "there is no 'inof'; did you mean 'info'?"),
    (["trace", "make", "lop"], "make: there is no 'lop'; did you mean 'loop'?"),
    (["sim", "--columns", "fauts", "-"], "--columns: there is no 'fauts'; did you mean 'faults'?"),
])
def test_a_usage_error_has_two_lines(args, says):
    """The reason, with what was meant where that is near, and the usage of that verb."""
    done = hipec(*args)
    assert (done.returncode, done.stdout) == (2, "")
    first, second = done.stderr.splitlines()
    assert first == f"hipec {args[0]}: {says}"
    assert second.startswith(f"usage: hipec {args[0]} ")


@pytest.mark.parametrize("verb, usage", [
    ("make", "usage: hipec trace make KIND "), ("convert", "usage: hipec trace convert "),
    ("info", "usage: hipec trace info ")])
def test_the_usage_is_of_the_verb_s_own_verb(verb, usage):
    assert hipec("trace", verb, "--frobnicate").stderr.splitlines()[1].startswith(usage)


@pytest.mark.parametrize("verb", verbs() if HIPEC.exists() else [])
def test_each_verb_says_so_in_the_same_words(verb):
    """None leaves it to getopt, which has neither our name nor the nearest one."""
    done = hipec(verb, *(["detect"] if verb == "amp" else []), "--frobnicate")
    assert done.returncode == 2
    assert done.stderr.startswith(f"hipec {verb}: there is no option '--frobnicate'")


@pytest.mark.parametrize("name, says", [
    ("mruu", "did you mean 'mru'?"), ("cloc", "did you mean 'clock'?"),
    ("frobnicate", "want a .hp or .hpo file, lru,")])
def test_the_nearest_policy_is_named(name, says):
    done = hipec("sim", "-p", name, "-", input="r 1\n")
    assert done.returncode == 1 and done.stderr.startswith(f"hipec sim: {name}: ")
    assert says in done.stderr


def test_what_is_built_in_is_not_named_to_those_who_cannot_run_it():
    done = hipec("run", "-p", "optt", "-b", "8", "--", "true")
    assert done.returncode == 1 and "'opt'" not in done.stderr


def test_all_messages_have_one_prefix(tmp_path):
    """Those about a line of a file too."""
    (tmp_path / "bad.txt").write_text("x\n")
    (tmp_path / "apps").write_text("x\n")
    for args in (["sim", "bad.txt"], ["trace", "info", "bad.txt"], ["mix", "-f", "8", "apps"],
                 ["profile", "bad.txt"], ["amp", "detect", "bad.txt"]):
        done = hipec(*args, cwd=tmp_path)
        assert done.returncode in (1, 2)
        assert done.stderr.startswith(f"hipec {args[0]}: {args[-1]}:1: "), done.stderr


def test_one_is_not_several():
    text = hipec("trace", "info", "-", input="r 7\n").stdout
    assert text.startswith("-: 1 access to 1 page\n") and "one touch        1 page\n" in text
    assert hipec("sim", "-p", "lru", "-f", "1", "-", input="r 7\n").stdout.startswith(
        "-: 1 access to 1 page, mapped\n")


@pytest.mark.parametrize("pages, memory", [(1, "4 KiB"), (255, "1020 KiB"), (256, "1.0 MiB"),
                                           (1 << 18, "1.0 GiB")])
def test_memory_is_in_binary_units(pages, memory):
    text = hipec("trace", "info", "-", input=f"r 0 {pages}\n").stdout
    assert f"footprint        {memory}, in pages 0 to {pages - 1}\n" in text


def on_terminal(*args, **more):
    """What a person sees."""
    ours, theirs = pty.openpty()
    with subprocess.Popen([HIPEC, *args], stdin=subprocess.DEVNULL, stdout=theirs,
                          stderr=theirs, env={**ENV, **more}) as child:
        os.close(theirs)
        seen = b""
        try:
            while part := os.read(ours, 4096):
                seen += part
        except OSError:     # Linux's end of a terminal
            pass
        child.wait()
    os.close(ours)
    return seen.decode()


def test_numbers_have_separators_on_a_terminal(tmp_path):
    """Not for programs, which read digits."""
    trace = tmp_path / "t"
    trace.write_text("r 0 2000\n" * 2)
    (tmp_path / "apps").write_text(f"a : {trace}\n")
    for args, says in [(["sim", "-p", "lru,mru", "-f", "1000", "--warm-up", "1500", str(trace)],
                        ["4,000 accesses to 2,000 pages", "the first 1,500 accesses", "1,000 frames: "]),
                       (["trace", "info", str(trace)], ["reads            4,000", "100% 1,999"]),
                       (["mix", "-f", "1500", str(tmp_path / "apps")], ["1,500 frames", " 4,000 "])]:
        seen, read = on_terminal(*args), hipec(*args).stdout
        assert [text for text in says if text not in seen] == [], seen
        assert [text for text in says if text.replace(",", "").strip() not in read] == [], read


def test_a_number_that_is_a_name_has_no_separators():
    """A process's is typed again, to kill."""
    for path in (ROOT / "userlib/cli").rglob("*.c"):
        assert not re.findall(r"cli_put_number\(.*(?:->|\.)(?:id|pid|uid|seq)\)", path.read_text()), path


def test_making_a_trace_draws_a_bar_on_a_terminal(tmp_path):
    """And wipes it away; without a terminal there is none."""
    args = ["trace", "make", "zipf", "--pages", "1k", "--accesses", "3145728", "--seed", "7"]
    seen = on_terminal(*args, str(tmp_path / "a.trace"))
    percents = [int(n) for n in re.findall(r"hipec trace: \[#* *\] +(\d+) %", seen)]
    assert percents == [33, 66, 100] and seen.endswith("\r\x1b[K")
    assert hipec(*args, str(tmp_path / "b.trace")).stderr == ""
    assert (tmp_path / "a.trace").read_bytes() == (tmp_path / "b.trace").read_bytes()


def test_no_command_has_colours():
    """So NO_COLOR is heeded: the only escape sequences place the cursor or wipe a line."""
    found = set()
    for path in (ROOT / "userlib").rglob("*.c"):
        found |= set(re.findall(r'\\033\[([^"\\]*)', path.read_text()))
    assert found and not [one for one in found if re.match(r"[\d;]*m", one)]
