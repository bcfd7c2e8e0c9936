# SPDX-License-Identifier: GPL-2.0-only
"""Hostile images: refused, or run within their fuel with all invariants whole,
and never a report of ASan or UBSan; test/vm/runner/imgtorture.c makes them. And what
`hipec dis` and libhipec make of images, good and bad."""

import ctypes
import errno
import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
TORTURE = BUILD / "asan" / "imgtorture"
FILES = sorted((ROOT / "test/vm/cases").glob("*.hpt"))
POLICIES = [path for path in FILES if path.stem.startswith("policy-")]


@pytest.fixture(scope="module", autouse=True)
def built():
    subprocess.run(["make", "-s", "-C", ROOT, "build/asan/imgtorture", "build/hpt",
                    "build/asan/hipec", "build/libhipec.so"], check=True)


def image_of(path, out):
    """The image of a .hpt file, as a .hpo file."""
    subprocess.run([BUILD / "hpt", "--output", out, path], check=True, capture_output=True)
    return out


def hipec(*args):
    return subprocess.run([BUILD / "asan" / "hipec", *args], capture_output=True, text=True,
                          check=False)


def torture(*args):
    """Images that were refused, and that ran."""
    run = subprocess.run([TORTURE, *map(str, args)], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout[-4000:] + run.stderr[-4000:]
    words = run.stdout.split()
    assert words[:2] == ["ok", "refused"]
    return int(words[2]), int(words[4])


@pytest.mark.parametrize("path", POLICIES, ids=lambda p: p.stem)
def test_image_cut_short_at_every_byte_is_refused(path):
    refused, ran = torture("cut", path)
    assert refused > 400
    assert ran == 0


@pytest.mark.more
@pytest.mark.parametrize("path", POLICIES, ids=lambda p: p.stem)
def test_image_with_one_byte_changed_is_refused_or_runs(path):
    refused, ran = torture("flip", path)
    assert refused > 1000 and ran > 500  # both paths were walked


@pytest.mark.more
@pytest.mark.parametrize("seed", range(1, 3))
def test_random_programs_are_refused_or_run(seed):
    refused, ran = torture("words", seed, 20000)
    assert refused > 1000 and ran > 1000


@pytest.mark.more
@pytest.mark.usefixtures("quick_start")
def test_dis_prints_sound_images_and_refuses_the_others(tmp_path):
    for path in FILES[::4]:
        run = hipec("dis", image_of(path, tmp_path / "x.hpo"))
        refused = path.stem.startswith("err-")
        assert run.returncode == (1 if refused else 0), path.stem
        assert len(run.stderr.splitlines()) == (1 if refused else 0), path.stem
        explain = re.search("^explain (.*)$", path.read_text(), re.MULTILINE)
        if explain:
            assert run.stderr == f"hipec dis: {tmp_path}/x.hpo: {explain[1]}\n"


def test_dis_prints_the_words_of_figure_3(tmp_path):
    run = hipec("dis", image_of(ROOT / "test/vm/cases/policy-fifo2.hpt", tmp_path / "x.hpo"))
    replace = run.stdout[run.stdout.index("event 2  Replace"):].splitlines()
    # The lines of Figure 3's event[2] that are legible and belong to the program.
    for number, text in [(8, "07 09 02 01  dequeue page, active_queue, head"),
                         (9, "01 03 00 06  arith active_count, -, dec"),
                         (10, "0C 09 02 01  set page, reference, reset"),
                         (11, "08 09 04 02  enqueue page, inactive_queue, tail"),
                         (12, "01 05 00 05  arith inactive_count, -, inc"),
                         (13, "06 00 00 06  jump always, 6"),
                         (14, "02 01 07 02  comp _free_count, free_target, lt")]:
        assert replace[number].startswith(f"{number:5}  {text}  ")
        assert re.search(r" line \d+$", replace[number])


def test_dis_prints_what_a_policy_declares(tmp_path):
    run = hipec("dis", image_of(ROOT / "test/vm/cases/policy-extensions.hpt", tmp_path / "x.hpo"))
    assert run.stdout.startswith("""\
policy hpt
needs context, hint, access, time, shared
ghosts 50 %
timer 50 ms
operands
   00  queue     _free_queue
   01  int       _free_count
   02  field     age
   03  field     weight
   04  queue     q
   05  queue     byweight by weight
   06  queues    qs[3] by age
   07  queueref  r = qs[0]
   08  queue     ghosts
   09  page      p
   0A  page      t
   0B  page      nothing, const
   0C  int       n = 5
   0D  int       i = 0
   0E  int       k = 3, counter
   0F  int       two = 2, const
   10  ints      history[6]
   11  ints      tree[4], shared
event 0  Init
    1  01 0C 0E 09  arith n, k, and                       line 44
""")


def test_dis_keeps_control_characters_from_the_terminal(tmp_path):
    hpo = image_of(ROOT / "test/vm/cases/policy-fifo.hpt", tmp_path / "x.hpo")
    hpo.write_bytes(hpo.read_bytes().replace(b"queue\0page", b"\x1b[2Jq\0page"))
    run = hipec("dis", hpo)
    assert run.returncode == 1
    assert "not printable ASCII" in run.stderr
    assert all(" " <= c <= "~" or c == "\n" for c in run.stdout + run.stderr)


def test_dis_of_no_file_says_so(tmp_path):
    run = hipec("dis", tmp_path / "none.hpo")
    assert (run.returncode, run.stderr) == (
        1, f"hipec dis: {tmp_path}/none.hpo: No such file or directory\n")
    assert hipec("dis").returncode == 2
    assert hipec("dsi", "x").returncode == 2


def test_set_param_changes_the_value_of_a_parameter_only(tmp_path):
    lib = ctypes.CDLL(BUILD / "libhipec.so")
    hpo = image_of(ROOT / "test/vm/cases/param.hpt", tmp_path / "x.hpo")
    size = hpo.stat().st_size
    image = ctypes.create_string_buffer(hpo.read_bytes(), size)

    def set_param(name, value, size=size):
        return lib.hipec_image_set_param(image, ctypes.c_size_t(size), name,
                                         ctypes.c_int64(value))

    before = image.raw
    assert set_param(b"m", 1) == -errno.ENOENT
    assert set_param(b"", 1) == -errno.ENOENT
    assert set_param(b"_free_count", 1) == -errno.EPERM
    assert all(set_param(b"n", 1, cut) == -errno.EINVAL for cut in range(size))
    assert image.raw == before
    assert set_param(b"n", -2**40) == 0
    hpo.write_bytes(image.raw)
    assert f"n = {-2**40}, param" in hipec("dis", hpo).stdout
    assert sum(a != b for a, b in zip(image.raw, before)) <= 8


class Param(ctypes.Structure):
    """struct hipec_param"""
    _fields_ = [("value", ctypes.c_int64), ("low", ctypes.c_int64), ("high", ctypes.c_int64),
                ("at_load", ctypes.c_bool)]


def test_a_parameter_tells_its_range_and_keeps_it(tmp_path):
    lib = ctypes.CDLL(BUILD / "libhipec.so")
    hpo = image_of(ROOT / "test/vm/cases/param-range.hpt", tmp_path / "x.hpo")
    size = hpo.stat().st_size
    image = ctypes.create_string_buffer(hpo.read_bytes(), size)

    def ask(name, size=size):
        param = Param()
        ret = lib.hipec_image_param(image, ctypes.c_size_t(size), name, ctypes.byref(param))
        return ret or (param.value, param.low, param.high, param.at_load)

    def set_param(name, value):
        return lib.hipec_image_set_param(image, ctypes.c_size_t(size), name, ctypes.c_int64(value))

    whole = (-2**63, 2**63 - 1)
    assert ask(b"low") == (1, 1, 9, False)
    assert ask(b"all") == (-3, *whole, False)
    assert ask(b"k") == (0, -1, 0, True)
    assert ask(b"m") == -errno.ENOENT
    assert ask(b"_free_count") == -errno.EPERM
    assert all(ask(b"low", cut) == -errno.EINVAL for cut in range(size))
    before = image.raw
    for name, value in [(b"low", 0), (b"low", 10), (b"high", -2**63), (b"high", 2**63 - 1),
                        (b"k", 1), (b"k", -2)]:
        assert set_param(name, value) == -errno.ERANGE
    assert image.raw == before
    for name, value in [(b"low", 9), (b"low", 1), (b"high", 5), (b"k", -1), (b"all", -2**63),
                        (b"all", 2**63 - 1)]:
        assert set_param(name, value) == 0
        assert ask(name)[0] == value
    hpo.write_bytes(image.raw)
    shown = hipec("dis", hpo).stdout
    assert "high = 5 in 1..9, param\n" in shown and "k = -1 in -1..0, param, const\n" in shown


def test_a_parameter_without_a_range_may_be_anything(tmp_path):
    lib = ctypes.CDLL(BUILD / "libhipec.so")
    data = image_of(ROOT / "test/vm/cases/param.hpt", tmp_path / "x.hpo").read_bytes()
    param = Param()
    assert lib.hipec_image_param(data, ctypes.c_size_t(len(data)), b"n", ctypes.byref(param)) == 0
    assert (param.value, param.low, param.high, param.at_load) == (7, -2**63, 2**63 - 1, False)


def test_image_read_refuses_what_is_no_image_file(tmp_path):
    lib = ctypes.CDLL(BUILD / "libhipec.so")
    image, size = ctypes.c_void_p(), ctypes.c_size_t()

    def read(path):
        return lib.hipec_image_read(bytes(path), ctypes.byref(image), ctypes.byref(size))

    (tmp_path / "large").write_bytes(bytes(1 << 20))
    assert read(tmp_path / "none") == -errno.ENOENT
    assert read(tmp_path) == -errno.EISDIR
    assert read(tmp_path / "large") == -errno.EFBIG
