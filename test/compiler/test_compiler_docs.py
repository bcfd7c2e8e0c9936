# SPDX-License-Identifier: GPL-2.0-only
"""docs/policy/ampc.md: its table of warnings is that of compiler/diag.h, its examples
print what they show, and what they write is good. And the C header."""

import re
import subprocess

from conftest import ROOT, without
from test_compiler import AMPC, built, run  # noqa: F401
from test_compiler_warnings import table

TEXT = without("docs/policy/ampc.md", "The compiled policy")


def test_table_of_warnings_is_the_compilers():
    header = (ROOT / "compiler" / "diag.h").read_text()
    about = dict(re.findall(r'^\tX\(\w+, "([\w-]+)", [01], "(.*)"\)', header, re.M))
    rows = re.findall(r"^\| ([\w-]+) \| (on|off) \| (.*) \|$", TEXT, re.M)
    assert [(name, default == "on", words) for name, default, words in rows] == [
        (name, default, about[name]) for name, default in dict.fromkeys(table().values())]


def test_examples_print_what_they_show(tmp_path):
    (tmp_path / "policies").symlink_to(ROOT / "policies")
    blocks = re.findall(r"^```\n(\$ .*?)^```", TEXT, re.M | re.S)
    assert len(blocks) == 6
    for block in blocks:
        for command, output in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.M):
            done = subprocess.run(["sh", "-c", command.replace("ampc ", f"{AMPC} ", 1)], text=True,
                                  cwd=tmp_path, capture_output=True, check=True)
            assert done.stdout + done.stderr == output, command
    assert (tmp_path / "mru.hpo").read_bytes()[:4] == b"HIPC"


def test_exit_codes_are_those_that_it_says(tmp_path):
    assert "It ends with 0 when the policy was compiled, with 1 when it was refused" in TEXT
    good = "Event PageFault() { }\nEvent Replace() { }\n"
    out = tmp_path / "x.hpo"
    assert run("-o", out, "-", source=good).returncode == 0
    assert run("-o", out, "-", source="oops").returncode == 1
    assert run("-o", tmp_path, "-", source=good).returncode == 1
    assert run("--oops", "-", source=good).returncode == 2


def test_c_array_is_the_image_in_c(tmp_path):
    source = tmp_path / "my-own.2.hp"
    source.write_text((ROOT / "policies" / "mru.hp").read_text())
    header = tmp_path / "policy.h"
    header.write_text(run("--emit-c-array", source, cwd=tmp_path).stdout)
    assert not list(tmp_path.glob("*.hpo"))
    assert run(source, cwd=tmp_path).returncode == 0
    program = tmp_path / "program.c"
    program.write_text('#include <stdio.h>\n#include "policy.h"\n#include "policy.h"\n'
                       "int main(void)\n{\n\tfputs(hipec_policy_my_own_2_name, stderr);\n"
                       "\tfwrite(hipec_policy_my_own_2, 1, sizeof(hipec_policy_my_own_2), stdout);\n"
                       "\treturn 0;\n}\n")
    subprocess.run(["cc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", program, "-o",
                    tmp_path / "program"], check=True)
    done = subprocess.run([tmp_path / "program"], capture_output=True, check=True)
    assert done.stdout == (tmp_path / "my-own.2.hpo").read_bytes()
    assert done.stderr == b"my-own.2"
