# SPDX-License-Identifier: GPL-2.0-only
"""Versions: compiled policies and programs that are older or newer than what is here.
test/packaging/upgrade/ has what was released, and stays as it is: NAME-VERSION.hpo, images of a
version, and structs.txt, how the structs of the ABI lie. What the module makes of the
same is in test/guest/program/upgrade.c.

A version of images that is new wants images of its own in test/packaging/upgrade/; a field that is
new a line at the end of its struct in structs.txt."""

import re
import struct
import subprocess

import pytest

from conftest import BUILD, ROOT
from test_security_doc import ioctls

pytestmark = pytest.mark.more

FOLDER = ROOT / "test/packaging/upgrade"
HEADER = ROOT / "module/include/uapi/hipec.h"
VERSION = int(re.search(r"#define HIPEC_IMAGE_VERSION (\d+)", HEADER.read_text())[1])
IMAGES = sorted(FOLDER.glob("*.hpo"))

# Faults of 1000 accesses to 100 pages with 30 frames: MRU's in a loop by arithmetic
# (Deviations, D9); the other one's as they were when it was made.
FAULTS = {"mru-3": ("loop", 100 + 9 * (100 - 30 + 1)), "w-tinylfu-3": ("zipf", 273)}


def run(*command):
    return subprocess.run(command, text=True, capture_output=True, check=False)


def version_of(path):
    return int(path.stem.rpartition("-")[2])


def test_there_are_images_of_this_version_and_of_no_newer_one():
    assert VERSION in {version_of(path) for path in IMAGES}
    for path in IMAGES:
        assert struct.unpack_from("<H", path.read_bytes(), 4)[0] == version_of(path) <= VERSION
    assert {path.stem for path in IMAGES} == set(FAULTS)


@pytest.mark.parametrize("path", IMAGES, ids=lambda path: path.stem)
def test_images_that_were_made_before_still_decide_the_same(path, tmp_path):
    trace, (kind, faults) = tmp_path / "trace.txt", FAULTS[path.stem]
    assert run(BUILD / "hipec", "trace", "make", kind, "--pages", "100", "--accesses", "1000",
               trace).returncode == 0
    out = run(BUILD / "hipec", "sim", "-p", path, "-f", "30", "--columns", "faults", trace)
    assert out.returncode == 0, out.stderr
    assert out.stdout.split("\n")[1:3] == ["FAULTS", str(faults)]
    listed = run(BUILD / "hipec", "dis", path)
    assert listed.returncode == 0 and listed.stdout.startswith(f"policy {path.stem[:-2]}\n")


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
    image = bytearray((FOLDER / "mru-3.hpo").read_bytes())
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


def test_structs_grow_at_their_end_only(tmp_path):
    """A field that moved, changed its size or went would break programs that are there;
    one that came is to be written down. What is last may grow, where it is a struct itself."""
    now, before = layout(tmp_path), (FOLDER / "structs.txt").read_text().split("\n")[:-1]
    assert len(now) > 100
    last = {line.split()[0]: line.split() for line in now}
    for line in before:
        name, field, offset, size = line.split()
        grown = field in ("counters", "status") and last[name][:3] == [name, field, offset] and \
            int(last[name][3]) > int(size)
        assert line in now or grown, f"{line}: moved, resized or gone"
    assert not [line for line in now if line not in before], "new: add it to structs.txt"


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
