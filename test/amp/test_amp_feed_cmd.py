# SPDX-License-Identifier: GPL-2.0-only
"""hipec amp feed: arguments, what it says when it cannot feed, and what it feeds, with a stand-in
for the module (test/amp/standin.c). With the module: test_amp_guest.py."""

import os
import pathlib
import re
import signal
import struct
import subprocess

import pytest

from conftest import BUILD, ROOT, preloaded

HIPEC = BUILD / "asan/hipec"
LOOP, PAGES, ID = 0xabc1, 2000, 7
ARRAYS = ("amp_context", "amp_part", "amp_size", "amp_sweep", "amp_keep")
SLOT_BYTES = 1 << 23    # from one shared array to the next

pytestmark = [pytest.mark.more, pytest.mark.usefixtures("quick_start")]


@pytest.fixture(scope="module", autouse=True)
def built():
    subprocess.run(["make", "-s", "-C", ROOT, "build/asan/hipec",
                    *(f"build/policies/{name}.hpo" for name in ("amp", "mru", "arc"))], check=True)


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    return preloaded(tmp_path_factory.mktemp("standin"), "test/amp/standin.c")


class World:
    """A file for the device, and a process that has loaded a container with it."""

    def __init__(self, tmp, library):
        self.tmp, self.device, self.samples = tmp, tmp / "device", tmp / "samples"
        with self.device.open("wb") as device:
            device.truncate(64 * SLOT_BYTES)
        with self.device.open("r+b") as device:
            self.loader = subprocess.Popen(["sleep", "1000"], stdin=device)
        self.env = {**os.environ, "LD_PRELOAD": str(library), "XDG_STATE_HOME": str(tmp),
                    "HIPEC_POLICY_PATH": str(BUILD / "policies"), "STANDIN_DEVICE": str(self.device),
                    "STANDIN_IMAGE": str(BUILD / "policies/amp.hpo"),
                    "STANDIN_SAMPLES": str(self.samples),
                    "STANDIN_CONTAINERS": f"{ID}:{self.loader.pid}"}

    def end_loader(self):
        self.loader.kill()
        self.loader.wait()

    def command(self, *args):
        return [HIPEC, "amp", "feed", *map(str, args)]

    def feed(self, *args, **kwargs):
        return subprocess.run(self.command(*args), capture_output=True, text=True, check=False,
                              env=self.env, timeout=60, **kwargs)

    def start(self, *args):
        """It runs, and waits for samples."""
        os.mkfifo(self.samples)
        feeder = subprocess.Popen(self.command(*args), stdout=subprocess.PIPE, text=True,
                                  stderr=subprocess.PIPE, env=self.env)
        assert feeder.stdout.readline().endswith("is fed\n"), feeder.communicate()
        return feeder

    def array(self, name, nr):
        """Elements of a shared array; its slot is from the image."""
        image = pathlib.Path(self.env["STANDIN_IMAGE"]).read_bytes()
        header, = struct.unpack_from("<H", image, 6)
        size, _, operands = struct.unpack_from("<III", image, 8)
        strings = size - struct.unpack_from("<I", image, 32)[0]
        for slot in range(operands):
            at = strings + struct.unpack_from("<I", image, header + slot * 32 + 4)[0]
            if image[at:image.index(b"\0", at)] == name.encode():
                with self.device.open("rb") as device:
                    device.seek(slot * SLOT_BYTES)
                    return struct.unpack(f"<{nr}q", device.read(8 * nr))
        raise KeyError(name)


@pytest.fixture
def world(tmp_path, library):
    world = World(tmp_path, library)
    yield world
    world.end_loader()


def loop(rounds):
    """Samples of a program that reads all pages again and again."""
    return b"".join(struct.pack("<HHIQQQ", 1, 0, page, LOOP, number * PAGES + page + 1, 0)
                    for number in range(rounds) for page in range(PAGES))


def failed(done):
    """What it said, in one line."""
    assert (done.returncode, done.stdout) == (1, ""), done.stderr
    lines = done.stderr.splitlines()
    assert len(lines) == 1 and lines[0].startswith("hipec amp: "), done.stderr
    return lines[0].removeprefix("hipec amp: ")


@pytest.mark.parametrize("args", [
    (), ("3", "4"), ("x",), ("0",), ("-3",), ("3x",), ("3", "--seconds", "0"), ("3", "--seconds", "x"),
    ("3", "--seconds", ""), ("3", "--hints"), ("3", "--hints", "f", "--no-hints"), ("3", "--json")])
def test_wrong_arguments(world, args):
    done = world.feed(*args)
    assert (done.returncode, done.stdout) == (2, "") and "usage: hipec amp " in done.stderr


def test_verbs_are_named_when_there_is_no_such():
    done = subprocess.run([HIPEC, "amp", "fed"], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "there is no 'fed'; did you mean 'feed'?" in done.stderr


def test_without_the_module():
    if os.path.exists("/dev/hipec"):
        pytest.skip("the module is here")
    done = subprocess.run([HIPEC, "amp", "feed", "3"], capture_output=True, text=True, check=False)
    assert failed(done).startswith("/dev/hipec is missing; load the module first")


def test_no_such_container(world):
    assert failed(world.feed(ID + 1)) == (
        f"no container has the number {ID + 1}, nor was one loaded by such a process, of those that "
        "you may see; hipec status lists them")


def test_a_process_with_two_containers_does_not_say_which(world):
    pid = world.loader.pid
    world.env["STANDIN_CONTAINERS"] = f"{ID}:{pid} {ID + 1}:{pid}"
    assert failed(world.feed(pid)) == \
        f"process {pid} has loaded 2 containers; name one by its ID in hipec status"


def test_a_policy_without_arrays(world):
    world.env["STANDIN_IMAGE"] = str(BUILD / "policies/mru.hpo")
    assert failed(world.feed(ID)) == (
        f"container {ID}: its policy 'mru' does not declare shared Int amp_context[64], "
        "amp_part[64], amp_size[12], amp_sweep[12], amp_keep[4097]; only one that does can be fed, as amp "
        "(docs/user/amp.md)")


def test_a_policy_that_is_not_found(world):
    del world.env["HIPEC_POLICY_PATH"]
    own = world.tmp / "own.hpo"
    image = bytearray((BUILD / "policies/amp.hpo").read_bytes())
    name = image.index(b"amp\0")
    image[name:name + 4] = b"own\0"
    own.write_bytes(image)
    world.env["STANDIN_IMAGE"] = str(own)
    assert failed(world.feed(ID)).endswith(
        "; name what the container's policy was loaded from with --policy")
    world.samples.write_bytes(loop(1))
    assert world.feed(ID, "--policy", own).returncode == 0


def test_another_policy_is_not_taken_for_it(world):
    arc = BUILD / "policies/arc.hpo"
    assert failed(world.feed(ID, "--policy", arc)).startswith(
        f"{arc} is not what container {ID} runs: its operands differ; ")


@pytest.mark.parametrize("mine, other", [(b"\0amp_sweep\0", b"\0amp_sweeq\0"), (b"", b"")])
def test_operands_are_compared_by_their_names(world, mine, other):
    image, own = (BUILD / "policies/amp.hpo").read_bytes(), world.tmp / "own.hpo"
    assert mine in image
    own.write_bytes(image.replace(mine, other) if mine else image)
    world.samples.write_bytes(b"")
    done = world.feed(ID, "--policy", own)
    assert ("its operands differ" in done.stderr, done.returncode) == ((True, 1) if mine else (False, 0))


def test_a_process_that_has_closed_its_descriptor(world):
    world.end_loader()
    world.loader = subprocess.Popen(["sleep", "1000"])
    world.env["STANDIN_CONTAINERS"] = f"{ID}:{world.loader.pid}"
    assert failed(world.feed(ID)).startswith(
        f"process {world.loader.pid} has closed its descriptor of container {ID}, ")


def test_a_descriptor_of_another_container_is_none_of_it(world):
    world.env["STANDIN_CONTAINERS"] = f"3:{world.loader.pid} {ID}:{world.loader.pid}"
    assert failed(world.feed(ID)).startswith(
        f"process {world.loader.pid} has closed its descriptor of container {ID}, ")


def test_a_process_that_has_ended(world):
    world.end_loader()
    assert failed(world.feed(ID)).startswith(
        f"container {ID}: the process that loaded it has ended, ")


def test_a_descriptor_that_one_may_not_have(world):
    """Of a process that may do more than the one that asks."""
    if os.geteuid():
        pytest.skip("only root may do more")
    done = subprocess.run(["setpriv", "--bounding-set=-sys_ptrace", *world.command(ID)],
                          capture_output=True, text=True, check=False, env=world.env, timeout=60)
    assert failed(done).startswith(
        f"process {world.loader.pid}: not permitted to take its descriptor of container {ID}; run "
        "this as root, or as the same user where ptrace is allowed")


def test_a_container_that_is_fed_already(world):
    assert failed(world.feed(ID)) == (
        f"container {ID}: it is being fed already; hipec run does that for its program itself")


@pytest.mark.parametrize("by_pid", [False, True])
def test_a_loop_gets_its_partition_in_the_arrays_of_the_other_process(world, by_pid):
    world.samples.write_bytes(loop(3))
    done = world.feed(world.loader.pid if by_pid else ID)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        f"container {ID}: process {world.loader.pid} (standin) is fed",
        f"container {ID}: 6000 samples, 0 lost; fed 12 times; 1 loop has a partition of its own"]
    assert LOOP in world.array("amp_context", 64)
    assert world.array("amp_part", 64)[world.array("amp_context", 64).index(LOOP)] == 1
    assert 0.9 * PAGES < world.array("amp_size", 12)[1] < 1.1 * PAGES


def test_one_round_gives_no_partition(world):
    world.samples.write_bytes(loop(1))
    assert "0 loops have a partition" in world.feed(ID).stdout
    assert not any(any(world.array(name, 12)) for name in ARRAYS)


def test_hints_are_of_the_program_that_loaded_it_and_used_at_once(world):
    world.samples.write_bytes(loop(3))
    assert world.feed(ID).returncode == 0
    program = pathlib.Path(f"/proc/{world.loader.pid}/exe").resolve().name
    assert len(list((world.tmp / "hipec/amp").glob(f"{program}-*.hints"))) == 1
    with world.device.open("r+b") as device:
        device.truncate(0)
        device.truncate(64 * SLOT_BYTES)
    world.samples.write_bytes(b"")
    assert world.feed(ID, "--no-hints").returncode == 0
    assert not any(world.array("amp_part", 64))
    assert world.feed(ID).returncode == 0
    assert LOOP in world.array("amp_context", 64) and any(world.array("amp_part", 64))


def test_hints_go_where_they_are_to_or_nowhere(world):
    world.samples.write_bytes(loop(3))
    assert world.feed(ID, "--no-hints").returncode == 0
    assert not (world.tmp / "hipec").exists()
    assert world.feed(ID, "--hints", world.tmp / "mine").returncode == 0
    assert not (world.tmp / "hipec").exists()
    assert re.search(rf"^{LOOP:016x} +looping ", (world.tmp / "mine").read_text(), re.M)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_and_what_was_learnt_is_kept(world, number):
    feeder = world.start(ID, "--hints", world.tmp / "mine")
    with world.samples.open("wb", buffering=0) as samples:
        samples.write(loop(1)[:32 * 100])
    feeder.send_signal(number)
    out, err = feeder.communicate(timeout=60)
    assert (feeder.returncode, err) == (0, "") and "100 samples" in out
    assert (world.tmp / "mine").read_text().startswith("hipec-amp 1\nframes 1000 used 0\n")


def test_it_ends_when_the_time_is_over(world):
    feeder = world.start(ID, "--no-hints", "--seconds", "0.2")
    assert feeder.communicate(timeout=60)[1] == "" and feeder.returncode == 0


def test_it_ends_when_the_program_has_ended_and_nobody_else_uses_the_container(world):
    feeder = world.start(ID, "--no-hints")
    world.end_loader()
    assert feeder.communicate(timeout=60)[1] == "" and feeder.returncode == 0
