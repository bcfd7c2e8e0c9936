#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""Traces of programs as Debian has them, with program contexts, and a table of them as
Table 2 of the AMP report has it.

    traces.py [--depth N] [--list] [NAME...]

A program is bench/amp/programs/NAME.sh: `NAME.sh prepare` makes its data in an empty
folder, then `hipec trace -- NAME.sh run` takes the trace. Lines that begin "# hipec:"
are facts of it:

    packages NAME...   without these it is passed over, and said so
    user               it refuses to be root
    claim TEXT         what is in the trace

Traces are kept in the cache, outside of this tree, under a hash of all that decides
what is in them (key()), so each is taken once; --list prints where they are and takes none.
"""

import argparse
import collections
import contextlib
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
HIPEC = ROOT / "build" / "hipec"
SCRIPTS = ROOT / "bench" / "amp" / "programs"
ORDER = ("cscope", "gnuplot", "scan", "compile", "glimpse", "sqlite", "postgres")
SOURCE = "linux-source-6.12"    # unpacked into the cache, never installed
DEPTH = 8                       # hipec trace's own
MOST_SECONDS = 600
NOBODY = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"]


class Missing(Exception):
    """A program cannot be traced here; says what to do."""


class Failed(Exception):
    """A program or the tracer failed."""


def cache():
    """The folder of traces; as vm-images/kernels.sh finds its own."""
    base = os.environ.get("HIPEC_CACHE")
    if not base:
        base = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache",
                            "hipec")
    return pathlib.Path(base) / "traces"


def facts(text):
    """{word: value} of the lines "# hipec: WORD VALUE"."""
    return {word: value.strip() for word, value in re.findall(r"^# hipec: (\w+)(.*)$", text, re.M)}


def parts(name):
    """A program's script, and what it reads beside it."""
    return [SCRIPTS / f"{name}.sh", *sorted(SCRIPTS.glob(f"{name}-*"))]


def tracer():
    """The sources that decide what a record says."""
    return [ROOT / "module" / "context" / "hash.h", *sorted((ROOT / "userlib/trace/inject").glob("*.c"))]


def key(files, versions, depth):
    """What a trace is kept under: 12 hexadecimal digits. @versions: of packages."""
    digest = hashlib.sha256()
    for path in files:
        body = path.read_bytes()
        digest.update(f"{path.name} {len(body)}\n".encode() + body)
    digest.update("\n".join([*sorted(versions), f"depth {depth}"]).encode())
    return digest.hexdigest()[:12]


def versions_of(name, packages):
    """["package version"] of what is installed; Missing if something is not."""
    if not packages:    # dpkg-query would list all
        return []
    done = subprocess.run(["dpkg-query", "-W", "-f", "${db:Status-Status} ${Package} ${Version}\n",
                           *packages], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True, check=False)
    have = [line.split(" ", 1)[1] for line in done.stdout.split("\n")
            if line.startswith("installed ")]
    gone = sorted(set(packages) - {line.split()[0] for line in have})
    if gone:
        raise Missing(f"{name}: run vm-images/packages.sh {' '.join(gone)}")
    return have


def kernel_source():
    """The folder of a kernel's source, fetched if need be."""
    done = subprocess.run([SCRIPTS / "source.sh"], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise Missing("no kernel source: see above")
    return pathlib.Path(done.stdout.strip())


class Program:
    """One that is traced."""

    def __init__(self, name, depth=DEPTH):
        self.name, self.depth = name, depth
        self.facts = facts((SCRIPTS / f"{name}.sh").read_text(encoding="utf-8"))
        packages = self.facts["packages"].split()
        self.source = kernel_source() if SOURCE in packages else None
        versions = versions_of(name, [p for p in packages if p != SOURCE])
        if self.source:
            versions.append(f"{SOURCE} {self.source.name}")
        self.file = cache() / f"{name}-{key(parts(name) + tracer(), versions, depth)}.trace"

    def work_in(self, folder):
        """Copies of what runs, which anybody can read; how to run as who owns them."""
        for path in (HIPEC, HIPEC.parent / "libhipectrace.so", *parts(self.name)):
            shutil.copy(path, folder)
        data = folder / "data"
        data.mkdir()
        if "user" not in self.facts or os.getuid():
            return []
        for path in (folder, data):
            shutil.chown(path, "nobody", "nogroup")
        return NOBODY

    def take(self):
        """The trace, into the cache. Seconds that it took."""
        start = time.monotonic()
        folder = pathlib.Path(tempfile.mkdtemp(prefix="hipec-amp-"))
        try:
            user = self.work_in(folder)
            script, data = folder / f"{self.name}.sh", folder / "data"
            trace = folder / f"{self.name}.trace"
            env = {**os.environ, "SOURCE": str(self.source), "TMPDIR": str(folder),
                   "HOME": str(folder)}
            for command in ([script, "prepare"], [folder / "hipec", "trace", "--all", "--depth",
                            str(self.depth), "-o", trace, "--", script, "run"]):
                said = run([*user, *command], data, env)
            if not complete(said):
                raise Failed(f"{self.name}: {said}")
            cache().mkdir(parents=True, exist_ok=True)
            new = self.file.with_suffix(f".new{os.getpid()}")
            shutil.copy(trace, new)
            new.replace(self.file)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        return time.monotonic() - start


def complete(said):
    """Did hipec trace say that it has all? Records that are missing, and programs that it could
    not see, are said in lines of their own."""
    mine = [line for line in said.split("\n") if line.startswith("hipec trace: ")]
    return len(mine) == 1 and re.match(r"hipec trace: \d+ accesses to .* are in ", mine[0])


def run(command, folder, env):
    """What a command says on stderr. Its group ends with it, whatever happens."""
    with subprocess.Popen(command, cwd=folder, env=env, text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          start_new_session=True) as child:
        try:
            _, said = child.communicate(timeout=MOST_SECONDS)
        except subprocess.TimeoutExpired as late:
            raise Failed(f"{command[-2:]} took over {MOST_SECONDS} s") from late
        finally:
            if child.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(child.pid, 9)
    if child.returncode:
        raise Failed(f"{' '.join(map(str, command[-2:]))}: exit {child.returncode}: {said}")
    return said


def count(lines):
    """Of a text trace: accesses, different pages, Counter of accesses by context."""
    contexts, pages = collections.Counter(), set()
    for line in lines:
        if line[:2] not in ("r ", "w "):
            continue
        first, length, context = int(line.split(" ", 2)[1]), 1, "0"
        for word in line.split()[2:]:
            if word.startswith("c="):
                context = word[2:]
            elif not word.startswith("h="):
                length = int(word)
        contexts[context] += length
        pages.update(range(first, first + length))
    return sum(contexts.values()), len(pages), contexts


def count_file(file):
    """count() of any form."""
    with subprocess.Popen([HIPEC, "trace", "convert", "--to", "text", file, "-"], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as child:
        counts = count(child.stdout)
    if child.returncode:
        raise Failed(f"{file}: hipec trace cannot read it")
    return counts


def row(name, counts, claim):
    """A line of the table."""
    total, unique, contexts = counts
    top = [f"{100 * n / total:.0f} %" for _, n in contexts.most_common(3)]
    return f"{name:10}{total:13,}{unique:14,}{len(contexts):10,}  {', '.join(top):18}{claim}"


HEAD = f"{'name':10}{'total pages':>13}{'unique pages':>14}{'contexts':>10}  {'top three':18}what"


def traces(names, depth=DEPTH, take=True, say=lambda text: print(text, file=sys.stderr)):
    """Those that there are, and take those that there are not: {name: file}, and
    how many were passed over."""
    files, skipped = {}, 0
    for name in names:
        try:
            program = Program(name, depth)
            if take and not program.file.exists():
                say(f"traces.py: {name} took {program.take():.0f} s")
            if program.file.exists():
                files[name] = program.file
        except Missing as why:
            say(f"SKIP {why}")
            skipped += 1
    return files, skipped


def main():
    """Takes what is not there yet, prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--depth", type=int, default=DEPTH, help="of contexts; 8")
    parser.add_argument("--list", action="store_true", help="where traces are; takes none")
    parser.add_argument("names", nargs="*", metavar="NAME", help=" ".join(ORDER))
    args = parser.parse_args()
    for name in set(args.names) - set(ORDER):
        parser.error(f"there is no {name}; there are {', '.join(ORDER)}")
    try:
        files, skipped = traces(args.names or ORDER, args.depth, not args.list)
        if args.list:
            for name, file in files.items():
                print(name, file)
            return 0
        print(f"Contexts: unwind tables, {args.depth} return addresses\n{HEAD}")
        for name, file in files.items():
            claim = facts((SCRIPTS / f"{name}.sh").read_text(encoding="utf-8"))["claim"]
            print(row(name, count_file(file), claim), flush=True)
    except Failed as why:
        print(f"traces.py: {why}", file=sys.stderr)
        return 1
    if skipped:
        print(f"traces.py: {skipped} passed over", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
