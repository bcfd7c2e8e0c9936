# SPDX-License-Identifier: GPL-2.0-only
"""hipec swap, set, revoke and why without the module: what they refuse, and that
docs/user/swap.md has their words. test_guest.py has them at work."""

import json
import re
import subprocess

import pytest

from conftest import BUILD, ROOT, schema

pytestmark = pytest.mark.more

ABSENT = "/dev/hipec is missing"
DOC = (ROOT / "docs/user/swap.md").read_text()


def hipec(*args):
    """(exit code, standard error)."""
    done = subprocess.run([BUILD / "asan/hipec", *args], capture_output=True, text=True,
                          check=False)
    return done.returncode, done.stderr


@pytest.mark.parametrize("args, words", [
    (["swap", "1"], "usage: hipec swap"),
    (["swap", "0", "mru"], "'0' is no container's number"),
    (["swap", "x", "mru"], "'x' is no container's number"),
    (["swap", "--trial", "0", "1", "mru"], "--trial wants a time"),
    (["swap", "--trial", "30x", "1", "mru"], "--trial wants a time"),
    (["swap", "--trial", "2d", "1", "mru"], "--trial wants a time"),
    (["swap", "--param"], "usage: hipec swap --param"),
    (["swap", "--param", "1", "limit"], "'limit' is not NAME=VALUE"),
    (["swap", "--param", "1", "=3"], "'=3' is not NAME=VALUE"),
    (["swap", "--param", "1", "limit=3x"], "'limit=3x' is not NAME=VALUE"),
    (["swap", "--param", "--json", "1", "limit=3"], "usage: hipec swap --param"),
    (["swap", "--revoke"], "usage: hipec swap --revoke"),
    (["swap", "--revoke", "1", "-1"], "there is no option '-1'"),
    (["status", "--page", "1"], "usage: hipec status --page"),
])
def test_wrong_arguments_are_usage(args, words):
    """Exit code 2, and what is wrong with it."""
    code, error = hipec(*args)
    assert code == 2 and words in error


@pytest.mark.parametrize("args, words", [
    (["swap", "1", "nothing"], "want a .hp or .hpo file"),
    (["swap", "1", "/dev/null.hpo"], "/dev/null.hpo"),
    (["status", "--page", "1", "page"], "'page' is no page"),
    (["status", "--page", "1", "99999999999999999"], "is no page"),
    (["status", "--page", "1", "/nothing:4096"], "/nothing: No such file"),
])
def test_what_does_not_exist_is_refused(args, words):
    """Exit code 1, before the module is asked."""
    code, error = hipec(*args)
    assert code == 1 and words in error


@pytest.mark.parametrize("args", [
    ["swap", "1", "mru"], ["swap", "--trial", "1.5m", "1", "builtin"], ["swap", "--param", "1"],
    ["swap", "--param", "1", "limit=-3"], ["swap", "--revoke", "1", "2"], ["status", "--page", "1", "0x10"],
])
def test_without_the_module_it_says_so(args, monkeypatch):
    """And nothing else."""
    monkeypatch.setenv("HIPEC_POLICY_PATH", str(BUILD / "policies"))
    code, error = hipec(*args)
    assert code == 1 and ABSENT in error


def test_doc_has_the_states_of_the_header():
    """Words and meanings, in their order."""
    header = (ROOT / "module/include/uapi/hipec.h").read_text()
    table = header[header.index("#define HIPEC_WHY_STATES"):header.index("enum hipec_why_state")]
    states = re.findall(r'X\(\w+, +0x\w+, "([^"]+)", "([^"]+)"\)', table)
    assert len(states) == 13
    assert "".join(f"| {word} | {meaning} |\n" for word, meaning in states) in DOC


def test_doc_and_schemas_have_the_keys_of_the_json():
    """Each key that the sources add; what a module says is held to the schemas in a guest."""
    part = DOC[DOC.index("## As JSON"):]
    for sources, verb in ((["why"], "status-page"), (["live"], "swap-param"),
                          (["swap", "trial"], "swap")):
        text = "".join((ROOT / f"userlib/cli/{name}.c").read_text() for name in sources)
        keys = set(re.findall(r'(?:json_object_object_add|cli_json_\w+)\(j, "(\w+)"', text))
        assert len(keys) > 4 and {key for key in keys if f"`{key}`" not in part} == set()
        assert keys == set(re.findall(r'"(\w+)": \{\n', json.dumps(schema(verb), indent=1))) - {
            "properties", "items"}


CPU = """#include <stdio.h>
#include <stdlib.h>
#include "live.h"
int main(int argc, char **argv) { return printf("%.2f", cli_cpu_of(atoi(argv[1]))) < 0; }
"""
WORK = "import os\nwhile os.times().user < 0.6: sum(range(10000))\nprint(flush=True)\ninput()"


def test_a_trial_counts_the_time_of_children_that_live(tmp_path):
    """A program's, of which hipec run is the parent, and that one's own of another."""
    (tmp_path / "cpu.c").write_text(CPU)
    subprocess.run(["cc", "-I", ROOT / "userlib/cli", "-o", tmp_path / "cpu", tmp_path / "cpu.c",
                    ROOT / "userlib/cli/cputime.c"], check=True)

    def seconds(pid):
        return float(subprocess.run([tmp_path / "cpu", str(pid)], capture_output=True,
                                    text=True, check=True).stdout)

    with subprocess.Popen(["sh", "-c", f"sh -c 'python3 -c \"{WORK}\"; :'; echo ended; read -r line"],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as parent:
        parent.stdout.readline()
        alive = seconds(parent.pid)
        parent.stdin.write("\n")
        parent.stdin.flush()
        assert parent.stdout.readline() == "ended\n"
        assert 0.55 <= alive <= 2 and alive <= seconds(parent.pid) <= 2
        parent.stdin.write("\n")
    assert seconds(parent.pid) == -1
