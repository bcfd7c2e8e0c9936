# SPDX-License-Identifier: GPL-2.0-only
"""hipec doctor on machines that are made of files: each with one thing wrong, what it says of
that, the command that mends it, and the exit code."""

import json
import os
import re
import shutil
import subprocess

import pytest

from conftest import BUILD, ROOT, VERSION

RELEASE = "6.12.109-amd64"
SECURE_BOOT = "sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
MACHINE_KEYS = "sys/firmware/efi/efivars/MokListRT-605dab50-e046-4300-abb6-3dd810dd8b23"
MODULE = f"usr/lib/modules/{RELEASE}/updates/dkms/hipec.ko"
SIGNATURE = b"~Module signature appended~\n"
# The first that the module is built for, by number and as Debian says it, and later ones.
OLDEST = ["6.1.170", "6.1.0-47-cloud-amd64", "6.1.0-100-amd64", "6.1.200-1", "6.12.107+deb12-amd64",
          "6.12.118+deb13-cloud-amd64", "6.12.200"]
OLDER = ["6.1.169", "6.1.0-46-amd64", "6.1.0", "6.1.17-1", "6.12.106+deb12-amd64", "6.12.99", "6.12.11"]
LIMITS = "Limit                     Soft Limit           Hard Limit           Units\n"


MOUNTS = ("/dev/sda2 / ext4 rw,relatime 0 0\nproc /proc proc rw 0 0\ntmpfs /run tmpfs rw 0 0\n"
          "/dev/sda1 /boot/efi vfat rw 0 0\n/dev/sdb /srv xfs rw,dax=inode 0 0\n"
          "/dev/loop3 /snap/core squashfs ro 0 0\n")
LISTS = "var/lib/apt/lists/deb.debian.org_debian_dists_x_main_binary-amd64_Packages"
BUILT_HERE = "make deb && apt install ./build/deb/hipec-dkms_*.deb, in hipec's sources"
NEW_KERNEL = "apt install linux-image-amd64 linux-headers-amd64 && reboot"


class Machine:
    """Files below a folder: all is well there."""

    def __init__(self, where):
        self.where = where
        self.write("proc/sys/kernel/osrelease", f"{RELEASE}\n")
        self.write("proc/sys/kernel/arch", "x86_64\n")
        self.write("proc/modules", "loop 32768 0 - Live 0x0\nhipec 131072 2 - Live 0x0\n")
        self.write("proc/self/limits", LIMITS + "Max locked memory         unlimited  unlimited\n")
        self.write("proc/self/status", "Name:\thipec\nCapEff:\t0000000000000000\n")
        self.write(f"usr/lib/modules/{RELEASE}/modules.dep", "kernel/a.ko:\nupdates/dkms/hipec.ko:\n")
        self.write(MODULE, b"code" + SIGNATURE)
        self.write("usr/src/headers/Makefile", "")
        # As Debian has them: links that start at the machine's root.
        (where / "lib").symlink_to("/usr/lib")
        (where / f"usr/lib/modules/{RELEASE}/build").symlink_to("/usr/src/headers")
        self.write(f"var/lib/dkms/hipec/{VERSION}/build/make.log", "")
        (where / f"var/lib/dkms/hipec/kernel-{RELEASE}-x86_64").symlink_to(VERSION)
        self.write("dev/hipec", "").chmod(0o666)
        self.write("proc/sys/kernel/ftrace_enabled", "1\n")
        self.write("sys/fs/cgroup/cgroup.procs", "")
        self.write("proc/self/cgroup", "1:name=x:/y\n0::/own\n")
        self.write("sys/fs/cgroup/own/cgroup.procs", "")
        self.write("usr/sbin/dkms", "")
        self.write("proc/self/mounts", MOUNTS)
        self.write("etc/group", f"root:x:0:\nhipecs:x:1:\nhipec:x:{os.getgid()}:\n")

    def write(self, name, content):
        path = self.where / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def remove(self, name):
        (self.where / name).unlink()

    def ask(self, *args, command=(BUILD / "asan/hipec",), **kwargs):
        return subprocess.run([*command, "doctor", "--root", self.where, *args],
                              text=True, capture_output=True, check=False, **kwargs)

    def findings(self, **kwargs):
        """({check: (state, text, mend)}, exit code)"""
        got = self.ask("--json", **kwargs)
        return ({one["check"]: (one["state"], one["text"], one["mend"])
                 for one in json.loads(got.stdout)}, got.returncode)


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path)


def test_all_is_well(machine):
    findings, code = machine.findings()
    assert code == 0
    assert list(findings) == ["kernel", "headers", "dkms", "secure-boot", "module", "device",
                              "memlock", "in-place", "file-systems"]
    for state, _, mend in findings.values():
        assert (state, mend) == ("ok", None)
    assert findings["kernel"][1] == f"{RELEASE}; the module is tested on 6.12 6.1"
    assert findings["file-systems"][1] == "files are taken on all that are mounted: ext4, xfs"


def test_words_say_what_json_says(machine):
    machine.remove("dev/hipec")
    got = machine.ask()
    assert got.returncode == 1
    rows = re.findall(r"^(\w+) +([\w-]+) +(.*)(?:\n +# (.*))?", got.stdout, re.M)
    assert {check: (state, text, mend or None) for state, check, text, mend in rows} == \
        machine.findings()[0]


def wrong(machine, state="wrong", also=()):
    """(check, text, mend) of what is wrong, or noted: there is one, but for what is known."""
    findings, code = machine.findings()
    found = [(check, text, mend) for check, (got, text, mend) in findings.items()
             if got == state and check not in also]
    assert code == (1 if any(got == "wrong" for got, _, _ in findings.values()) else 0)
    assert len(found) == 1, findings
    return found[0]


@pytest.mark.parametrize("release", ["6.11.2-amd64", "5.10.0-30-amd64", "6.1", "6.120.1-amd64", *OLDER])
def test_a_kernel_that_nobody_tested(machine, release):
    """If the module runs there, that is only noted."""
    machine.write("proc/sys/kernel/osrelease", f"{release}\n")
    findings, code = machine.findings()
    assert findings["kernel"][0] == "note" and code == 0
    machine.write("proc/modules", "")
    state, text, mend = machine.findings()[0]["kernel"]
    assert state == "wrong" and text == (f"{release}; the module is built for 6.12 6.1, from "
                                         "6.12.107 6.1.170 6.1.0-47 on")
    assert mend.startswith("apt install linux-image-amd64 ")


@pytest.mark.parametrize("release", OLDEST)
def test_the_oldest_kernels(machine, release):
    machine.write("proc/sys/kernel/osrelease", f"{release}\n")
    assert machine.findings()[0]["kernel"][0] == "ok"


def test_dkms_builds_for_the_same_kernels():
    """Its pattern is searched for, not matched."""
    conf = (ROOT / "packaging/dkms.conf.in").read_text()
    pattern = re.search(r'^BUILD_EXCLUSIVE_KERNEL="(.*)"$', conf, re.M)[1]
    assert all(re.search(pattern, release) for release in [RELEASE, *OLDEST])
    assert not any(re.search(pattern, release) for release in OLDER)


def test_kernels_are_those_of_the_rings():
    """Of the Makefile, as dkms.conf."""
    kernels = re.search(r"^KERNELS \?= (.*)", (ROOT / "vm-images/build.mk").read_text(), re.M)[1]
    assert 'HIPEC_KERNELS=\'"$(KERNELS)"\'' in (ROOT / "userlib/build.mk").read_text()
    assert kernels.split() == ["6.12", "6.1"]


def test_another_architecture(machine):
    machine.write("proc/sys/kernel/arch", "aarch64\n")
    assert wrong(machine) == ("kernel", "the module is for x86_64, and this is aarch64", None)


def test_a_real_time_kernel(machine):
    """Of a series that is tested, but for that."""
    machine.write("proc/sys/kernel/osrelease", "6.12.109-rt-amd64\n")
    machine.write("proc/sys/kernel/version", "#1 SMP PREEMPT_RT Debian 6.12.109-1 (2026-01-01)\n")
    state, text, mend = machine.findings()[0]["kernel"]
    assert (state, text) == ("wrong", "6.12.109-rt-amd64; the module is not built for real-time kernels")
    assert mend.startswith("apt install linux-image-amd64 ")
    machine.write("proc/sys/kernel/version", "#1 SMP PREEMPT_DYNAMIC Debian 6.12.109-1\n")
    assert machine.findings()[0]["kernel"][0] == "ok"


def test_not_loaded(machine):
    machine.write("proc/modules", "hipecs 1 0 - Live 0x0\n")
    assert wrong(machine) == ("module", "it is there, and not loaded", "modprobe hipec")


def test_nothing_installed(machine):
    """Each thing says what it wants."""
    machine.write("proc/modules", "")
    machine.write(f"usr/lib/modules/{RELEASE}/modules.dep", "kernel/hipec.txt:\n")
    machine.remove("usr/src/headers/Makefile")
    machine.remove("dev/hipec")
    subprocess.run(["rm", "-r", machine.where / "var"], check=True)
    findings, code = machine.findings()
    assert code == 1
    assert findings["headers"] == ("wrong", f"there are none of {RELEASE}, which the module is "
                                   "built with", f"apt update && apt install linux-headers-{RELEASE}")
    assert findings["dkms"][0::2] == findings["module"][0::2] == ("wrong", BUILT_HERE)
    assert findings["device"] == ("note", "/dev/hipec comes when the module is loaded", None)


def test_dkms_did_not_build_it(machine):
    machine.write("proc/modules", "")
    machine.write(f"usr/lib/modules/{RELEASE}/modules.dep", "")
    machine.remove(f"var/lib/dkms/hipec/kernel-{RELEASE}-x86_64")
    findings, _ = machine.findings()
    command = f"dkms install hipec/{VERSION} -k {RELEASE}"
    assert findings["dkms"] == ("wrong", f"hipec/{VERSION} is not installed for {RELEASE}; it was not "
                                f"built, see /var/lib/dkms/hipec/{VERSION}/build/make.log", command)
    assert findings["module"][0::2] == ("wrong", command)


def test_a_module_that_runs_is_well_without_headers_and_dkms(machine):
    """The next kernel will miss them: it is said."""
    machine.remove("usr/src/headers/Makefile")
    assert wrong(machine, "note")[0] == "headers"
    subprocess.run(["rm", "-r", machine.where / "var"], check=True)
    assert wrong(machine, "note", also=["headers"])[::2] == ("dkms", BUILT_HERE)


def packages(*names):
    return "".join(f"Package: {name}\nVersion: 1\nDescription: of it\n\n" for name in names)


@pytest.mark.parametrize("listed, headers", [
    ([f"linux-headers-{RELEASE}"], f"apt install linux-headers-{RELEASE}"),
    (["linux-headers-6.12.110-amd64", f"linux-headers-{RELEASE}-dbg"], NEW_KERNEL)])
def test_headers_are_named_if_an_archive_has_them(machine, listed, headers):
    """Else a kernel that has some; apt's lists say which."""
    machine.write("proc/modules", "")
    machine.remove("usr/src/headers/Makefile")
    machine.write(LISTS, packages("libc6", *listed, "zsh"))
    state, text, mend = machine.findings()[0]["headers"]
    assert (state, mend) == ("note", headers)
    assert ("no archive of this machine has them" in text) == (headers == NEW_KERNEL)


def test_the_module_is_named_as_it_can_be_had(machine):
    """From an archive that has it; from its installed sources; else from a package to build."""
    machine.write("proc/modules", "")
    machine.write(f"usr/lib/modules/{RELEASE}/modules.dep", "")
    subprocess.run(["rm", "-r", machine.where / "var"], check=True)
    assert machine.findings()[0]["module"][2] == BUILT_HERE
    machine.write(f"usr/src/hipec-{VERSION}/dkms.conf", "")
    assert machine.findings()[0]["module"][2] == f"dkms install hipec/{VERSION} -k {RELEASE}"
    machine.remove("usr/sbin/dkms")
    assert machine.findings()[0]["dkms"][2] == \
        f"apt install dkms && dkms install hipec/{VERSION} -k {RELEASE}"
    machine.write(LISTS, packages("hipec-dkms"))
    assert machine.findings()[0]["module"][2] == "apt install hipec-dkms"


def test_nothing_is_to_be_built_for_a_kernel_that_nobody_tested(machine):
    """DKMS would refuse: the kernel comes first."""
    machine.write("proc/sys/kernel/osrelease", "6.18.1-own\n")
    machine.write("proc/modules", "")
    findings, code = machine.findings()
    assert code == 1 and findings["kernel"][2] == NEW_KERNEL
    assert findings["headers"][0::2] == findings["dkms"][0::2] == ("wrong", None)
    assert findings["module"][0::2] == ("wrong", None)


LOCKED = {"secure boot": (SECURE_BOOT, b"\6\0\0\0\1"),
          "integrity": ("sys/kernel/security/lockdown", "none [integrity] confidentiality\n"),
          "confidentiality": ("sys/kernel/security/lockdown", "none integrity [confidentiality]\n")}


@pytest.mark.parametrize("how", LOCKED)
def test_a_signature_is_wanted(machine, how):
    """The module has one and its key is known; or not."""
    machine.write(*LOCKED[how])
    assert machine.findings()[0]["secure-boot"][0] == "ok"
    machine.write("proc/modules", "")
    machine.write("var/lib/dkms/mok.pub", b"\x30\x82key\0\xff")
    machine.write(MACHINE_KEYS, b"\6\0\0\0list\0\x30\x82key\0\xfe")
    assert wrong(machine, also=["module"]) == (
        "secure-boot", "the module is signed with a key that the firmware does not know",
        "mokutil --import /var/lib/dkms/mok.pub && reboot")
    machine.write(MACHINE_KEYS, b"\6\0\0\0list\0\x30\x82key\0\xff\0")
    assert wrong(machine)[0] == "module"
    machine.write(MODULE, b"code")
    assert wrong(machine, also=["module"]) == (
        "secure-boot", "modules need a signature, and the module has none",
        f"dkms install --force hipec/{VERSION} -k {RELEASE}")


@pytest.mark.parametrize("name, content", [(SECURE_BOOT, b"\6\0\0\0\0"), (SECURE_BOOT, b"\1\1\1\1"),
                                           ("sys/kernel/security/lockdown", "[none] integrity\n")])
def test_no_signature_is_wanted(machine, name, content):
    machine.write("proc/modules", "")
    machine.write(MODULE, b"code")
    machine.write(name, content)
    assert wrong(machine)[0] == "module"


def without_rights(machine):
    """(findings, exit code) for a caller with no more than a file's mode gives. Root gives up its
    rights, then comes no further than others: not to this clone, where a private home has it."""
    command = [BUILD / "asan/hipec"]
    if not os.getuid():
        command = ["setpriv", "--bounding-set=-all", "--inh-caps=-all",
                   shutil.copy(*command, machine.where)]
    return machine.findings(command=command, env={"ASAN_OPTIONS": "detect_leaks=0"})


def test_a_device_of_the_group(machine):
    (machine.where / "dev/hipec").chmod(0o000)
    findings, code = without_rights(machine)
    state, text, mend = findings["device"]
    assert (state, text) == ("wrong", "/dev/hipec is the group hipec's, and you are not in it")
    assert code == 1
    assert re.fullmatch(r"adduser \S+ hipec, and log in again", mend)


@pytest.mark.parametrize("group, prefix", [("hipec:x:4242:\n", ""),
                                           ("hipecs:x:0:\n", "groupadd -r hipec && ")])
def test_a_device_without_the_group(machine, group, prefix):
    machine.write("etc/group", group)
    (machine.where / "dev/hipec").chmod(0o000)
    assert without_rights(machine)[0]["device"] == (
        "wrong", "/dev/hipec is not the group hipec's (mode 0000)",
        f"{prefix}udevadm control --reload && udevadm trigger --name-match=hipec")


def test_no_device_though_the_module_is_loaded(machine):
    machine.remove("dev/hipec")
    assert wrong(machine)[::2] == ("device", "udevadm trigger --name-match=hipec")


def test_locked_memory(machine):
    """A limit is noted, unless the caller need not mind it."""
    machine.write("proc/self/limits", LIMITS + "Max locked memory         8388608   8388608  bytes\n")
    check, text, mend = wrong(machine, "note")
    assert (check, text) == ("memlock", "budgets end at 8.0 MiB; shares (--share) do not")
    assert "@hipec - memlock unlimited" in mend
    machine.write("proc/self/status", "Name:\thipec\nCapEff:\t0000000000004000\n")
    assert machine.findings()[0]["memlock"][0] == "ok"


@pytest.mark.parametrize("name", ["own", "own/cgroup.procs"])
def test_a_cgroup_of_the_caller_s_own(machine, name):
    """As hipec run wants one: to make another in, and to go there from it."""
    (machine.where / "sys/fs/cgroup" / name).chmod(0o555 if name == "own" else 0o444)
    findings, code = without_rights(machine)
    assert findings["in-place"] == (
        "note", "your cgroup, /sys/fs/cgroup/own, is not yours to make others in, and hipec run runs "
        "nothing", "systemd-run --user --scope hipec run ...")
    assert code == 0


def test_a_root_that_is_not_there(machine):
    got = subprocess.run([BUILD / "asan/hipec", "doctor", "--root", machine.where / "none"],
                         text=True, capture_output=True, check=False)
    assert got.returncode == 1 and got.stderr.endswith("none: No such file or directory\n")


@pytest.mark.parametrize("mounts, state, says", [
    ("/dev/sda / btrfs rw 0 0\n", "ok", "on all that are mounted: btrfs"),
    ("/dev/sda / ext4 rw 0 0\nbox:/srv /srv nfs4 rw 0 0\ntank/home /home zfs rw 0 0\n", "note",
     "not on /srv (nfs4), /home (zfs)"),
    ("/dev/sda / ext4 rw 0 0\n/dev/pmem0 /pmem xfs rw,dax=always,noatime 0 0\n", "note",
     "not on /pmem (xfs, DAX)"),
    ("/dev/sda / ext4 rw 0 0\n/dev/pmem0 /pmem ext4 rw,dax 0 0\n", "note", "not on /pmem (ext4, DAX)"),
    ("overlay / overlay rw 0 0\n/dev/sda /etc/hosts f2fs rw 0 0\n", "note", "none is mounted")])
def test_file_systems(machine, mounts, state, says):
    """That module/cache/file.c takes files of, among those that users have files on."""
    machine.write("proc/self/mounts", mounts)
    found = machine.findings()[0]["file-systems"]
    assert (found[0], found[2]) == (state, None) and found[1].endswith(says)
    source = (ROOT / "module/cache/file.c").read_text()
    assert set(re.findall(r"s_magic != (\w+)_SUPER_MAGIC", source)) == {"EXT4", "XFS", "BTRFS"}


def test_files_as_programs_open_them(machine):
    """hipec attach takes them by name where cgroups or hooks are missing, so it is a note."""
    assert machine.findings()[0]["in-place"] == ("ok", "files are had in place as programs open them", None)
    machine.write("proc/sys/kernel/ftrace_enabled", "0\n")
    state, text, mend = machine.findings()[0]["in-place"]
    assert (state, mend) == ("note", "sysctl kernel.ftrace_enabled=1") and "are off" in text
    machine.remove("proc/sys/kernel/ftrace_enabled")
    state, text, mend = machine.findings()[0]["in-place"]
    assert (state, mend) == ("note", None) and "has no hooks of functions" in text
    machine.remove("sys/fs/cgroup/cgroup.procs")
    found, code = machine.findings()
    assert found["in-place"][0] == "note" and "version 2" in found["in-place"][1] and code == 0
    assert "unified" not in found["in-place"][1]
    (machine.where / "sys/fs/cgroup/memory").mkdir()
    assert "systemd.unified_cgroup_hierarchy=1" in machine.findings()[0]["in-place"][1]
