#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""Search the params of a policy on some traces, and judge what was found on others. hipec tune runs
this.

    tune.py HIPEC [--output FILE] [--frames LIST] [--mode MODE] [--trials N] [--seed N]
            [--sample 1/N] [--held-out PERCENT] [--jobs N] [--scheduler ADDRESS] [--json]
            -- POLICY.hp TRACE...
"""

import argparse
import dataclasses
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import engine
import judge
import plan
import task

FAILED, NO_GAIN = 1, 3
BATCH = 8           # candidates between two looks at what came of them: the same on all machines
WIDE = 1000         # a range with ends so far apart is searched by magnitudes


@dataclasses.dataclass(frozen=True)
class Param:
    """One that has a range."""
    name: str
    value: int
    low: int
    high: int

    @property
    def wide(self):
        """Whether a step at its low end matters more than one at its high end."""
        return self.high - self.low >= WIDE

    def ask(self, trial):
        """A value to try."""
        if not self.wide:
            return trial.suggest_int(self.name, self.low, self.high)
        return trial.suggest_int(self.name, 1, self.high - self.low + 1, log=True) - 1 + self.low

    def told(self, value):
        """The same value as the search has it."""
        return value - self.low + 1 if self.wide else value


def parse(words):
    """The command line."""
    parser = argparse.ArgumentParser(prog="hipec tune", add_help=False)
    parser.add_argument("hipec")
    parser.add_argument("--output")
    parser.add_argument("--frames", default="10%,25%,50%")
    parser.add_argument("--mode", default="mapped", choices=["mapped", "exact"])
    parser.add_argument("--trials", type=int, default=64)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--sample", default="")
    parser.add_argument("--held-out", type=int, default=50)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--scheduler")
    parser.add_argument("--json", action="store_true")
    for name in plan.READING:
        parser.add_argument(f"--{name}")
    parser.add_argument("policy")
    parser.add_argument("traces", nargs="+")
    args = parser.parse_args(words)
    if args.trials < 1 or args.jobs < 1 or not 0 < args.held_out < 100:
        parser.error("want --trials and --jobs of 1 or more, and --held-out from 1 to 99")
    args.reading = [f"--{name}={getattr(args, name)}" for name in plan.READING if getattr(args, name)]
    args.sample = plan.parse_sample(args.sample)
    args.frames = [plan.parse_size(size).text for size in args.frames.split(",")]
    if not args.policy.endswith(".hp"):
        raise plan.Wrong(f"{args.policy}: want the source of a policy, NAME.hp")
    args.output = args.output or f"{args.policy.removesuffix('.hp')}.tuned.hp"
    return args


def params_of(hipec, image):
    """(those with a range, names of the others) of a compiled policy."""
    done = subprocess.run([hipec, "dis", image], text=True, check=True, capture_output=True)
    found = re.findall(r"^ +[0-9A-F]{2} +int +(\w+) = (-?\d+)(?: in (-?\d+)\.\.(-?\d+))?,.*\bparam\b",
                       done.stdout, re.M)
    return ([Param(name, int(value), int(low), int(high)) for name, value, low, high in found if low],
            [name for name, _, low, _ in found if not low])


def score(args, pool, image, params, values, traces, sample):
    """[misses of each trace, by size, or None] for each choice of values."""
    futures = [pool.submit(task.sim, args.hipec, os.getcwd(), *judge.words(
        image, args.frames, args.mode, sample,
        {param.name: some[param.name] for param in params}), *args.reading, "--", trace)
        for some in values for trace in traces]
    found = [None] * len(futures)
    for place, result in engine.gather(futures):
        found[place] = judge.misses(result)
    return [found[number * len(traces):(number + 1) * len(traces)] for number in range(len(values))]


def search(args, pool, image, params, traces):
    """(the best values, what they come to in comparison to the policy's own)."""
    optuna = plan.python_has("optuna")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=args.seed))
    own = {param.name: param.value for param in params}
    base, = score(args, pool, image, params, [own], traces, args.sample)
    if not all(base):
        raise plan.Wrong(f"{args.policy}: it does not run to the end on "
                         f"{traces[[not one for one in base].index(True)]}")
    study.enqueue_trial({param.name: param.told(param.value) for param in params})
    tried = {}
    for start in range(0, args.trials, BATCH):
        trials = [study.ask() for _ in range(min(BATCH, args.trials - start))]
        values = [{param.name: param.ask(trial) for param in params} for trial in trials]
        for trial, some, result in zip(trials, values,
                                       score(args, pool, image, params, values, traces, args.sample)):
            mean = judge.mean_change(base, result)
            tried[tuple(some.items())] = mean
            if mean is None:
                study.tell(trial, state=optuna.trial.TrialState.FAIL)
            else:
                study.tell(trial, mean)
    return min(((mean, some) for some, mean in tried.items() if mean is not None),
               default=(0.0, tuple(own.items())))


def tuned(source, values, head):
    """The source with other values, and a header; what it said of counts is not true any more."""
    def declared(match):
        text = match[0]
        for name, value in values.items():
            text = re.sub(rf"\b{name}(\s*=\s*[^,;]*?)?(?=\s+in\b)", f"{name} = {value}", text)
        return text
    text = re.sub(r"^//! expect .*\n", "", source, flags=re.M)
    text = re.sub(r"\bparam\s[^;]*;", declared, text)
    lines = text.splitlines(True)
    place = 1 if lines and "SPDX-License-Identifier" in lines[0] else 0
    return "".join([*lines[:place], *(f"// {line}".rstrip() + "\n" for line in head), "//\n",
                    *lines[place:]])


def in_words(values):
    """Name and value of each."""
    return ", ".join(f"{name} = {value}" for name, value in values.items())


def header(args, found):
    """What the file says of itself."""
    names = ", ".join(os.path.basename(trace) for trace in found["tuned_on"])
    verdict = judge.in_words(found["gain"])
    lines = [f"Tuned by hipec tune {found['version']}: {args.trials} trials on "
             f"{len(found['tuned_on'])} traces ({names}), frames {','.join(args.frames)}, mode "
             f"{args.mode}{f', a sample of {args.sample}' if args.sample else ''}.",
             f"Best there: {in_words(found['best'])}, {found['training_gain_percent']:.2f} % fewer "
             "misses than with the policy's own values.",
             f"On {len(found['held_out'])} held-out traces: {verdict}."]
    if not found["gain"]["is_gain"]:
        lines.append("So the values are those that it had.")
    return [part for line in lines for part in wrap(line)]


def wrap(line, width=94):
    """A line of a comment, in several."""
    words, out = line.split(), [""]
    for word in words:
        if len(out[-1]) + len(word) >= width:
            out.append("")
        out[-1] += (" " if out[-1] else "") + word
    return out


def tune(args):
    """All of it. Return: the exit code."""
    work = pathlib.Path(args.output).resolve().parent
    training, held_out = judge.split(args.traces, args.held_out, args.seed)
    plan.python_has("optuna")
    with tempfile.TemporaryDirectory(prefix=".hipec-tune-", dir=work) as folder:
        image = plan.compile_policy(args.hipec, args.policy, folder)
        params, others = params_of(args.hipec, image)
        if not params:
            raise plan.Wrong(f"{args.policy}: it has no param with a range; "
                             "docs/policy/language.md, Ranges")
        for name in others:
            print(f"hipec tune: {name} has no range, and keeps its value", file=sys.stderr)
        with engine.executor(args.scheduler, args.jobs) as (pool, _):
            mean, best = search(args, pool, image, params, training)
            own = {param.name: param.value for param in params}
            base, result = score(args, pool, image, params, [own, dict(best)], held_out, "")
        found = {"policy": args.policy, "output": args.output, "version": plan.version_of(args.hipec),
                 "params": own, "best": dict(best), "tuned_on": training, "held_out": held_out,
                 "training_gain_percent": 100 * (1 - math.exp(mean)),
                 "gain": judge.gain(base, result)}
        source = pathlib.Path(args.policy).read_text(encoding="utf-8")
        values = dict(best) if found["gain"]["is_gain"] else own
        text = tuned(source, values, header(args, found))
        draft = pathlib.Path(folder, os.path.basename(args.output))
        draft.write_text(text, encoding="utf-8")
        got, _ = params_of(args.hipec, plan.compile_policy(args.hipec, draft, folder))
        if {param.name: param.value for param in got} != values:
            raise plan.Wrong(f"{args.policy}: a declaration of its params was not understood")
        os.replace(draft, args.output)
    if args.json:
        print(json.dumps(found))
    else:
        print(f"{args.output}: {in_words(dict(best))}: {found['training_gain_percent']:.2f} % fewer "
              f"misses on {len(training)} traces; on {len(held_out)} held-out ones "
              f"{judge.in_words(found['gain'])}")
    return 0 if found["gain"]["is_gain"] else NO_GAIN


def main():
    """Do what the command line says."""
    try:
        return tune(parse(sys.argv[1:]))
    except plan.Wrong as error:
        print(f"hipec tune: {error}", file=sys.stderr)
    except OSError as error:
        print(f"hipec tune: {error.filename or ''}: {error.strerror}", file=sys.stderr)
    return FAILED


if __name__ == "__main__":
    sys.exit(main())
