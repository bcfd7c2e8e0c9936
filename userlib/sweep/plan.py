# SPDX-License-Identifier: GPL-2.0-only
"""A plan: which runs there are, and the key of each. Nothing is run here but ampc.

Names of files are from the plan's folder, where the caller is."""

import dataclasses
import fractions
import glob
import hashlib
import itertools
import json
import os
import pathlib
import re
import subprocess
import tempfile
import tomllib

BUILT_IN = ("lru", "fifo", "clock", "opt", "opt-reads", "default", "builtin")
KEYS = {"traces", "policies", "frames", "modes", "warm-up", "whole-writes", "params",
        "sample", "from", "columns", "ops", "format"}
UNITS = {"": 1, "k": 1 << 10}
BYTES = {f"{letter}{end}": 1 << 10 * power for power, letter in enumerate("kmgt", 1)
         for end in ("b", "ib", "") if letter + end != "k"}
PAGE = 4096
READING = ("from", "columns", "ops", "format")      # of a plan: options of hipec sim
MAX_FRAMES = 1 << 30
MAX_SAMPLE = 1 << 16


class Wrong(Exception):
    """What is wrong, in one line."""


@dataclasses.dataclass(frozen=True)
class Policy:
    """A policy with values of its params."""
    name: str           # as the plan has it
    path: str           # what hipec sim takes
    image: str          # SHA-256 of the image; empty: built in
    params: tuple       # ((name, value), ...)


@dataclasses.dataclass(frozen=True)
class Size:
    """Frames of memory."""
    text: str
    number: int         # frames, or thousandths of a percent
    percent: bool

    def frames(self, pages):
        """Of a trace with so many pages, as hipec sim counts."""
        return min(-(-pages * self.number // 100000) if self.percent else self.number,
                   MAX_FRAMES)


@dataclasses.dataclass(frozen=True)
class Run:
    """One row of the results."""
    trace: str
    policy: Policy
    size: Size
    mode: str


@dataclasses.dataclass
class Plan:
    """All runs: each trace, each mode, each policy, each size."""
    traces: list
    policies: list
    sizes: list
    modes: list
    warm_up: str
    whole_writes: bool
    sample: str         # as of hipec sim; empty: all pages
    version: str
    reading: tuple = ()     # options of hipec sim that say how traces are read

    def runs(self, trace):
        """Those of one trace, in the order of the results."""
        return [Run(trace, policy, size, mode) for mode in self.modes
                for policy in self.policies for size in self.sizes]

    def key(self, run, digest):
        """What a row depends on, as a hash: with the same key it is the same row."""
        what = [self.version, run.trace, digest, run.policy.name, run.policy.image,
                run.policy.params, run.size.text, run.mode, self.warm_up, self.whole_writes,
                *([self.sample] if self.sample else []), *self.reading]
        return hashlib.sha256(json.dumps(what).encode()).hexdigest()


def parse_size(what):
    """A size as of hipec sim --frames."""
    text = str(what).lower()
    found = re.fullmatch(r"(\d+(?:\.\d+)?)( (?=.))?([a-z%]*)", text)
    number, unit = (fractions.Fraction(found[1]), found[3]) if found else (0, "")
    if unit == "%" and 1 <= number * 1000 <= 100000:
        return Size(text, int(number * 1000), True)
    if unit in UNITS and (unit or number == int(number)):
        number = int(number * UNITS[unit])
    else:
        number = int(number * BYTES.get(unit, 0) / PAGE)
    if found and not number and (unit in UNITS or unit in BYTES):
        raise Wrong(f"frames: want a page, 4 KiB, at least, not '{what}'")
    if not 0 < number <= MAX_FRAMES:
        raise Wrong(f"frames: want frames (4096, 4k), memory (64M, 512KiB) or a part of the pages "
                    f"(25%), not '{what}'")
    return Size(text, number, False)


def parse_sample(what):
    """A part of the pages, as of hipec sim --sample; empty: all."""
    found = re.fullmatch(r"1/([1-9]\d{0,4})", str(what))
    number = int(found[1]) if found else 0
    if what and (not found or number & (number - 1) or number > MAX_SAMPLE):
        raise Wrong(f"sample: want 1/N with a power of two up to {MAX_SAMPLE}, as 1/64, not '{what}'")
    return str(what) if number > 1 else ""


def find_image(hipec, name):
    """The .hpo file of a shipped policy."""
    beside = pathlib.Path(hipec).parent
    folders = [folder for folder in os.environ.get("HIPEC_POLICY_PATH", "").split(":") if folder]
    for folder in [*folders, beside / "policies", beside / "../share/hipec/policies"]:
        path = pathlib.Path(folder, f"{name}.hpo")
        if "/" not in name and path.is_file():
            return path
    raise Wrong(f"policies: '{name}' is neither a .hp or .hpo file, nor shipped, nor built in")


def compile_policy(hipec, source, images):
    """Compile a .hp file into a folder, under the name of its hash: runs that are made later, or
    elsewhere, have this very image."""
    beside = pathlib.Path(hipec).with_name("ampc")
    images = pathlib.Path(images)
    images.mkdir(parents=True, exist_ok=True)
    handle, draft = tempfile.mkstemp(".hpo", "draft-", images)
    os.close(handle)
    draft = pathlib.Path(draft)
    try:
        done = subprocess.run([beside if beside.exists() else "ampc", "-o", draft, "--", source],
                              check=False)
    except OSError as error:
        raise Wrong(f"ampc: {error.strerror}") from None
    if done.returncode:
        raise Wrong(f"{source}: it was not compiled")
    path = images / f"{hashlib.sha256(draft.read_bytes()).hexdigest()}.hpo"
    os.replace(draft, path)
    return path


def load_policy(hipec, name, images):
    """(what hipec sim takes, hash of the image)"""
    if name in BUILT_IN:
        return name, ""
    if name.endswith(".hp"):
        path = compile_policy(hipec, name, images)
    elif name.endswith(".hpo"):
        path = pathlib.Path(name)
    else:
        path = find_image(hipec, name)
    try:
        return str(path), hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise Wrong(f"{name}: {error.strerror}") from None


def texts(document, key, default=None):
    """A list of the plan, or one thing."""
    found = document.get(key, default)
    found = [found] if isinstance(found, (str, int)) else found
    if not isinstance(found, list) or not found or any(
            isinstance(item, bool) or not isinstance(item, (str, int)) for item in found):
        raise Wrong(f"{key}: want a list of them")
    return list(dict.fromkeys(str(item) for item in found))


def find_traces(patterns):
    """Files, by name or by glob, in the order of the plan. A name that is no glob is one even if
    there is no such file: its rows say so."""
    found = []
    for pattern in patterns:
        if glob.has_magic(pattern):
            more = sorted(name for name in glob.glob(pattern, recursive=True) if os.path.isfile(name))
            if not more:
                raise Wrong(f"traces: no file is '{pattern}'")
            found += more
        else:
            found.append(pattern)
    return list(dict.fromkeys(found))


def variants(name, params):
    """All choices of the values that the plan has for a policy's params."""
    choices = params.get(name, {})
    if not isinstance(choices, dict):
        raise Wrong(f"params: want names and values below [params.{name}]")
    values = [texts(choices, key) for key in sorted(choices)]
    return [tuple(zip(sorted(choices), row)) for row in itertools.product(*values)]


def read(path):
    """The document of a plan: TOML, or JSON if its name ends so."""
    try:
        data = pathlib.Path(path).read_bytes().decode()
        return json.loads(data) if path.endswith(".json") else tomllib.loads(data)
    except OSError as error:
        raise Wrong(f"{path}: {error.strerror}") from None
    except ValueError as error:
        raise Wrong(f"{path}: {error}") from None


def load(path, hipec, images, sample=None):
    """The plan in a file; with another sample than it says, or without one: "1/1"."""
    document = read(path)
    unknown = sorted(set(document) - KEYS)
    if unknown:
        raise Wrong(f"{path}: there is no '{unknown[0]}'; want {', '.join(sorted(KEYS))}")
    names, params = texts(document, "policies"), document.get("params", {})
    for name in sorted(set(params) - set(names)):
        raise Wrong(f"params: '{name}' is none of the policies")
    policies = []
    for name in names:
        image = load_policy(hipec, name, images)
        if "," in image[0]:
            raise Wrong(f"{image[0]}: its name has a comma")
        policies += [Policy(name, *image, choice) for choice in variants(name, params)]
    modes = texts(document, "modes", ["mapped"])
    if set(modes) - {"mapped", "exact"}:
        raise Wrong("modes: want mapped or exact")
    sizes = [parse_size(size) for size in texts(document, "frames", ["25%", "50%"])]
    return Plan(find_traces(texts(document, "traces")), policies,
                list(dict.fromkeys(sizes)), modes,
                str(document.get("warm-up", "")), bool(document.get("whole-writes", False)),
                parse_sample(sample or document.get("sample", "")), version_of(hipec),
                tuple(f"--{key}={document[key]}" for key in READING
                      if key in document))


def version_of(hipec):
    """What the command says that it is."""
    return subprocess.run([hipec, "--version"], text=True, check=True,
                          capture_output=True).stdout.split()[-1]


def python_has(name):
    """Say which package to install, if a module is missing."""
    try:
        return __import__(name)
    except ImportError:
        raise Wrong(f"it needs the Python package {name}: pip install {name}, in a virtual environment "
                    "(docs/user/sweeps.md)") from None
