# SPDX-License-Identifier: GPL-2.0-only
"""The guests themselves: that vm-images/ brings back the truth about a run."""

import importlib.util
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

import pytest

VM_IMAGES = pathlib.Path(__file__).resolve().parents[2] / "vm-images"
SPEC = importlib.util.spec_from_file_location("vm_run", VM_IMAGES / "run.py")
vm = importlib.util.module_from_spec(SPEC)
sys.modules["vm_run"] = vm
SPEC.loader.exec_module(vm)

KERNELS = ["6.12", "6.1"]


def call(script, *args, **kwargs):
    """Run a script of vm-images/ as make does: nobody at the keyboard."""
    return subprocess.run([VM_IMAGES / script, *map(str, args)], text=True, check=False,
                          stdin=subprocess.DEVNULL, capture_output=True, **kwargs)


def need(kernel):
    """Skip unless kernels.sh has fetched the kernel."""
    if not (vm.cache_dir() / "kernels" / kernel / "release").exists():
        pytest.skip(f"kernel {kernel} is not in {vm.cache_dir()}: make kernels")


def stub(directory, name, script):
    """Put a fake program into a directory for PATH."""
    directory.mkdir(exist_ok=True)
    path = directory / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def environment(directory):
    """Our environment, with fakes in front."""
    return {**os.environ, "PATH": f"{directory}:{os.environ['PATH']}"}


# Splats: every kind of complaint ends a run as broken, and nothing that a
# healthy guest prints does. The texts are what the kernels print, the last ones
# only those that were built to find bugs.

@pytest.mark.parametrize("line", [
    "[   12.345678] BUG: kernel NULL pointer dereference, address: 0000000000000010",
    "[   12.345678][  T123] BUG: KASAN: slab-use-after-free in hipec_fault+0x10/0x20 [hipec]",
    "[   12.345678] BUG: sleeping function called from invalid context at mm/slab.h:1",
    "[   12.345678] BUG: Bad page state in process cat  pfn:12345",
    "[   12.345678] kernel BUG at mm/memory.c:100!",
    "[   12.345678] Oops: 0002 [#1] PREEMPT SMP NOPTI",
    "[   12.345678] Oops: general protection fault, probably for 0xdead: 0000 [#1] SMP",
    "[   12.345678] divide error: 0000 [#1] PREEMPT SMP NOPTI",
    "[   12.345678] Kernel panic - not syncing: sysrq triggered crash",
    "[   12.345678] WARNING: CPU: 0 PID: 9 at mm/memory.c:1 hipec_init+0x5/0x9 [hipec]",
    "[   12.345678] WARNING: possible circular locking dependency detected",
    "[   12.345678] WARNING: suspicious RCU usage",
    "[   12.345678] INFO: task cat:123 blocked for more than 30 seconds.",
    "[   12.345678] INFO: trying to register non-static key.",
    "[   12.345678] rcu: INFO: rcu_preempt self-detected stall on CPU",
    "[   12.345678] watchdog: BUG: soft lockup - CPU#0 stuck for 22s! [cat:123]",
    "some output[   12.345678] BUG: unable to handle page fault for address: ffff8880",
    "[   12.345678] BUG: KASAN: null-ptr-deref in hipec_fault+0x10/0x20 [hipec]",
    "[   12.345678] BUG: KASAN: vmalloc-out-of-bounds in hipec_vm_run+0x10/0x20 [hipec]",
    "[   12.345678] BUG kmalloc-64 (Tainted: G           O      ): Poison overwritten",
    "[   12.345678] BUG hipec (Not tainted): Objects remaining in hipec on __kmem_cache_shutdown()",
    "[   12.345678] UBSAN: array-index-out-of-bounds in module/vm/run.c:10:3",
    "[   12.345678] UBSAN: shift-out-of-bounds in module/vm/ops_int.c:10:3",
    "[   12.345678] BUG: scheduling while atomic: cat/123/0x00000002",
    "[   12.345678] BUG: using smp_processor_id() in preemptible [00000000] code: cat/123",
    "[   12.345678] WARNING: possible recursive locking detected",
    "[   12.345678] WARNING: possible irq lock inversion dependency detected",
    "[   12.345678] WARNING: SOFTIRQ-safe -> SOFTIRQ-unsafe lock order detected",
    "[   12.345678] WARNING: inconsistent lock state",
    "[   12.345678] WARNING: bad unlock balance detected!",
    "[   12.345678] WARNING: held lock freed!",
    "[   12.345678] WARNING: lock held when returning to user space!",
    "[   12.345678] [ BUG: Invalid wait context ]",
    "[   12.345678] BUG: MAX_LOCKDEP_CHAINS too low!",
    "[   12.345678] rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:",
    "[   12.345678] rcu: INFO: rcu_sched detected expedited stalls on CPUs/tasks: { 1-... }",
    "[   12.345678] rcu: INFO: rcu_tasks detected stalls on tasks:",
    "[   12.345678] BUG: workqueue leaked atomic, lock or RCU: kworker/0:1[9]",
    "[   12.345678] BUG: workqueue lockup - pool cpus=0 node=0 flags=0x0 nice=0 stuck for 30s!",
    "[   12.345678] kmemleak: 1 new suspected memory leaks (see /sys/kernel/debug/kmemleak)",
    "[   12.345678] kmemleak: 12 new suspected memory leaks (see /sys/kernel/debug/kmemleak)",
])
def test_a_complaint_of_the_kernel_is_found(line):
    found = vm.find_splat(f"before\n{line}\nafter\n")
    assert found == (line, f"before\n{line}\nafter\n")


STANDSTILLS = [
    "[  417.187821] watchdog: BUG: soft lockup - CPU#0 stuck for 92s! [kworker/u9:3:101]",
    "[  417.316563] rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:",
    "[   12.345678] BUG: workqueue lockup - pool cpus=0 node=0 flags=0x0 nice=0 stuck for 30s!",
    "[  417.316563] INFO: task sweep:1 blocked for more than 30 seconds.",
]


def test_what_hangs_while_the_host_stands_still_is_no_complaint():
    """And whatever else the kernel says is."""
    bug = "[  418.000000] BUG: KASAN: use-after-free in hipec_vm_run"
    for line in STANDSTILLS:
        assert vm.find_splat(f"{line}\n", stood=vm.STILL_SECONDS - 1)[0] == line
        assert vm.find_splat(f"{line}\n", stood=vm.STILL_SECONDS) is None
    assert vm.find_splat("\n".join([*STANDSTILLS, bug]), stood=90)[0] == bug


def test_a_host_that_stands_still_is_noticed(tmp_path):
    class Guest:
        """One whose host does nothing for a while before it ends."""
        left = 3

        def poll(self):
            self.left -= 1
            if self.left == 1:
                time.sleep(0.5)
            return None if self.left else 0

    (tmp_path / "console").touch()
    in_time, stood = vm.follow(Guest(), tmp_path / "console", 60, False)
    assert in_time and 0.5 <= stood < 5


@pytest.mark.parametrize("line", [
    "[    3.524298] hipec: loading out-of-tree module taints kernel.",
    "[    3.524681] hipec: module verification failed: signature and/or required key "
    "missing - tainting kernel",
    "[    0.123456] Spectre V2 : WARNING: Unprivileged eBPF is enabled with eIBRS on",
    "[    1.086638] mtrr: your CPUs had inconsistent fixed MTRR settings",
    "[    2.557948] Unstable clock detected, switching default tracing clock to \"global\"",
    "[    9.000000] traps: test[99] general protection fault ip:401000 sp:7ffe error:0",
    "[    9.000000] test[99]: segfault at 0 ip 0000000000401000 sp 00007ffe error 4",
    "[    9.000000] Out of memory: Killed process 99 (test) total-vm:1kB",
    "[    9.000000] kmemleak: Kernel memory leak detector initialized",
    "[    9.000000] kmemleak: Automatic memory scanning thread started",
    "[    9.000000] Lock dependency validator: Copyright (c) 2006 Red Hat, Inc., Ingo Molnar",
    "[    9.000000] FAULT_INJECTION: forcing a failure.",
    "WARNING: a program may say what it likes",
    "BUG: so may this one",
])
def test_an_innocent_line_is_no_complaint(line):
    assert vm.find_splat(f"{line}\n") is None


# The scripts without a guest.

def test_run_refuses_bad_requests_as_usage_errors():
    for args in (["--kernel", "6.12", "--initrd", "x"],
                 ["--kernel", "6.12", "--initrd", "x", "--shell", "--", "true"],
                 ["--kernel", "no-such-kernel", "--initrd", "/bin/sh", "--", "true"]):
        assert call("run.py", *args).returncode == 2


def test_kernels_are_told_their_clock():
    """That of this machine, where it says how fast it is."""
    assert re.fullmatch(r"(tsc=reliable tsc_early_khz=\d+000)?", vm.clock_words())


@pytest.mark.guest
def test_run_refuses_what_cannot_repeat(tmp_path):
    need("6.12")
    for request in ({"smp": 2}, {"disk": __file__}):
        with pytest.raises(vm.UsageError):
            vm.boot("6.12", __file__, tmp_path, ["true"], det=True, **request)


def test_the_command_archive_is_what_cpio_reads(tmp_path):
    files = {"hipec/command": b"echo hi\n", "a/b/c": b""}
    subprocess.run(["cpio", "--quiet", "-i"], input=vm.cpio(files), cwd=tmp_path, check=True)
    assert {str(path.relative_to(tmp_path)): path.read_bytes()
            for path in tmp_path.rglob("*") if path.is_file()} == files


def test_a_torn_result_stream_has_no_status(tmp_path):
    (tmp_path / "results").mkdir()
    (tmp_path / "results/file").write_text("text")
    (tmp_path / "status").write_text("7\n")
    whole, torn = tmp_path / "whole.tar", tmp_path / "torn.tar"
    subprocess.run(["tar", "-cf", whole, "results", "status"], cwd=tmp_path, check=True)
    torn.write_bytes(whole.read_bytes()[:2048])
    assert vm.unpack(whole, tmp_path / "out") == 7
    assert (tmp_path / "out/file").read_text() == "text"
    assert vm.unpack(torn, tmp_path / "out") is None


def test_packages_is_silent_and_leaves_apt_alone_when_all_is_there(tmp_path):
    stub(tmp_path, "apt-get", "echo called; exit 1")
    done = call("packages.sh", "bash", "dpkg", env=environment(tmp_path))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("apt_status, steps", [
    (0, ["install"]), (100, ["install", "update"])])
def test_packages_says_first_and_updates_only_after_a_failure(tmp_path, apt_status, steps):
    # Arguments of apt-get, without options and packages, show what it did.
    stub(tmp_path, "apt-get", f"""
        for word; do case $word in install|update) echo did $word;; esac; done
        exit {apt_status}""")
    stub(tmp_path, "sudo", 'shift; exec "$@"')
    done = call("packages.sh", "bash", "hipec-no-such", env=environment(tmp_path))
    first, *rest = done.stderr.splitlines()
    assert first.endswith("installing: hipec-no-such")
    assert [line.split()[1] for line in rest if line.startswith("did ")] == steps
    assert done.returncode == (1 if apt_status else 0)
    if apt_status:
        assert rest[-1].endswith("apt-get install -y --no-install-recommends hipec-no-such")


def test_kernels_refuses_an_unknown_key():
    assert call("kernels.sh", "5.10").returncode == 2
    assert call("testkernels.sh", "6.12").returncode == 2


def test_kernels_tells_absent_from_broken(tmp_path):
    # Debian 13, in short: one kernel of its own, and no other.
    stub(tmp_path, "apt-cache", """case $1 in
        depends) echo "  Depends: ${3%-cloud-amd64}-6.12.1-cloud-amd64" ;;
        esac""")
    stub(tmp_path, "apt-get", "exit 100")
    done = call("kernels.sh", "6.1", env={**environment(tmp_path), "HIPEC_CACHE": str(tmp_path)})
    assert done.returncode == 3
    assert "offers no 6.1 cloud kernel" in done.stderr


def test_testkernels_tells_absent_from_broken(tmp_path):
    stub(tmp_path, "apt-cache", "exit 100")
    stub(tmp_path, "apt-get", "exit 0")
    stub(tmp_path, "sudo", 'shift; exec "$@"')
    done = call("testkernels.sh", "debug", env={**environment(tmp_path), "HIPEC_CACHE": str(tmp_path)})
    assert done.returncode == 3
    assert "offers no linux-source-6.12" in done.stderr


# As much of a kernel's source as testkernels.sh looks at. Its kconfig drops
# what $KCONFIG_DROPS matches.
KERNEL_SOURCE = """# SPDX-License-Identifier: GPL-2.0-only
tinyconfig: ; touch .config
olddefconfig: ; sed -i "/$${KCONFIG_DROPS:-none}/d" .config
bzImage: ; mkdir arch/x86/boot; cp .config arch/x86/boot/bzImage
modules: ; touch modules.builtin modules.builtin.modinfo modules.order Module.symvers
"""


@pytest.fixture
def source(tmp_path):
    """A Debian that has only that kernel source: its environment."""
    tree = tmp_path / "linux-source-6.12"
    for path in ("arch/x86/Makefile", "arch/x86/include/a.h", "include/config/kernel.release",
                 "include/a.h", "mm/memory.c", "scripts/mod.o", "scripts/modpost",
                 "tools/objtool/objtool"):
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_text("6.12.0-debug\n")
    (tree / "Makefile").write_text(KERNEL_SOURCE)
    (tmp_path / "usr/src").mkdir(parents=True)
    subprocess.run(["tar", "-cJf", "usr/src/linux-source-6.12.tar.xz", tree.name], cwd=tmp_path,
                   check=True)
    fakes = tmp_path / "fakes"
    stub(fakes, "apt-cache", "echo Version: 6.12-1")
    stub(fakes, "apt-get", f"tar -cf source.deb -C {tmp_path} ./usr")
    stub(fakes, "dpkg-deb", 'cat "$2"')
    return {**environment(fakes), "HIPEC_CACHE": str(tmp_path / "cache")}


def test_testkernels_keeps_what_modules_need_and_no_more(source):
    done = call("testkernels.sh", "debug", env=source)
    assert done.returncode == 0, done.stderr
    assert "building the debug kernel from linux-source-6.12 6.12-1" in done.stderr
    kernel = pathlib.Path(source["HIPEC_CACHE"], "kernels/debug")
    assert (kernel / "release").read_text() == "6.12.0-debug\n"
    assert "CONFIG_KUNIT=y" in (kernel / "vmlinuz").read_text()
    assert (kernel / "modules/kernel").is_dir()
    for kept in ("include/a.h", "scripts/modpost", "tools/objtool/objtool"):
        assert (kernel / "build" / kept).exists()
    for gone in ("build/mm", "build/scripts/mod.o", "source", "log", "fragment"):
        assert not (kernel / gone).exists()
    again = call("testkernels.sh", "debug", env=source)
    assert (again.returncode, again.stdout, again.stderr) == (0, "", "")


@pytest.mark.parametrize("name, before, after, built", [
    ("config/debug.config", "# What finds bugs.", "# What finds more bugs.\n", False),
    ("config/debug.config", "CONFIG_KSM=y", "# CONFIG_KSM is not set", True),
    ("config/debug.config", "#: slower 10", "#: slower 11", True),
    ("testkernels.sh", "# Kconfig drops", "# As ever, Kconfig drops", False),
    ("testkernels.sh", "make -s olddefconfig", "make -s olddefconfig W=1", True),
])
def test_testkernels_builds_anew_what_would_be_another_kernel(source, tmp_path, name, before,
                                                              after, built):
    ours = tmp_path / "vm-images"
    shutil.copytree(VM_IMAGES, ours)
    said = [subprocess.run([ours / "testkernels.sh", "debug"], env=source, text=True, check=True,
                           capture_output=True).stderr]
    text = (ours / name).read_text()
    assert text.count(before) == 1
    (ours / name).write_text(text.replace(before, after))
    said.append(subprocess.run([ours / "testkernels.sh", "debug"], env=source, text=True,
                               check=True, capture_output=True).stderr)
    assert ["building the debug kernel" in one for one in said] == [True, built]


def test_testkernels_takes_no_kernel_that_lacks_what_was_asked_for(source):
    done = call("testkernels.sh", "debug", env={**source, "KCONFIG_DROPS": "CONFIG_KASAN="})
    assert done.returncode == 1
    assert "asked for CONFIG_KASAN=y, got CONFIG_KASAN=n" in done.stderr
    assert not list(pathlib.Path(source["HIPEC_CACHE"], "kernels").glob("[!.]*"))


@pytest.mark.guest
def test_the_same_files_make_the_same_guest(tmp_path):
    need("6.12")
    tree = tmp_path / "tree"
    tree.mkdir()
    images = [tmp_path / "a", tmp_path / "b"]
    for umask, image in zip((0o022, 0o077), images):
        (tree / "file").write_text("text")
        os.utime(tree / "file", (umask, umask))     # any two times that differ
        done = call("initramfs.sh", "--kernel", "6.12", "--out", image, "--tree", tree,
                    umask=umask)
        assert (done.returncode, done.stderr) == (0, "")
    assert images[0].read_bytes() == images[1].read_bytes()


def test_the_same_files_make_the_same_disk(tmp_path):
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "file").write_text("text")
    # The first reading of a file sets its access time, later ones do not.
    for image in ("first", "a", "b"):
        assert call("mkdisk.sh", tree, tmp_path / image, "16M").returncode == 0
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


# Guests.

@pytest.fixture(scope="module")
def guest(tmp_path_factory):
    """guest(kernel): a bare guest for it, built once."""
    built = {}

    def build(kernel):
        need(kernel)
        if kernel not in built:
            built[kernel] = tmp_path_factory.mktemp("guest") / kernel
            subprocess.run([VM_IMAGES / "initramfs.sh", "--kernel", kernel,
                            "--out", built[kernel]], check=True)
        return built[kernel]
    return build


# What the tests of the module stand on, in one boot: a data disk, a modelled
# disk with a file system, a memory limit, dm, files back, and a status.
HOUSE = """
set -e
cp /data/file /results/from-data
disk=/sys/kernel/config/nullb/disk
mkdir $disk
echo 1 >$disk/memory_backed
echo 2 >$disk/irqmode
echo 100000 >$disk/completion_nsec
echo 500 >$disk/mbps
echo 64 >$disk/size
echo 1 >$disk/power
mkfs.ext4 -q /dev/disk
mkdir m
mount /dev/disk m
dd if=/dev/zero of=m/file bs=1M count=40
sync
echo 3 >/proc/sys/vm/drop_caches
mkdir /sys/fs/cgroup/small
echo 16M >/sys/fs/cgroup/small/memory.max
echo 0 >/sys/fs/cgroup/small/cgroup.procs
cat m/file >/dev/null
mkdir /results/deep
cp /sys/fs/cgroup/small/memory.events /results/deep/
cp /sys/block/disk/stat /results/
modprobe dm-flakey
echo 'BUG: only a program says so'
exit 7
"""


@pytest.mark.guest
@pytest.mark.parametrize("kernel", KERNELS)
def test_a_guest_has_what_the_tests_stand_on(kernel, guest, tmp_path):
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "file").write_text("from the host")
    call("mkdisk.sh", tree, tmp_path / "disk", "16M")
    before = (tmp_path / "disk").read_bytes()
    run = vm.boot(kernel, guest(kernel), tmp_path, ["sh", "-c", HOUSE], disk=tmp_path / "disk")
    assert (run.status, run.verdict) == (7, "ok"), run.console
    assert "BUG: only a program says so" in run.output
    assert (run.results / "from-data").read_text() == "from the host"
    events = dict(line.split() for line in
                  (run.results / "deep/memory.events").read_text().splitlines())
    assert int(events["max"]) > 0       # the limit was felt,
    assert int(events["oom"]) == 0      # and reclaim answered it
    written = int((run.results / "stat").read_text().split()[6])
    assert written * 512 >= 40 << 20
    assert (tmp_path / "disk").read_bytes() == before


@pytest.mark.guest
def test_a_crash_breaks_the_run_whatever_the_command_says(guest, tmp_path):
    done = call("run.py", "--kernel", "6.12", "--initrd", guest("6.12"), "--out", tmp_path,
                "--", "sh", "-c", "echo c >/proc/sysrq-trigger; exit 0")
    assert done.returncode == vm.BROKEN
    assert "Kernel panic - not syncing: sysrq triggered crash" in done.stderr


NO_INIT = "rdinit=/none"      # the kernel panics, for it finds none
SILENT = "rdinit=/bin/sleep -- 999"      # it says nothing


@pytest.mark.guest
@pytest.mark.parametrize("wrong, fail, boots, verdict", [
    (NO_INIT, 1, 2, "ok"), (NO_INIT, 9, vm.BOOTS, "the kernel reported"),
    (SILENT, 1, 2, "ok"), (SILENT, 9, vm.BOOTS, "not done after 20 s")])
def test_a_kernel_that_fails_before_user_space_is_booted_again(
        guest, tmp_path, monkeypatch, capsys, wrong, fail, boots, verdict):
    """Nothing of ours has run by then. The first @fail boots go wrong. With one CPU the emulator
    breaks none of them."""
    start, appends = vm.start_machine, []

    def started(kernel, console, scratch, append, **kwargs):
        appends.append(append)
        append = wrong if len(appends) <= fail else append
        return start(kernel, console, scratch, append, **kwargs)

    monkeypatch.setattr(vm, "start_machine", started)
    monkeypatch.setattr(vm, "LOOK_SECONDS", 1)
    seconds = 30 if wrong == NO_INIT or fail == 1 else 5
    monkeypatch.setattr(vm, "BOOT_SECONDS", seconds)
    run = vm.boot("6.12", guest("6.12"), tmp_path, ["sh", "-c", "echo here"],
                  timeout=20 if fail > 1 else 120, keep_writes=True, smp=1)
    assert (len(appends), run.ok) == (boots, verdict == "ok")
    assert run.verdict.startswith(verdict)
    assert ("here" in run.output) == run.ok
    why = {NO_INIT: "before user space was up", SILENT: f"no user space after {seconds} s"}[wrong]
    assert capsys.readouterr().err.count(f"booting again: {why}") == boots - 1


def test_what_comes_with_user_space_is_no_failed_boot():
    splat = "[    1.000000] Kernel panic - not syncing: why\n"
    assert vm.failed_to_boot(splat + vm.UP) == splat.strip()
    assert vm.failed_to_boot(vm.UP + "\n" + splat) is None


HANGS = """\
[  150.039783] rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:
[  150.099602]  exc_int3+0x44/0x120
[  150.099602]  asm_exc_int3+0x35/0x40
[  150.099602] RIP: 0010:do_dentry_open+0x0/0x410
[  150.099602] Code: cc cc cc 66 0f 1f 84 00 00 00 00 00 <0f> 1f 44 00 00 41 56
"""


def test_a_breakpoint_that_is_not_there_is_the_emulators():
    assert vm.stale_code(HANGS) == vm.stale_code(HANGS.replace("\n", "\r\n")) == "do_dentry_open"
    for text in (HANGS.replace("<0f>", "<cc>"), HANGS.replace("+0x0/", "+0x1/"),
                 HANGS.replace("asm_exc_int3", "asm_exc_page_fault")):
        assert vm.stale_code(text) is None


# The kernel asked all that set breakpoints, and none had this one.
DIES = """\
[   23.896131] Oops: int3: 0000 [#1] PREEMPT SMP NOPTI
[   23.896419] CPU: 0 UID: 0 PID: 393 Comm: md5sum Tainted: G           OE      6.12.117
[   23.896547] Tainted: [O]=OOT_MODULE, [E]=UNSIGNED_MODULE
[   23.896556] Hardware name: QEMU Standard PC (i440FX + PIIX, 1996)
[   23.896616] RIP: 0010:do_dentry_open+0x1/0x580
[   23.896812] Code: 90 90 90 90 90 0f <1f> 44 00 00 41 57 41 56
"""


def test_a_breakpoint_that_kills_and_is_not_there_is_found():
    """At a function's entry, or within it where a static key is. One that is there is a bug; one
    in a module might be."""
    assert vm.stale_code(DIES) == vm.stale_code(DIES.replace("\n", "\r\n")) == "do_dentry_open"
    assert vm.stale_code(DIES.replace("+0x1/", "+0x105/")) == "do_dentry_open"
    for text in (DIES.replace("0f <", "cc <"), DIES.replace("/0x580", "/0x580 [hipec]"),
                 DIES.replace("int3", "invalid opcode")):
        assert vm.stale_code(text) is None


@pytest.mark.guest
def test_a_guest_that_hangs_for_stale_code_is_booted_again(guest, tmp_path, monkeypatch, capsys):
    """Its command, from the beginning; and not when its time is up."""
    start, boots = vm.start_machine, []

    def started(kernel, console, scratch, append, **kwargs):
        boots.append(kernel)
        machine = start(kernel, console, scratch, append, **kwargs)
        if len(boots) == 1:
            while vm.UP not in console.read_text(errors="replace"):
                assert machine[0].poll() is None
            with open(console, "a", encoding="ascii") as stream:
                stream.write(HANGS)
        return machine

    monkeypatch.setattr(vm, "start_machine", started)
    monkeypatch.setattr(vm, "LOOK_SECONDS", 0)
    run = vm.boot("6.12", guest("6.12"), tmp_path, ["sh", "-c", "echo here"], smp=1)
    assert run.ok and "here" in run.output and len(boots) == 2
    assert "the emulator runs a breakpoint at do_dentry_open that is not there" in \
        capsys.readouterr().err


@pytest.mark.guest
def test_a_guest_that_goes_without_a_status_is_broken(guest, tmp_path):
    run = vm.boot("6.1", guest("6.1"), tmp_path, ["poweroff", "-f"])
    assert run.status == vm.BROKEN
    assert "ended without a status" in run.verdict


@pytest.mark.guest
def test_an_endless_command_is_ended_when_its_time_is_up(guest, tmp_path):
    run = vm.boot("6.1", guest("6.1"), tmp_path, ["sh", "-c", "while :; do :; done"], timeout=24)
    assert run.status == vm.TIMED_OUT
    assert "not done after 24 s" in run.verdict
    # Which task that was, and that nothing of the panic counts as the guest's own words.
    assert "task:sh " in run.verdict and "task:kthreadd" not in run.verdict
    assert "panic" not in run.console


@pytest.mark.guest
def test_a_guest_whose_time_is_up_before_user_space_is_not_booted_again(
        guest, tmp_path, monkeypatch):
    """The panic that it is asked for then is no failed boot."""
    asked = []

    def panic(machine, monitor, console, seconds):
        asked.append(monitor)
        machine.kill()
        machine.wait()
        told = "\n[    1.000000] Kernel panic - not syncing: NMI\n"
        with open(console, "a", encoding="utf-8") as out:
            out.write(told)
        return told

    monkeypatch.setattr(vm, "ask_where", panic)
    run = vm.boot("6.1", guest("6.1"), tmp_path, ["true"], timeout=0.5)
    assert (len(asked), run.status) == (1, vm.TIMED_OUT)


@pytest.mark.guest
def test_no_guest_outlives_run_py(guest, tmp_path):
    arguments = [VM_IMAGES / "run.py", "--kernel", "6.12", "--initrd", guest("6.12"), "--det",
                 "--out", tmp_path, "--", "sleep", "1000"]
    for end in (signal.SIGTERM, signal.SIGKILL):
        with subprocess.Popen(arguments) as run:
            children = pathlib.Path(f"/proc/{run.pid}/task/{run.pid}/children")
            while not children.read_text():
                time.sleep(0.01)
            qemu = pathlib.Path("/proc", children.read_text().strip(), "cmdline")
            while b"qemu" not in qemu.read_bytes():
                time.sleep(0.01)
            run.send_signal(end)
        # Whoever collects the dead may be slow, but they have no command line.
        deadline = time.monotonic() + 10
        while qemu.exists() and qemu.read_bytes() and time.monotonic() < deadline:
            time.sleep(0.01)
        assert not qemu.exists() or not qemu.read_bytes()


# Guest nanoseconds in the log, random numbers and modelled disk time: all of
# the console is the same, byte for byte.
REPEAT = """
set -e
disk=/sys/kernel/config/nullb/disk
mkdir $disk
echo 1 >$disk/memory_backed
echo 2 >$disk/irqmode
echo 1000000 >$disk/completion_nsec
echo 64 >$disk/size
echo 1 >$disk/power
dd if=/dev/disk of=/dev/null bs=4k count=200 iflag=direct
cat /proc/sys/kernel/random/uuid /proc/interrupts /proc/schedstat
echo the end >/dev/kmsg
"""


@pytest.mark.guest
def test_a_deterministic_run_repeats_byte_for_byte(guest, tmp_path):
    runs = [vm.boot("6.12", guest("6.12"), tmp_path / name, ["sh", "-c", REPEAT], det=True)
            for name in ("first", "second")]
    assert [run.status for run in runs] == [0, 0], runs[0].console
    assert "the end" in runs[0].output
    assert runs[0].console == runs[1].console
