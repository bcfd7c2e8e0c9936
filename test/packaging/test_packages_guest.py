# SPDX-License-Identifier: GPL-2.0-only
"""The packages on a machine of a newcomer: Debian with its own systemd and the stock kernel,
in a guest. They are installed, a program of hers runs under a policy while others look on,
and they are removed, while nobody uses the module and while somebody does. One boot runs
test/packaging/packages/newcomer.sh; each test here looks at one part of what it brought back.

What DKMS builds is built before, in the same root without the guest, whose emulated CPU
would take many minutes; the guest's DKMS gets it as a tarball, its own way to bring what was
built elsewhere, and installs it."""

import json
import random
import re
import shutil
import sqlite3
import subprocess

import pytest

from conftest import BUILD, PACKAGES, ROOT, limit, need, vm
from test_packages import Root

pytestmark = pytest.mark.night
KERNEL = "6.12"
# What apt, dpkg, the loader, groupdel, and systemd of its boot write for themselves: nothing
# else may differ.
OWN = re.compile(r"/var/log/(wtmp|dpkg\.log|apt/(history\.log|term\.log|eipp\.log\.xz))|"
                 r"/var/cache/(apt/(src)?pkgcache\.bin|ldconfig/aux-cache)|"
                 r"/var/lib/(apt/lists/auxfiles|dpkg/status-old)|/etc/g(roup|shadow)-")

# What the kernel has to say of a module that is not its own, and not signed.
SAID = {"a file is attached: the module stays loaded until the machine is booted again",
        "loading out-of-tree module taints kernel.",
        "module verification failed: signature and/or required key missing - tainting kernel"}


def made_by_dkms(root, debs):
    """Let DKMS build the module, and keep that for the guest: nothing else stays."""
    shutil.copy(debs["hipec-dkms"], root.where / "tmp")
    root.run("dpkg --force-unsafe-io -i /tmp/*.deb; rm /tmp/*.deb")
    version = root.run("dpkg-query -W -f '${Version}' hipec-dkms")
    root.run("mkdir /usr/share/hipec-dkms; cd /usr/share/hipec-dkms;"
             f"dkms mktarball hipec/{version} -k {root.releases[0]} --binaries-only"
             f" --archive $PWD/hipec-{version}.dkms.tar.gz; dpkg --purge hipec-dkms")


def table(where):
    """8 MB."""
    rng = random.Random(9)
    db = sqlite3.connect(where)
    db.execute("create table t(a)")
    db.executemany("insert into t values (?)", ((rng.randbytes(1500).hex(),) for _ in range(2000)))
    db.commit()
    db.close()


@pytest.fixture(scope="module")
def disk(debs, tmp_path_factory):
    """The machine's: the kernel's modules and headers, alice and bob, the packages in a folder."""
    need(KERNEL)
    tmp = tmp_path_factory.mktemp("newcomer")
    (tmp / "root").mkdir()
    root = Root(tmp / "root", [KERNEL])
    release = root.releases[0]
    shutil.copytree(vm.cache_dir() / "kernels" / KERNEL / "modules/kernel",
                    root.where / "usr/lib/modules" / release / "kernel")
    root.run(f"depmod {release}; useradd -m alice; useradd -m bob")
    made_by_dkms(root, debs)
    table(root.where / "home/alice/table.db")
    (root.where / "srv/deb").mkdir()
    for path in debs.values():
        shutil.copy(path, root.where / "srv/deb")
    subprocess.run([ROOT / "vm-images/mkdisk.sh", root.where, tmp / "disk.img", "1G"], check=True)
    shutil.rmtree(root.where)
    yield tmp / "disk.img"
    (tmp / "disk.img").unlink()


@pytest.fixture(scope="module")
def day(disk, tmp_path_factory):
    """One boot of it: a Result of run.py."""
    tmp = tmp_path_factory.mktemp("newcomer-guest")
    machine = tmp / "tree/machine"
    machine.mkdir(parents=True)
    for name in ("machine.service", "machine.sh"):
        shutil.copy(ROOT / "test/packaging/packages" / name, machine)
    shutil.copy(ROOT / "test/packaging/packages/newcomer.sh", machine)
    shutil.copy(ROOT / "test/packaging/packages/init", tmp / "tree/init")
    subprocess.run([ROOT / "vm-images/initramfs.sh", "--kernel", KERNEL, "--out", tmp / "guest.img",
                    "--tree", tmp / "tree"], check=True)
    # A console for one, and none of apt's work at night.
    return vm.boot(KERNEL, tmp / "guest.img", BUILD / "newcomer", ["sh", "newcomer.sh"], disk=disk,
                   timeout=limit(KERNEL), append="systemd.wants=machine.service systemd.getty_auto=no "
                                       "systemd.mask=timers.target systemd.show_status=no")


def text(day, name):
    path = day.results / name
    assert path.exists(), f"no {name}: {day.verdict}"
    return path.read_text()


def left(day, name):
    """What is on the disk after a removal that was not before, or was another one, and
    the other way round."""
    def read(name):
        lines = text(day, name).splitlines()
        assert len(lines) > 10000
        return {line for line in lines
                if not OWN.fullmatch(line.split("  ")[-1]) and not OWN.fullmatch(line.split(" ")[0])}
    return sorted(read(name) ^ read("before"))


def test_kernel_has_nothing_to_complain_about(day):
    assert (day.verdict, day.status) == ("ok", 0), day.output
    assert vm.find_splat(text(day, "dmesg")) is None
    said = {line.split("hipec: ")[1] for line in text(day, "dmesg").splitlines() if "] hipec: " in line}
    assert said == SAID


def test_packages_are_installed_by_apt(day):
    for name in ("install.txt", "install-again.txt"):
        lines = text(day, name).splitlines()
        assert lines[-1] == "0", "\n".join(lines)
        done = [re.split("[ :]", line)[2] for line in lines if line.startswith("Setting up ")]
        assert sorted(done) == sorted(PACKAGES)


def test_module_is_loaded_and_its_device_the_group_s(day):
    """When it is installed, and at each boot."""
    for name in ("installed.txt", "booted.txt"):
        loaded, device, group = text(day, name).splitlines()
        assert (loaded, device) == ("1", "root:hipec 660") and group.startswith("hipec:")
    assert text(day, "unloaded.txt").splitlines()[0] == "0"


def test_program_prints_what_it_does_without(day):
    plain = text(day, "plain.out").splitlines()
    assert text(day, "sums.out").splitlines() == plain and len(plain) == 3
    assert int(text(day, "sums.err")) > 1000
    for name in ("looked", "purged"):     # which scanned once more, after others had looked
        assert text(day, f"{name}.out").splitlines() == plain


def test_status_top_log_doctor(day):
    """As alice, while her program has the module."""
    lines = {verb: text(day, f"{verb}.txt").splitlines() for verb in ("status", "top", "log", "doctor")}
    assert [said[-1] for said in lines.values()] == ["0"] * 4, lines
    assert re.search(r"python3 +mru +512 ", lines["status"][1])
    assert lines["top"][0].startswith("1 container, 512 frames") and "mru" in lines["top"][2]
    assert "python3  mru" in lines["log"][1]        # the run before this one
    assert all(re.match("ok|note|  ", line) for line in lines["doctor"][:-1]), lines["doctor"]
    records = json.loads(text(day, "log.json"))
    assert [(record["container"]["comm"], record["container"]["uid"]) for record in records] == \
        [("python3", 1000)] * 2


def test_others_are_refused_and_told_why(day):
    said = text(day, "bob.txt")
    status, doctor, run = re.split(r"^\$ .*\n", said, flags=re.M)[1:]
    assert "its owner or mode does not admit you" in status and status.endswith("\n1\n")
    assert "/dev/hipec is the group hipec's, and you are not in it" in doctor
    assert "adduser" in doctor and doctor.endswith("\n1\n")
    assert "its owner or mode does not admit you" in run and run.endswith("\n1\n")


def test_run_wants_a_cgroup_of_the_user_s_own(day):
    """And says who gives her one; nothing is run."""
    said, status = text(day, "no-cgroup.txt").splitlines()
    assert re.fullmatch(r"hipec run: /sys/fs/cgroup/\S+: it is not yours: systemd-run --user --scope "
                        r"hipec run \.\.\. gives you one that is; nothing was run", said)
    assert status == "1"


def test_module_in_use_is_not_unloaded(day):
    said, status = text(day, "in-use.txt").splitlines()
    assert said.endswith("Module hipec is in use.") and status == "1"


def test_a_unit_attaches_files_until_it_is_stopped(day):
    """A container that outlives the command; the module stays as long."""
    code, said = text(day, "unit.txt").split("\n", 1)
    container, = json.loads(said)
    assert code == "0" and (container["policy"], container["regions"]) == ("arc", 1)
    plain = text(day, "plain.out").splitlines()
    assert text(day, "unit.out").splitlines() == plain
    assert json.loads(text(day, "unit-stopped.txt")) == []


def test_unloads_while_programs_come_and_go(day):
    """Each time it goes or stays, and what programs print is the same."""
    lines = text(day, "busy.txt").splitlines()
    assert len(lines) == 12 and set(lines) <= {"unloaded", "in use"}, lines
    assert text(day, "busy.out") == ""


def test_removal_leaves_nothing_behind(day):
    assert text(day, "purge.txt").splitlines()[-1] == "0"
    loaded, device, *group = text(day, "purged.txt").splitlines()
    assert loaded == "0" and device.endswith("No such file or directory") and not group
    assert not left(day, "after")


def test_removal_leaves_a_module_that_had_a_file_attached(day):
    """Until the machine is booted again. A program that uses it goes on; the device is nobody's but
    root's."""
    assert text(day, "purge-in-use.txt").splitlines()[-1] == "0"
    assert text(day, "purged-in-use.txt").splitlines() == ["1", "root:root 660"]
    assert "is in use" in text(day, "rmmod.txt")
    assert text(day, "ended.txt").splitlines() == ["1", "root:root 660"]
    assert not left(day, "after-in-use")
