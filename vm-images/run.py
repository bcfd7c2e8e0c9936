#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Boot a guest, run one command in it, bring back its status and its files.

    run.py --kernel 6.12 --initrd FILE [options] -- COMMAND [ARG...]
    run.py --kernel 6.12 --initrd FILE --shell [<SCRIPT]

With --shell a person has a shell on this terminal; if standard input is none, the guest runs
what it says, as a script, and ends.

The exit status is the command's own; 124 when the time was up; 125 when the
run is not to be believed, whatever the command said: the kernel reported a bug
on the console, or the guest ended without handing back a status.

As a library: boot(kernel, initrd, out, command) returns a Result.
"""

import argparse
import ctypes
import dataclasses
import functools
import math
import os
import pathlib
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tarfile
import tempfile
import time

LIBC = ctypes.CDLL(None)
PR_SET_PDEATHSIG = 1

TIMED_OUT = 124
BROKEN = 125
KILLED = 137

# What init prints; run.py and init agree on these lines.
UP = "hipec-guest: user space up"
STARTS = "hipec-guest: command starts\n"
ENDED = "\nhipec-guest: command ended"

QEMU = "qemu-system-x86_64"

# A KVM guest is up in a second. Where KVM can be opened but hangs its guests
# (some nested machines), this is how long each boot of the host pays for it.
TRIAL_SECONDS = 5

# An emulator's kernel may fail before anything of ours runs: a CPU that meets code which
# another one is patching, for one, or come to a stop without a word. So often such a boot is
# tried again, and so many seconds a stock kernel has, but at the last one, to reach user space.
BOOTS = 5
BOOT_SECONDS = 60

# Complaints of the kernel. Only text behind a printk time stamp counts, so
# that a program may print "BUG: " itself. "WARNING: " must come right after
# the stamp: the CPU bug code prints lines such as "Spectre V2 : WARNING: ...".
# That one is also how lockdep and RCU begin; KASAN begins with "BUG: ", and the
# slab allocator with BUG and the name of the cache.
SPLAT = re.compile(
    r"\[ *\d+\.\d{6}\](\[ *[TC]\d+\])? (WARNING: |.*("
    r"BUG: |kernel BUG at |: [0-9a-f]{4} \[#\d+\]|Kernel panic - |"
    r"KASAN: |UBSAN: |BUG \S+ \((Not t|T)ainted|"
    r"INFO: task .* blocked for|INFO: trying to register|"
    r"rcu: INFO: |hard LOCKUP|kmemleak: \d+ new suspected))")

# Of these, the ones that say that something does not go on. Where the host stood still for so
# many seconds, as a virtual machine may, its guests did, and report it.
STANDSTILL = re.compile(r"soft lockup|workqueue lockup|rcu: INFO: |INFO: task .* blocked for")
STILL_SECONDS = 10

# stale_code(): a report of a CPU at a breakpoint, or behind one that nobody owns up to, with
# the bytes that are there instead.
STALE = re.compile(r"asm_exc_int3\+\S+\r?\n.*RIP: 0010:(\S+)\+0x0/\S+\r?\n.*Code: [^<\n]*<(?!cc)|"
                   r"Oops: int3: .*(?:\n.*){1,6}?RIP: 0010:(\S+)\+0x[0-9a-f]+/\S+\r?\n"
                   r".*Code: [^<\n]*\b(?!cc)[0-9a-f]{2} <")
LOOK_SECONDS = 5

# A guest whose time is up is sent an NMI, at which its kernel panics and says what each CPU
# and each task is doing: bit 0 of panic_print is the tasks, bit 6 the CPUs.
TELL = ["unknown_nmi_panic", "panic_print=65"]
TELL_SECONDS = 60

# Guest time is counted in instructions, and whatever the guest could ask the
# host for (the date, a random number) has one answer. Dropping any of these
# makes two runs differ.
DETERMINISTIC = ["-icount", "shift=0,sleep=off", "-seed", "1",
                 "-rtc", "base=2026-01-01T00:00:00,clock=vm"]
DETERMINISTIC_APPEND = "nokaslr norandmaps tsc=reliable"


CPU = {"kvm": ["-accel", "kvm", "-cpu", "host"],
       "tcg": ["-accel", "tcg", "-cpu", "max"]}
# Features that take a third of what a guest costs the host when they are emulated: a
# fifth level of page tables, which each miss of the TLB walks; SMAP, whose switches
# end a translated block at each access to user memory (kernels with KASAN report such
# an access without it); and ERMS, with which kernels copy pages byte by byte.
# Deterministic guests have all of them.
COSTLY = "la57=off,smap=off,erms=off"
# Stock kernels call through retpolines and clear memory at allocation by default. Emulated
# guests do neither.
CHEAPER_APPEND = "mitigations=off init_on_alloc=0"


class UsageError(Exception):
    """The caller asked for something that cannot be."""


@dataclasses.dataclass
class Result:
    """What came of a boot."""
    status: int             # the command's, or TIMED_OUT, or BROKEN
    verdict: str            # "ok", or why the run counts as broken
    accel: str              # "kvm" or "tcg"
    console: str            # all that the guest printed
    results: pathlib.Path   # what the command left in /results

    @property
    def ok(self):
        """The run is to be believed, and the command succeeded."""
        return self.status == 0 and self.verdict == "ok"

    @property
    def output(self):
        """The part of the console in which the command ran."""
        return self.console.partition(STARTS)[2].partition(ENDED)[0]


def cache_dir():
    """The directory that kernels.sh fills, and that outlives a clone."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return pathlib.Path(os.environ.get("HIPEC_CACHE") or f"{base}/hipec")


def fact(kernel, name, default=""):
    """What testkernels.sh has put beside a kernel, or the default."""
    path = cache_dir() / "kernels" / kernel / name
    return path.read_text().strip() if path.exists() else default


def find_splat(console, stood=0.0):
    """The first complaint of the kernel with the lines around it, or None. @stood: seconds for
    which this host stood still meanwhile."""
    lines = console.split("\n")
    for number, line in enumerate(lines):
        if SPLAT.search(line) and not (stood >= STILL_SECONDS and STANDSTILL.search(line)):
            return line.strip(), "\n".join(lines[max(0, number - 5):number + 25])
    return None


def cpio(files):
    """An uncompressed newc archive of {path: bytes}, for the kernel's own
    unpacker: it takes several archives in a row."""
    archive = b""
    entries = [(path, 0o100755, data) for path, data in files.items()]
    entries += [("TRAILER!!!", 0, b"")]
    directories = {str(parent) for path in files
                   for parent in pathlib.PurePath(path).parents} - {"."}
    entries = [(path, 0o040755, b"") for path in sorted(directories)] + entries
    for inode, (path, mode, data) in enumerate(entries, 1):
        name = path.encode() + b"\0"
        fields = [inode, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name), 0]
        archive += b"070701" + b"".join(b"%08X" % field for field in fields) + name
        archive += bytes(-len(archive) % 4) + data
        archive += bytes(-len(archive) % 4)
    return archive + bytes(-len(archive) % 512)


def die_with_parent(parent):
    """In the child: no guest may outlive a killed run.py."""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)     # it died before we asked to be told


def start(program, arguments, **kwargs):
    """Start a guest as a child that goes when we go."""
    if not shutil.which(program):
        raise UsageError(f"no {program}; run vm-images/packages.sh")
    return subprocess.Popen([program, *arguments], **kwargs,
                            preexec_fn=functools.partial(die_with_parent, os.getpid()))


def stop(guest):
    """End a guest; gently first, since it then gives back the terminal."""
    guest.terminate()
    try:
        return guest.communicate(timeout=2)[1] or ""
    except subprocess.TimeoutExpired:
        guest.kill()
        return guest.communicate()[1] or ""


def command_line(kernel, append):
    """The words for the kernel: what any guest wants, this kernel, the caller."""
    # loglevel=5: warnings, but not what a healthy boot has to say; printing is
    # slow under emulation.
    words = ["loglevel=5", "panic=-1", "oops=panic", *TELL]
    if own := fact(kernel, "append"):
        # While 6.12 looks at its first CPU it forgets that there are five levels of page
        # tables, and KASAN calls what an interrupt uses just then a wild access.
        # And where the host is busy, a CPU that tests for half a minute is none that hangs.
        words += ["no5lvl", "watchdog_thresh=60", *own.split()]
    return [*words, *append.split()]


def machine(kernel, initrd, append, memory, smp):
    """The arguments that every guest in QEMU has."""
    return ["-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
            # One CPU a socket: the tables of kernels without ACPI know no cores.
            "-m", memory, "-smp", f"{smp},sockets={smp}",
            "-kernel", str(cache_dir() / "kernels" / kernel / "vmlinuz"),
            "-initrd", str(initrd),
            "-append", " ".join(["console=ttyS0", *command_line(kernel, append)])]


def accelerator(kernel, initrd):
    """The accelerator to use: "kvm" or "tcg".

    That /dev/kvm opens proves nothing, so try it with this guest; the answer
    holds until the host boots again."""
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return said("tcg", "/dev/kvm cannot be opened")
    host = pathlib.Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    note = cache_dir() / f"kvm-{host}"
    if not note.exists():
        note.parent.mkdir(parents=True, exist_ok=True)
        answer = "works" if kvm_trial(kernel, initrd) else "hangs"
        note.write_text(answer)
    if note.read_text() == "works":
        return said("kvm", "a trial guest came up")
    return said("tcg", f"under KVM no guest reached user space in time ({note})")


@functools.lru_cache(maxsize=None)
def said(accel, why):
    """Name the accelerator and the reason on stderr, once: it explains the
    speed of all that follows."""
    print(f"run.py: using {accel.upper()}: {why}", file=sys.stderr)
    return accel


def kvm_trial(kernel, initrd):
    """Boot once under KVM and see whether user space prints."""
    with tempfile.TemporaryDirectory(prefix="hipec-kvm-") as scratch:
        console = pathlib.Path(scratch, "console")
        console.touch()
        arguments = machine(kernel, initrd, "", "512M", 1)
        arguments += [*CPU["kvm"], "-serial", f"file:{console}"]
        guest = start(QEMU, arguments, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                      stderr=subprocess.DEVNULL)
        try:
            end = time.monotonic() + TRIAL_SECONDS * int(fact(kernel, "slower", "1"))
            while time.monotonic() < end and guest.poll() is None:
                if UP in console.read_text(errors="replace"):
                    return True
                time.sleep(0.05)
            return False
        finally:
            stop(guest)


def failed_to_boot(text):
    """What the kernel complained of before user space was up, or None."""
    splat = find_splat(text.partition(UP)[0])
    return splat and splat[0]


def stale_code(text):
    """Where the guest hangs or dies for the emulator's sake, or None: a CPU runs a breakpoint
    that memory no longer has there.

    QEMU before 8.1 may translate a page of code while another CPU writes to it, and keeps what
    it has translated. A kernel that changes an instruction has a breakpoint there for a moment."""
    found = STALE.search(text)
    return found and (found[1] or found[2])


def follow(guest, console, timeout, verbose, kill_when=None, boot_seconds=None):
    """Wait for the guest's end; returns whether it came in time, and the longest time in seconds
    for which this host stood still. A guest that hangs for stale code is not waited for, nor one
    without user space after @boot_seconds."""
    end = time.monotonic() + timeout
    look = 0
    up_by = time.monotonic() + (boot_seconds or math.inf)
    last, stood = time.monotonic(), 0.0
    with open(console, encoding="utf-8", errors="replace") as stream:
        while True:
            ended = guest.poll() is not None
            last, stood = time.monotonic(), max(stood, time.monotonic() - last)
            if time.monotonic() > look:
                look = time.monotonic() + LOOK_SECONDS
                text = console.read_text(errors="replace")
                if stale_code(text) or time.monotonic() > up_by and UP not in text:
                    guest.kill()
                    guest.wait()
                    return True, stood
            if kill_when and kill_when(console.read_text(errors="replace")):
                guest.kill()
                guest.wait()
                return True, stood
            if verbose:
                print(stream.read(), end="", flush=True)
            if ended or timeout and time.monotonic() > end:
                return ended, stood
            time.sleep(0.02)


def ask_where(guest, monitor, console, seconds):
    """Have a guest whose time is up panic: what its console says from then on."""
    before = len(console.read_bytes())
    monitor.sendall(b"nmi\n")
    try:
        guest.wait(seconds)
    except subprocess.TimeoutExpired:
        pass
    return console.read_bytes()[before:].decode(errors="replace").replace("\r\n", "\n")


def at_work(told):
    """Of what a panic @told, the tasks that wait for no event, or that are hipec's."""
    tasks = re.split(r"(?m)^(?=\[[^]]*\](?:\[[^]]*\])? task:)", told)
    return tasks[0] + "".join(task for task in tasks[1:]
                              if re.search(r"\bstate:[RD]|hipec", task))


def unpack(archive, results):
    """Unpack what the guest sent; its command's status, or None if it sent
    none. The status comes last, so a torn stream has none."""
    shutil.rmtree(results, ignore_errors=True)
    results.mkdir()
    try:
        with tarfile.open(archive) as tar:
            members = tar.getmembers()
            if not members or members[-1].name != "status":
                return None
            status = int(tar.extractfile(members[-1]).read())
            for member in members:
                path = pathlib.PurePath(member.name)
                if member.isfile() and path.parts[0] == "results" and ".." not in path.parts:
                    target = results.joinpath(*path.parts[1:])
                    target.parent.mkdir(parents=True, exist_ok=True)
                    with open(target, "wb") as file:
                        shutil.copyfileobj(tar.extractfile(member), file)
                    target.chmod(member.mode & 0o755 | 0o600)
            return status
    except (tarfile.TarError, ValueError):
        return None


def ways_in_and_out(console, scratch, disk, keep_writes, monitor):
    """QEMU's arguments for the console, the results and the data disk; @monitor is the
    socket that it obeys, None for this terminal."""
    if not monitor:
        arguments = ["-chardev", f"stdio,id=tty,mux=on,signal=off,logfile={console}",
                     "-serial", "chardev:tty", "-mon", "chardev=tty"]
    else:
        arguments = ["-serial", f"file:{console}",
                     "-chardev", f"socket,id=monitor,fd={monitor.fileno()}",
                     "-mon", "chardev=monitor"]
    # ioeventfd=off: the CPU's own thread serves a request. Another thread
    # would do it at a moment of the host's choosing, and no run would repeat.
    arguments += ["-device", "virtio-serial-pci,ioeventfd=off",
                  "-chardev", f"file,id=results,path={scratch}/results.tar",
                  "-device", "virtserialport,chardev=results,name=results"]
    if disk:
        snapshot = "off" if keep_writes else "on"
        # no-flush: the guest's flushes need not outlive this host.
        arguments += ["-drive", f"file={disk},format=raw,if=none,id=data,snapshot={snapshot},"
                                "cache.no-flush=on",
                      "-device", "virtio-blk-pci,drive=data"]
    return arguments


def clock_words():
    """What a kernel must be told of an emulated CPU's clock, which is this host's. One of our
    own, without ACPI, has no other clock to measure it by than one that a busy host makes
    useless; a stock one would not trust it, and ask an emulated device each time."""
    speeds = re.findall(r"^cpu MHz\s*: (\d+)", pathlib.Path("/proc/cpuinfo").read_text(), re.M)
    return f"tsc=reliable tsc_early_khz={speeds[0]}000" if speeds else ""


def start_machine(kernel, console, scratch, append, *, smp, memory, disk, keep_writes, det,
                  monitor, devices):
    """Start a guest in QEMU: the process, and the accelerator."""
    initrd = scratch / "initrd"
    accel = "tcg" if det else accelerator(kernel, initrd)
    if det:
        append = f"{DETERMINISTIC_APPEND} {append}"
    elif accel == "tcg":
        # Else a kernel that a busy host starves panics: its timer seems not to work.
        append = f"no_timer_check {CHEAPER_APPEND} {clock_words()} {append}"
    arguments = machine(kernel, initrd, append, memory, 1 if det else smp or 2)
    arguments += CPU[accel]
    if det:
        arguments += DETERMINISTIC
    elif accel == "tcg":
        arguments[-1] += f",{COSTLY}"
    arguments += ways_in_and_out(console, scratch, disk, keep_writes, monitor)
    arguments += devices
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE,
             "text": True, "pass_fds": [monitor.fileno()]} if monitor else {}
    return start(QEMU, arguments, **quiet), accel


def boot(kernel, initrd, out, command=None, *, smp=None, memory="1G", disk=None,
         keep_writes=False, det=False, timeout=120, append="", verbose=False, devices=(),
         kill_when=None):
    """Boot @kernel (a key of kernels.sh or testkernels.sh) with @initrd (of
    initramfs.sh), run @command (a list of words; a text is a person's script; None: a
    shell on this terminal), and return a Result. @out is a directory for the console and
    the results.

    @disk is an image for the guest's /data; what the guest writes to it is
    forgotten unless @keep_writes. @det makes the run repeat bit for bit: guest nanoseconds are
    then guest instructions and modelled disk time. @timeout is in seconds of
    wall time with a stock kernel, 0 for none; slower kernels get more. A kernel that
    complains before user space is up, that has none after BOOT_SECONDS, or that hangs for
    stale_code(), is booted again, up to BOOTS times in all; not one that may have written where
    @keep_writes. @devices are arguments for QEMU. @kill_when, asked again and again with the
    text of the console, may have the guest killed: its status is then KILLED."""
    directory = cache_dir() / "kernels" / kernel
    if not (directory / "release").exists():
        raise UsageError(f"no kernel {kernel} in the cache; run make build/kernel-{kernel}.stamp")
    for path in filter(None, (initrd, disk)):
        if not os.path.isfile(path):
            raise UsageError(f"no such file: {path}")
    if det and smp not in (None, 1):
        raise UsageError("a deterministic run has one CPU")
    if det and disk:
        raise UsageError("a disk answers when the host does, so a run with one does not "
                         "repeat; bring the files in with initramfs.sh --tree")

    slower = int(fact(kernel, "slower", "1"))
    timeout *= slower
    out = pathlib.Path(out).absolute()
    out.mkdir(parents=True, exist_ok=True)
    console, results = out / "console", out / "results"

    with tempfile.TemporaryDirectory(dir=out, prefix="boot.") as name:
        scratch = pathlib.Path(name)
        with open(scratch / "initrd", "wb") as whole:
            if isinstance(command, str):
                whole.write(cpio({"hipec/command": command.encode(), "hipec/typed": b""}))
            elif command:
                whole.write(cpio({"hipec/command": shlex.join(command).encode() + b"\n"}))
            whole.write(pathlib.Path(initrd).read_bytes())
        for left in reversed(range(BOOTS)):
            console.write_bytes(b"")
            (scratch / "results.tar").write_bytes(b"")
            told = ""
            ours, its = socket.socketpair()
            with ours, its:
                guest, accel = start_machine(kernel, console, scratch, append, smp=smp,
                                             memory=memory, disk=disk, keep_writes=keep_writes,
                                             det=det, monitor=its if command else None,
                                             devices=devices)
                try:
                    in_time, stood = follow(guest, console, timeout, verbose and command,
                                            kill_when, command and left and slower * BOOT_SECONDS)
                    killed = guest.returncode == -signal.SIGKILL
                    if not in_time and command:
                        told = ask_where(guest, ours, console, slower * TELL_SECONDS)
                finally:
                    complaint = stop(guest)
            text = console.read_text(errors="replace").replace("\r\n", "\n").removesuffix(told)
            early, stale = failed_to_boot(text), stale_code(text)
            silent = in_time and killed and UP not in text
            if not left or not (early or stale or silent) or keep_writes and UP in text:
                break
            why = (f"before user space was up, the kernel reported {early}" if early else
                   f"the emulator runs a breakpoint at {stale} that is not there" if stale else
                   f"no user space after {slower * BOOT_SECONDS} s")
            print(f"run.py: booting again: {why}", file=sys.stderr)
        status = unpack(scratch / "results.tar", results)

    if not command and status is None:
        status = 0  # a person may leave the shell by quitting QEMU
    verdict = "ok"
    splat = find_splat(text, stood)
    if stood >= STILL_SECONDS:
        print(f"run.py: this host stood still for {stood:.0f} s", file=sys.stderr)
    if splat:
        status, verdict = BROKEN, f"the kernel reported: {splat[0]}\n\n{splat[1]}"
    elif kill_when and killed:
        status = KILLED
    elif not in_time:
        status, verdict = TIMED_OUT, (f"not done after {timeout} s{tail(text)}\n\n"
                                      f"and at work were:\n\n{at_work(told)}")
    elif status is None:
        status, verdict = BROKEN, f"the guest ended without a status{tail(complaint or text)}"
    return Result(status, verdict, accel, text, results)


def tail(text):
    """The last words of a guest."""
    return "; the last lines:\n\n" + "\n".join(text.rstrip().split("\n")[-25:])


def parse():
    """The command line."""
    parser = argparse.ArgumentParser(
        description="Boot a guest, run one command in it, bring back its status and files.",
        epilog="exit status: the command's; 124 time is up; 125 the run is broken; 2 usage")
    parser.add_argument("--kernel", required=True, metavar="KEY", help="6.12, 6.1 or debug")
    parser.add_argument("--initrd", required=True, metavar="FILE", help="made by initramfs.sh")
    parser.add_argument("--smp", type=int, metavar="N", help="CPUs (default 2, with --det 1)")
    parser.add_argument("--memory", metavar="SIZE", default="1G", help="default 1G")
    parser.add_argument("--disk", metavar="IMG", help="made by mkdisk.sh; the guest's /data")
    parser.add_argument("--keep-writes", action="store_true",
                        help="what the guest writes to the disk stays in IMG")
    parser.add_argument("--det", action="store_true", help="deterministic: repeats bit for bit")
    parser.add_argument("--timeout", type=float, metavar="S",
                        help="seconds of wall time (default 120, with --shell none); "
                        "slower kernels get more")
    parser.add_argument("--out", metavar="DIR", help="keep console and results/ here")
    parser.add_argument("--append", default="", metavar="WORDS", help="for the kernel command line")
    parser.add_argument("--verbose", action="store_true", help="show the console as it comes")
    parser.add_argument("--shell", action="store_true", help="a shell on this terminal, or "
                        "standard input as a script")
    parser.add_argument("command", nargs="*", metavar="COMMAND")
    args = parser.parse_args()
    if args.shell == bool(args.command):
        parser.error("want either --shell or a command")
    if args.timeout is None:
        args.timeout = 0 if args.shell else 120
    return args


def main():
    """What a person or a Makefile calls."""
    args = parse()
    # As for Ctrl-C: leave through the finally clauses, which end the guest.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))

    if args.shell and not sys.stdin.isatty():
        args.command = sys.stdin.read() + "\n"
    elif args.shell:
        print("run.py: a shell in the guest; leave with exit, or quit QEMU with Ctrl-A X",
              file=sys.stderr)
    out = pathlib.Path(args.out or tempfile.mkdtemp(prefix="hipec-run-"))
    keep = bool(args.out)
    try:
        result = boot(args.kernel, args.initrd, out, args.command, smp=args.smp,
                      memory=args.memory, disk=args.disk, keep_writes=args.keep_writes,
                      det=args.det, timeout=args.timeout, append=args.append,
                      verbose=args.verbose)
        if result.verdict != "ok":
            keep = True
            print(f"run.py: broken run: {result.verdict}\n\n"
                  f"run.py: all of the console: {out / 'console'}", file=sys.stderr)
        elif args.command and not args.verbose:
            print(result.output, end="")
        return result.status
    except UsageError as error:
        print(f"run.py: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    finally:
        if not keep:
            shutil.rmtree(out)


if __name__ == "__main__":
    sys.exit(main())
