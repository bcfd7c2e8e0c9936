#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Fuzz the VM core with libFuzzer, or minimise what that found.

    fuzz.py --seconds N     run both targets, N seconds in all, from the saved
                            corpus, the test files and the policies
    fuzz.py --merge         make test/vm/fuzz/corpus anew from all that is known

All goes under build/fuzz: inputs in found/TARGET, what failed in
failed/TARGET, logs in TARGET.log. The exit status is 1 if an input failed.
"""

import argparse
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
FUZZ = pathlib.Path("build/fuzz")
CORPUS = pathlib.Path("test/vm/fuzz/corpus")
TARGETS = ("image", "run")
NR_SAVED = 150  # inputs of a target
MAX_LEN = 4096  # bytes of an input; shorter ones are found and kept first


def seeds(target):
    """A directory with an image of each test file and each policy."""
    into = FUZZ / "seeds" / target
    shutil.rmtree(into, ignore_errors=True)
    into.mkdir(parents=True)
    for hpt in sorted(pathlib.Path("test/vm/cases").glob("*.hpt")):
        # One that cannot be read is another test's failure.
        subprocess.run(["build/hpt", "--output", into / hpt.stem, hpt], check=False,
                       capture_output=True)
    for hpo in sorted(pathlib.Path("build").glob("**/policies/*.hpo")):
        shutil.copy(hpo, into / hpo.stem)
    return into


def found(target):
    """A directory for new inputs."""
    into = FUZZ / "found" / target
    into.mkdir(parents=True, exist_ok=True)
    return into


def known(target):
    """All directories with inputs; the saved corpus may not be there yet."""
    (CORPUS / target).mkdir(parents=True, exist_ok=True)
    return [found(target), CORPUS / target, seeds(target)]


def number(pattern, text):
    """The number that @pattern finds; 0 if it finds none."""
    match = re.search(pattern, text)
    return int(match[1]) if match else 0


def fuzz(target, seconds):
    """Run a target; 0 if no input failed."""
    failed = FUZZ / "failed" / target
    failed.mkdir(parents=True, exist_ok=True)
    command = [FUZZ / target, f"-max_total_time={seconds}", f"-max_len={MAX_LEN}",
               "-timeout=10", "-print_final_stats=1", f"-artifact_prefix={failed}/",
               *known(target)]
    log = FUZZ / f"{target}.log"
    with log.open("w") as out:
        status = subprocess.run(command, check=False, stdout=out, stderr=out).returncode
    text = log.read_text(errors="replace")
    executed = number(r"stat::number_of_executed_units: *(\d+)", text)
    inputs, accepted = number(r"fuzz: (\d+) inputs", text), number(r"(\d+) accepted", text)
    print(f"fuzz: {target}: {executed:,} executions, "
          f"{number(r'stat::average_exec_per_sec: *([0-9]+)', text):,} a second, "
          f"{100 * accepted // max(inputs, 1)} % accepted by the verifier, "
          f"{number(r'stat::new_units_added: *([0-9]+)', text):,} new inputs")
    inputs_kept = re.findall(r"Test unit written to (\S+)", text)
    for path in inputs_kept:
        print(f"fuzz: {target}: FAILED, to see it again: {FUZZ / target} {path}")
    if status and not inputs_kept:
        print(f"fuzz: {target}: ended with {status} and left no input, see {log}")
    return status


def coverage():
    """Which lines of the VM core the known inputs reach; whether they all pass."""
    raw, data = FUZZ / "coverage.profraw", FUZZ / "coverage.profdata"
    raws = []
    for target in TARGETS:
        raws.append(f"{raw}.{target}")
        run = subprocess.run([FUZZ / "coverage", target, *known(target)], check=False,
                             capture_output=True, text=True, env={"LLVM_PROFILE_FILE": raws[-1]})
        if run.returncode:
            print(f"fuzz: {target}: no coverage, as a known input FAILED:\n{run.stderr}", end="")
            return False
    subprocess.run(["llvm-profdata", "merge", "-o", data, *raws], check=True)
    sources = sorted(pathlib.Path("module/vm").glob("*.[ch]"))
    show = ["llvm-cov", "show", FUZZ / "coverage", f"-instr-profile={data}", *sources]
    text = subprocess.run(show, check=True, capture_output=True, text=True).stdout
    (FUZZ / "coverage.txt").write_text(text)
    counts = re.findall(r"^ *\d+\| *([0-9.]+[kMG]?)\|", text, re.MULTILINE)
    missed = counts.count("0")
    print(f"fuzz: {100 * (len(counts) - missed) / len(counts):.1f} % of the lines of module/vm: "
          f"{missed} of {len(counts)} not reached, see {FUZZ}/coverage.txt")
    return True


def least(target, into, *options):
    """The least set of known inputs that reaches all that they reach, shortest first."""
    shutil.rmtree(into, ignore_errors=True)
    into.mkdir(parents=True)
    subprocess.run([FUZZ / target, "-set_cover_merge=1", f"-max_len={MAX_LEN}", *options, into,
                    *known(target)], check=True, capture_output=True)
    return sorted(into.iterdir(), key=lambda path: (path.stat().st_size, path.name))


def merge():
    """Save an input for each edge, and short ones for numbers of its turns."""
    for target in TARGETS:
        edges = least(target, FUZZ / "merged" / f"{target}-edges", "-use_counters=0")
        turns = least(target, FUZZ / "merged" / target)
        shutil.rmtree(CORPUS / target)
        (CORPUS / target).mkdir()
        names = {path.name for path in edges}
        turns = [path for path in turns if path.name not in names]
        saved = edges + turns[:NR_SAVED - len(edges)]
        for path in saved:
            shutil.copy(path, CORPUS / target / path.name[:12])
        print(f"fuzz: {target}: {len(saved)} of {len(edges) + len(turns)} inputs saved, "
              f"{sum(path.stat().st_size for path in saved) >> 10} KB")


def main():
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--seconds", type=int, help="of both targets together")
    what.add_argument("--merge", action="store_true", help="renew the saved corpus")
    args = parser.parse_args()
    failed = 0
    if args.merge:
        merge()
    else:
        # The machine has more states than the image.
        share = {"image": args.seconds // 4, "run": args.seconds - args.seconds // 4}
        for target in TARGETS:
            failed |= fuzz(target, max(share[target], 1))
    return 0 if coverage() and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
