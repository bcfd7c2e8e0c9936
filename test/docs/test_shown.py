# SPDX-License-Identifier: GPL-2.0-only
"""Every command that README.md, CONTRIBUTING.md and docs/ show is run: here, or by a test that is named below.
Those that no test can run are listed with the reason. All others fail."""

import functools
import json
import os
import re
import subprocess
import sys

import pytest

from conftest import BUILD, ROOT

sys.path.insert(0, str(ROOT / "packaging"))

import helptext  # noqa: E402  (packaging/helptext.py)

pytestmark = pytest.mark.more

PAGES = ["README.md", "CONTRIBUTING.md", *sorted(
    str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.md"))]
# A block with a line that begins so is one of commands, if it has no prompts.
PROGRAM = (r"(sudo|make|git|apt|pip|sh|cd|cp|mkdir|echo|cat|cc|python3|modprobe|rmmod|insmod|dkms|ampc|"
           r"(build|bench|test|docs|\.)/\S+)( |$)|hipec [a-z]+(?!:)\b")


def blocks(text):
    """Blocks of code in no language: (what they are indented by, lines)."""
    for info, fenced, indented in re.findall(
            r"^```(.*)\n((?:.*\n)*?)```|(?<=\n\n)((?:    .*\n)+)", text, re.M):
        if not re.match("(c|python)( |$)", info):
            indent = "    " if indented else ""
            yield indent, [line.removeprefix(indent) for line in (fenced or indented).splitlines()]


def shown(page):
    """[(indent and prompt, command, the lines that it prints)]: behind prompts, or whole blocks
    of commands."""
    found = []
    for indent, lines in blocks((ROOT / page).read_text()):
        if re.match(r"(/data )?[$#] ", lines[0]):
            prompt = "# (?!HELP|TYPE)" if lines[0].startswith("#") else r"\$ |/data # "
            for line in lines:
                behind = re.match(f"({prompt})(.*)", line)
                if behind:
                    found.append((indent + behind[1], re.sub(r"  +# .*", "", behind[2]), []))
                else:
                    found[-1][2].append(line)
        elif any(re.match(PROGRAM, line) for line in lines):
            found += [(indent, re.sub(r"  +# .*", "", line), []) for line in lines]
    return found


class Here:
    """Run by this file, with these files in the folder."""

    def __init__(self, **files):
        self.files = {name.replace("_", "."): text for name, text in files.items()}


class By:
    """Run by a test, as its source shows: a text in it, or FILE: text."""

    def __init__(self, test, *proof):
        self.test, self.proof = test, proof


class Never:
    """Run by no test, since."""

    def __init__(self, reason):
        self.reason = reason


APP = "#!/bin/sh\ncat model.gguf\n"
EXAMPLES = "test_examples_print_what_they_show"
GUEST = "test_guest.py::"
DECISIONS = "test_decisions.py::"
LONG = Never("minutes of measuring, whose numbers the document has; tests run the scripts in small")
NETWORK = Never("fetches packages of Debian's")
OWN_KERNEL = Never("changes the kernel, or the firmware, of the machine that it runs on")

# Page, commands with what is before them, who runs them. The first row that fits counts. Tests
# of examples run what is in blocks and behind $, and nothing else.
TABLE = [
    ("README.md", r"\$ make .*", By(
        "test_install.py::test_commands_say_their_version", '"make", "-s"')),
    ("README.md", r"\$ .*", Here()),
    ("README.md", "build/.*", Here(cat_trace="r 0 10\nr 0 10\n")),
    ("README.md", "make vm", Never("a shell for somebody to type into")),
    ("README.md", "make demo", Never("minutes in a guest, and bench/paper/demo.py checks counts")),
    ("README.md", "make deb .*", By(
        "test_packages.py::test_commands_compiler_and_policies", "-i /tmp/*.deb")),
    ("README.md", "sudo adduser .*", By(
        "test_packages.py::test_the_device_is_the_group_s", "adduser")),
    ("README.md", r"hipec run .* -- \./app args", Here(app=APP, model_gguf="x")),
    ("README.md", "hipec status", By(
        GUEST + "test_status_shows_the_container",
        "guest/run.sh: hipec status >")),
    ("CONTRIBUTING.md", "make packages", NETWORK),
    ("CONTRIBUTING.md", "make", By(
        "test_install.py::test_commands_say_their_version", '"make", "-s"')),
    ("CONTRIBUTING.md", "make lint", By(
        "test_lint.py::test_the_rule_and_the_file_are_found_in_what_make_lint_says", '"-p", "lint"')),
    ("CONTRIBUTING.md", "make check-fast", Never("runs this test")),
    ("CONTRIBUTING.md", "make vm", Never("a shell for somebody to type into")),
    ("docs/user/first-steps.md", r"\$ (echo .* \| )?make vm.*", By(
        "test_make_vm.py::test_make_vm_runs_a_script", '"vm-run"')),
    ("docs/user/first-steps.md", "/data # sweep --policy .*", By(
        "test_counts.py::test_faults_equal_arithmetic",
        "--policy /hipec/policies/{policy}.hpo")),
    ("docs/user/first-steps.md", "/data # hipec status", By(
        GUEST + "test_status_shows_the_container",
        "guest/run.sh: hipec status >")),
    ("docs/papers.md", "make .*", LONG),
    ("docs/user/amp.md", r"    \$ hipec run --policy amp .*", By(
        "test_amp_guest.py::test_the_loop_is_kept_from_its_third_round_on",
        "amp/guest.sh: hipec run --budget")),
    ("docs/user/amp.md", r"    \$ hipec amp feed \d+", By(
        "test_amp_guest.py::test_feeding_ends_with_the_program_and_tells_of_its_partition",
        "amp/guest.sh: hipec amp feed")),
    ("docs/user/amp.md", r"\$ .*", By(
        "test_amp_feed.py::test_the_examples_of_the_page_print_what_it_shows",
        '"docs/user/amp.md"')),
    ("docs/policy/ampc.md", "mkdir .*", Here()),
    ("docs/policy/ampc.md", r"\$ (ampc -o mru.hpo policies/mru.hp|hipec dis .*)", By(
        "test_hpo.py::test_example_prints_what_it_shows", '"docs/policy/ampc.md"')),
    ("docs/policy/ampc.md", r"\$ ampc .*", By(
        "test_compiler_docs.py::" + EXAMPLES, '"docs/policy/ampc.md"')),
    ("docs/policy/tutorial.md", r"\$ (printf .* >six.txt|.*hipec sim --step .*)", By(
        "test_debug.py::" + EXAMPLES, '"docs/policy/tutorial.md"')),
    ("docs/user/first-steps.md", r"\$ .*", By(
        "test_first_steps.py::test_commands_print_what_they_show", '"docs/user/first-steps.md"')),
    ("docs/user/swap.md", "hipec run .*", By(
        "test_run_guest.py::test_auto_says_what_it_found", "run/guest.sh: hipec run -p auto")),
    ("docs/user/swap.md", "hipec (attach .*--curve.*|status --curve .*)", By(
        DECISIONS + "test_a_curve_is_told_by_the_command",
        "guest/decisions.sh: hipec attach --policy /hipec/policies/mru.hpo --curve",
        "guest/decisions.sh: hipec status --curve")),
    ("docs/user/swap.md", "hipec attach .*", By(
        DECISIONS + "test_a_league_is_told_by_the_command",
        "guest/decisions.sh: hipec attach --policy auto")),
    ("docs/user/in-place.md", "hipec (attach|detach) .*", By(
        DECISIONS + "test_files_are_attached_by_the_command",
        "guest/decisions.sh: hipec attach --policy", "guest/decisions.sh: hipec detach")),
    ("docs/user/install.md", "make deb", By(
        "test_packages.py::test_python", 'conftest.py: "deb-run"')),
    ("docs/user/install.md", "make", By(
        "test_install.py::test_commands_say_their_version",
        '"make", "-s"')),
    ("docs/user/install.md", r"pip install \.", By(
        "test_python.py::test_a_wheel_has_what_make_install_has", '"install", "--target"')),
    ("docs/user/install.md", r"sudo apt install \./.*\.deb", By(
        "test_packages.py::test_commands_compiler_and_policies", "-i /tmp/*.deb")),
    ("docs/user/install.md", "sudo adduser .*", By(
        "test_packages.py::test_the_device_is_the_group_s", "adduser")),
    ("docs/user/install.md", "sudo make (un)?install", By(
        "test_install.py::test_uninstall_leaves_what_others_have", 'make("install"',
        'make("uninstall"')),
    ("docs/user/install.md", "sudo dkms install .*", By(
        "test_packages.py::test_dkms_builds_what_make_install_installed", "dkms install")),
    ("docs/user/install.md", "sudo apt install .*", NETWORK),
    ("docs/user/install.md", "sudo (systemd-sysusers|mokutil|reboot).*", OWN_KERNEL),
    ("docs/user/install.md", "hipec doctor", By(
        "test_doctor.py::test_words_say_what_json_says",
        '"doctor"')),
    ("docs/user/sim.md", r"\$ (echo .* >>?apps|hipec mix .*)", Here()),
    ("docs/user/operations.md", r"    \$ hipec top --serve --port 0", By(
        "test_serve.py::test_the_page_and_its_numbers_are_below_the_token", '"--port", "0"')),
    ("docs/user/operations.md", "# hipec record --ring .*", By(
        DECISIONS + "test_the_command_records_what_it_runs",
        "guest/decisions.sh: hipec record -o /results/records/command --ring 16M -- ")),
    ("docs/user/operations.md", "# hipec record --check .*", By(
        DECISIONS + "test_the_command_records_what_it_runs",
        'one_boot.py: "--check"')),
    ("docs/user/operations.md", "# hipec sim .*", By(
        "test_record.py::test_a_record_is_a_trace",
        '"sim", "--policy"')),
    ("docs/user/operations.md", "# .*", By(
        "test_ops_guest.py::test_the_page_shows_what_commands_print",
        "test_ops.py: docs/user/operations.md")),
    ("docs/user/traces.md", r"\$ (hipec (trace make loop|sim loop|trace play)|truncate) .*", By(
        "test_play.py::" + EXAMPLES, '"docs/user/traces.md"')),
    ("docs/user/profile.md", r"\$ .*", Here()),
    ("docs/user/in-place.md", r"hipec .* -- \./app args", Here(app=APP, model_gguf="x")),
    ("docs/user/in-place.md", r"\$ .* -- echo done", By(
        "test_run.py::test_the_page_shows_what_commands_print",
        "docs/user/in-place.md")),
    ("docs/user/sim.md", r"\$ .*", By("test_sim.py::" + EXAMPLES, '"docs/user/sim.md"')),
    ("docs/testing.md", "make soak.*", Never(
        "half an hour and more; the rings have a minute of it")),
    ("docs/testing.md", "sh /hipec/stress.sh .*", By(
        GUEST + "test_no_write_is_lost_under_stress",
        "guest/random.sh: sh /hipec/stress.sh stress")),
    ("docs/user/sweeps.md", r"\$ (sudo apt|python3 -m venv|pip) .*", NETWORK),
    ("docs/user/sweeps.md", r"\$ hipec swap .*", By(
        DECISIONS + "test_policies_are_swapped_by_hand_and_on_trial",
        'guest/decisions.sh: swap --trial 8s "$id"')),
    ("docs/user/sweeps.md", r"\$ (export DASK|dask|hipec sweep --scheduler).*", By(
        "test_sweep_cluster.py::test_the_page_starts_a_cluster_by_hand", "docs/user/sweeps.md")),
    ("docs/user/sweeps.md", r"\$ .*", By(
        "test_sweep.py::test_the_page_shows_what_commands_print", "docs/user/sweeps.md")),
    ("docs/user/swap.md", "hipec swap --trial .*", By(
        DECISIONS + "test_policies_are_swapped_by_hand_and_on_trial",
        'guest/decisions.sh: swap --trial 8s "$id"')),
    ("docs/user/swap.md", r"hipec status --page \d+ \d+", By(
        GUEST + "test_why_tells_of_a_page",
        'guest/run.sh: hipec status --page "$id" 3')),
    ("docs/user/swap.md", r"hipec status --page \d+ /.*:\d+", By(
        GUEST + "test_why_tells_of_a_page",
        'guest/run.sh: "$id" outer:12293')),
    ("docs/user/traces.md", r"\$ .*", By("test_traces.py::" + EXAMPLES, '"docs/user/traces.md"')),
    ("docs/policy/tutorial.md", r"\$ (.* /tmp/course|hipec trace make .*|cp .*/fifo.hp my.hp|hipec sim --grade .*)", By(
        "test_course.py::test_commands_print_what_they_show", '"docs/policy/tutorial.md"')),
    ("docs/policy/tutorial.md", r"\$ .*", By(
        "test_tutorial.py::test_commands_print_what_they_show",
        '"docs/policy/tutorial.md"')),
]


def row_of(page, before, command, _=None):
    """The table's row for a command."""
    return next((row for row in TABLE
                 if row[0] == page and re.fullmatch(row[1], before + command)), None)


def commands_of(row):
    """Those that it stands for, with their output."""
    return [one[1:] for one in shown(row[0]) if row_of(row[0], *one) is row]


@pytest.mark.parametrize("page", PAGES)
def test_who_runs_each_command_is_known(page):
    assert [one[:2] for one in shown(page) if not row_of(page, *one)] == []


def test_each_row_of_the_table_is_about_a_command():
    assert [row[:2] for row in TABLE if not commands_of(row)] == []


def text_of(name):
    """The one file below test/ with this name."""
    found, = (ROOT / "test").rglob(name)
    return found.read_text()


@pytest.mark.parametrize("row", [row for row in TABLE if isinstance(row[2], By)],
                         ids=lambda row: f"{row[0]}-{row[1][:12]}")
def test_the_test_that_runs_it_is_there(row):
    name, function = row[2].test.split("::")
    source = text_of(name)
    assert f"\ndef {function}(" in source
    assert row[2].proof
    for proof in row[2].proof:
        where, _, text = proof.rpartition(": ")
        assert text in (text_of(where) if where else source)


def masked(lines):
    """How large a page is depends on the library that draws it."""
    return re.sub(r"\d+\.\d MiB, for", "N MiB, for", "\n".join(lines))


@pytest.mark.parametrize("row", [row for row in TABLE if isinstance(row[2], Here)],
                         ids=lambda row: row[0])
def test_commands_that_nobody_else_runs(row, tmp_path):
    """In one folder, one after the other. What the page shows is what they print."""
    for name in ("policies", "editors"):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / "build").symlink_to(BUILD)
    for name, text in row[2].files.items():
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    env = {**os.environ, "HOME": str(tmp_path), "PATH": f"{BUILD}:{os.environ['PATH']}"}
    for command, output in commands_of(row):
        done = subprocess.run(["sh", "-c", command], text=True, cwd=tmp_path, env=env, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        assert not done.returncode, (command, done.stdout)
        assert not output or masked(output) == masked(done.stdout.splitlines()), command


def test_figure_13_is_drawn(tmp_path):
    """As docs/papers.md has it: sizes of partitions over time. A loop that is
    larger than the memory gets one of its own, once it is known to be one."""
    command, = re.findall(r"`(hipec profile --policy amp .*?) \S+\.trace`",
                          (ROOT / "docs/papers.md").read_text())
    (tmp_path / "loop.txt").write_text("r 0 1000 c=a\nr 5000 20 c=b\n" * 30)
    for more in ([], ["--json"]):
        done = subprocess.run([BUILD / "hipec", *command.split()[1:], *more, "loop.txt"], text=True,
                              cwd=tmp_path, capture_output=True, check=True)
    page = (tmp_path / "profile.html").read_text()
    run, = json.loads(done.stdout)["runs"]
    frames = {one["name"]: one["value"] for one in run["counters"]}
    assert frames["frames_loop_1"][0] == 0 < 400 < frames["frames_loop_1"][-1]
    assert sum(values[-1] for values in frames.values()) == 510
    assert "Counters over time" in page and all(name in page for name in frames)


HELP = dict(helptext.verbs(BUILD / "hipec")) if (BUILD / "hipec").exists() else {}


@functools.cache
def makefiles():
    """(their text, and what make has made of it)"""
    text = "".join(path.read_text() for path in [
        ROOT / "Makefile", *ROOT.glob("*/build.mk"), *ROOT.glob("test/**/build.mk"),
        *ROOT.glob("bench/*/**/build.mk")])
    return text, subprocess.run(["make", "-pqs", "-C", ROOT, "help"], text=True, check=False,
                                capture_output=True).stdout


def text_commands(page):
    """Commands in a page's prose, and those in its blocks, without what they run."""
    prose = re.sub(r"^```.*?^```", "", (ROOT / page).read_text(), flags=re.M | re.S)
    for command in [*re.findall(r"`([^`\n]+)`", prose), *(one[1] for one in shown(page))]:
        for part in re.split(r"[|;&]+ ", command.split(" -- ")[0]):
            yield re.sub("^(sudo|LC_ALL=C) ", "", part).split()


def unknown(program, *words):
    """What of a command is no verb, option, target or variable."""
    options = {re.split(r"[=[]", word)[0] for word in words if word.startswith("--")} - {"--help"}
    if program == "hipec":
        if words and words[0] not in HELP:
            return set(words[:1]) - {"help", "--help", "--version"}
        lines = [*HELP[words[0]].synopsis, *HELP[words[0]].lines] if words else []
        return options - set(re.findall(r"--[\w-]+", "\n".join(lines)))
    if program == "make":
        text, database = makefiles()
        known = set(re.findall(r"^([\w-]+):", database, re.M)) | {
            f"{name}=" for name in re.findall(r"^\w+(?= \?=)|(?<=\$\()\w+(?=\))", text, re.M)}
        return {word for word in words if re.sub("=.*", "=", word) not in known}
    if re.fullmatch(r"(bench|packaging|vm-images)/[\w/]+\.py", program):
        return {option for option in options if f'"{option}"' not in (ROOT / program).read_text()}
    return set()


@pytest.mark.parametrize("page", PAGES)
def test_commands_have_these_verbs_options_and_targets(page):
    """Those in the prose too, which have placeholders and cannot be run."""
    assert [command for command in text_commands(page) if command and unknown(*command)] == []
