# SPDX-License-Identifier: GPL-2.0-only
"""The ABI: how its structs lie, and what is said of an image of another version. What the module
makes of longer and shorter structs is in test/guest/program/upgrade.c, of an older module in
test/cli/test_ops.py."""

import re
import struct
import subprocess

import pytest

from conftest import BUILD, ROOT
from test_security_doc import ioctls

pytestmark = pytest.mark.more

HEADER = ROOT / "module/include/uapi/hipec.h"
VERSION = int(re.search(r"#define HIPEC_IMAGE_VERSION (\d+)", HEADER.read_text())[1])


def run(*command):
    return subprocess.run(command, text=True, capture_output=True, check=False)


@pytest.mark.parametrize("version, advice", [
    (VERSION + 1, "install a newer hipec, tools and module, or compile the policy again, "
                  "with this one's ampc"),
    (0xffff, "install a newer hipec, tools and module, or compile the policy again, "
             "with this one's ampc"),
    (VERSION - 1, "compile the policy again, with this one's ampc"),
    (0, "compile the policy again, with this one's ampc")])
def test_another_version_is_refused_and_told_what_to_do(version, advice, tmp_path):
    """By hipec dis, by the simulator, and by hipec run, which is no reason to run
    without the policy; the module's words are the same function's."""
    image = bytearray((BUILD / "policies/mru.hpo").read_bytes())
    struct.pack_into("<H", image, 4, version)
    path = tmp_path / "other.hpo"
    path.write_bytes(image)
    (tmp_path / "trace").write_text("r 1\nr 2\n")
    words = (f"image: the image is of another version ({version}, and this hipec has {VERSION}): "
             f"{advice}\n")
    for command in (["dis", path], ["sim", "-p", path, tmp_path / "trace"],
                    ["run", "--policy", path, "--budget", "1M", "--map", "*", "--", "true"]):
        out = run(BUILD / "hipec", *command)
        assert out.returncode not in (0, -6, -11), command
        assert out.stderr.endswith(words), (command, out.stderr)


def fields():
    """[(struct, field)] of the ABI, in their order."""
    includes = "".join(f'#include "{path}"\n' for path in sorted(HEADER.parent.glob("*.h")))
    text = subprocess.run(["cc", "-E", "-P", "-xc", "-"], input=includes, text=True, check=True,
                          capture_output=True).stdout
    found = []
    for name, body in re.findall(r"struct (hipec_\w+)\s*\{([^}]*)\}", text):
        found += [(name, re.search(r"(\w+)(\[[^\]]*\])*\s*$", line)[1])
                  for line in body.split(";") if line.strip()]
    return found


def compile_to(path, source, *options):
    includes = "".join(f'#include "{header}"\n' for header in sorted(HEADER.parent.glob("*.h")))
    multiarch = run("cc", "-print-multiarch").stdout.strip()
    return subprocess.run(["cc", *options, "-idirafter", f"/usr/include/{multiarch}", "-xc", "-",
                           "-o", path], input=includes + source, text=True, capture_output=True,
                          check=False)


def layout(tmp_path):
    """Lines `struct field offset size`, as the compiler says."""
    lines = "".join(f'printf("{name} {field} %zu %zu\\n", __builtin_offsetof(struct {name}, '
                    f'{field}), sizeof(((struct {name} *)0)->{field}));\n'
                    for name, field in fields())
    program = tmp_path / "layout"
    done = compile_to(program, f"#include <stdio.h>\nint main(void) {{ {lines} return 0; }}\n")
    assert done.returncode == 0, done.stderr
    return run(program).stdout.split("\n")[:-1]


def test_structs_have_no_holes_and_are_the_same_for_32_bits(tmp_path):
    ends, checks = {}, ""
    for line in layout(tmp_path):
        name, field, offset, size = line.split()
        assert ends.get(name, 0) == int(offset), f"a hole before {line}"
        ends[name] = int(offset) + int(size)
        checks += (f'_Static_assert(__builtin_offsetof(struct {name}, {field}) == {offset}, '
                   f'"{name}.{field}");\n')
    checks += "".join(f'_Static_assert(sizeof(struct {name}) == {end}, "{name}");\n'
                      for name, end in ends.items())
    for bits in ("-m64", "-m32"):
        done = compile_to("/dev/null", checks, bits, "-fsyntax-only")
        assert done.returncode == 0, done.stderr


def test_structs_of_ioctls_begin_with_their_size_and_flags():
    header = "".join(path.read_text() for path in HEADER.parent.glob("*.h"))
    first = {}
    for name, field in fields():
        first.setdefault(name, []).append(field)
    for name in ioctls():
        of, = re.findall(rf"{name}\s+_IO\w*\('h', \w+, struct (\w+)\)", header)
        assert first[of][:2] == ["size", "flags"], name
