# SPDX-License-Identifier: GPL-2.0-only
"""A profile as hipec makes it (build/schemas/profile.json is its form), ready to be drawn."""

import bisect
import hashlib
import math
import os
import pathlib

BESIDE = pathlib.Path(__file__).resolve().parent.parent     # where hipec is
NAME = 24       # characters of a name
FRAME = 4096    # bytes
UNITS = [("s", 1e9), ("ms", 1e6), ("us", 1e3), ("ns", 1)]


def memory(frames):
    """So many frames, as memory."""
    size = frames * FRAME
    for unit, least in [("GiB", 1 << 30), ("MiB", 1 << 20)]:
        if size >= least:
            return f"{size / least:.1f} {unit}"
    return f"{size >> 10} KiB"


def hits(row):
    """The part of accesses that are hits, in percent, as of hipec sim."""
    return f"{100 * row['hits'] / row['accesses']:.2f}" if row["accesses"] else "-"


def percent(part, all):
    """A share, in percent."""
    return f"{100 * part / all:.1f} %"


def zipf_in_words(popularity):
    """The law that was fitted, with how far it may be off, as a sentence."""
    law = popularity["zipf"]
    if not law:
        return "No law of Zipf is fitted: fewer than 10 pages have 20 accesses."
    skew, error = law["skew"], math.ceil(100 * law["error"]) / 100
    what = f"a skew of {skew:.2f} \u00b1 {error:.2f}" if error < skew else \
        f"a skew that cannot be told from 0: it is less than {skew + error:.2f}"
    return (f"The nearest law of Zipf has {what}. It is of the {law['pages']:,} pages with 20 "
            f"accesses or more, which have {percent(law['accesses'], popularity['sums'][-1])} of all, "
            f"and shares of these are off by {percent(law['misfit'], 1)} at most.")


def shares_in_words(popularity):
    """What the most accessed pages have: [(pages, part of all pages, part of the accesses)]."""
    ranks, sums = popularity["ranks"], popularity["sums"]
    places = dict.fromkeys(max(bisect.bisect_right(ranks, ranks[-1] * part) - 1, 0)
                           for part in (0.001, 0.01, 0.1, 0.5))
    return [(ranks[place], percent(ranks[place], ranks[-1]), percent(sums[place], sums[-1]))
            for place in places]


def rate_in_words(rate):
    """Requests in the mean, and at most, and what a part of the time is."""
    unit = "second" if rate["unit"] else "unit of the clock"
    requests, part = rate["requests"], rate["part"]
    return (f"{sum(requests) / (part * len(requests)):,.4g} requests per {unit} in the mean, at most "
            f"{max(requests) / part:,.4g} in {part:.3g} {rate['unit'] or 'units'}")


def reuse_in_words(row):
    """What accesses of a row have in common: how much memory lru needs to have their page."""
    return memory(row["frames"]) if row["frames"] else "first access"


def short(text, length=NAME):
    """Without its middle, if it is longer: files differ at their ends."""
    before = (length - 1) // 2
    return text if len(text) <= length else \
        f"{text[:before]}\N{HORIZONTAL ELLIPSIS}{text[before + 1 - length:]}"


class Run:
    """One policy on one trace: what was counted, by bins of time and bands of pages. Time is
    in accesses, or in a unit that suits all of it."""

    def __init__(self, profile, run):
        self.row = profile["rows"][run["row"]]
        self.trace = profile["traces"][run["trace"]]
        self.policy = self.row["policy"]
        self.application = run["application"]
        self.group = run.get("group")
        self.label = self.policy        # in its section
        self.per_bin = run["per_bin"]
        self.faults = run["faults"]
        self.unit, self.end = "accesses", self.trace["accesses"]
        self.clock = run["unit"] == "ns"
        if self.clock:
            whole = self.per_bin * len(self.faults)
            self.unit, self.ns = next((unit, ns) for unit, ns in UNITS if whole >= 10 * ns or ns == 1)
            self.per_bin, self.end = self.per_bin / self.ns, whole / self.ns
        self.per_fine, self.fine = run.get("per_fine"), run.get("fine")
        self.resident = run["resident"]
        self.frames = run.get("held")   # by bin, with those that wait for a page
        self.queues = [queue for queue in run.get("queues", [])
                       if queue["name"] or any(queue["length"])]
        self.counters = run.get("counters", [])
        self.events = run.get("events", [])
        self.lines = {int(line): count for line, count in run.get("lines", {}).items()}
        self.source = find_source(self.policy, run["source_hash"]) if self.lines else None
        self.file = self.files()
        self.bands = [self.name_of(band, band) for band in self.trace["bands"]]

    def files(self):
        """{file of the trace: what to call it}: its name without folders, unless that is
        another's, too; without its middle, if it is long."""
        paths = {name for band in self.trace["bands"]
                 for name in (band["region"], *(band["spans"] or ())) if name}
        cuts = [lambda path: short(pathlib.Path(path).name), short, str]
        return {path: next(cut(path) for cut in cuts
                           if cut is str or [*map(cut, paths)].count(cut(path)) == 1)
                for path in paths}

    def name_of(self, first, last):
        """The pages from one band to another; of a file, counted in it. Of more than one, the
        first and the last."""
        ends = [(first["spans"] or [first["region"]])[0], (last["spans"] or [last["region"]])[-1]]
        pages = [first["first"], last["last"]]
        if ends[0] != ends[1]:
            return " ... ".join(short(self.file[end], NAME // 2) if end else str(page)
                                for end, page in zip(ends, pages))
        pages = [str(page - first["region_first"]) for page in pages]
        span = "\N{EN DASH}".join(dict.fromkeys(pages))
        return f"{self.file[ends[0]]}: {span}" if ends[0] else span

    def faults_by_bin(self):
        """Faults of each bin, in all bands."""
        return [sum(bands) for bands in self.faults]

    def faults_by_band(self):
        """Faults of each band, in all bins."""
        return [sum(bins) for bins in zip(*self.faults)]

    def held(self):
        """Frames at the end of each bin; of a trace alone, those that hold a page."""
        return self.frames or [sum(bands) for bands in self.resident]

    def times(self, ends=False):
        """Where bins begin, or end."""
        return [min((number + ends) * self.per_bin, self.end)
                for number in range(len(self.faults))]

    def rate(self, faults, start, end):
        """Faults of 100 accesses, or of a second."""
        return (1e9 / self.ns if self.clock else 100) * faults / (end - start)

    def state(self):
        """How it ended, as hipec sim says it."""
        if self.row["built_in"]:
            return "built in"
        if self.row["exit"]["kind"]:
            return f"ended at access {self.row['exit']['access']}: {self.row['exit']['message']}"
        helped, orphans = self.row["helped"], self.row["forgotten"]
        return ("runs" + f", helped {helped} times" * bool(helped) +
                f", left {orphans} page{'s'[:orphans != 1]} on no queue" * bool(orphans))


class Section:
    """Runs that are drawn together: one trace's policies, or what ran side by side."""

    def __init__(self, profile, runs, together):
        self.runs = runs
        self.together = together
        self.title = ", ".join(dict.fromkeys(run.application for run in runs))
        self.policies = list(dict.fromkeys(run.policy for run in runs))
        for run in runs:
            name = self.short(run.policy)
            run.label = f"{run.application} ({name})" if together else name
        traces = {run.trace["name"] for run in runs}
        self.rows = [row for row in profile["rows"] if row["trace"] in traces]
        self.verdicts = {verdict["frames"]: verdict["text"] for verdict in profile["verdicts"]
                         if not together and verdict["trace"] in traces}
        self.end = max(run.end for run in runs)
        self.unit, self.clock = runs[0].unit, runs[0].clock
        self.rate = "faults per second" if self.clock else "faults per 100 accesses"
        self.frames = "most frames" if self.clock else "frames"
        self.machine = profile.get("machine")       # that they shared

    def alone(self, what):
        """What the trace does by itself; None: it is not known, or there are several."""
        return None if self.together else self.runs[0].trace[what]

    def short(self, policy):
        """What to call a policy: without its folder, and its end alone, if that is enough."""
        names = [pathlib.Path(name).name[-NAME:] for name in self.policies]
        name = pathlib.Path(policy).name[-NAME:]
        return name if names.count(name) == 1 else policy

    def curves(self):
        """{policy: [(frames, percent of accesses that fault)]}, by frames."""
        curves = {}
        for row in sorted(self.rows, key=lambda row: row["frames"]):
            points = curves.setdefault(self.short(row["policy"]), {})
            points[row["frames"]] = 100 * row["faults"] / row["accesses"]
        return {policy: list(points.items()) for policy, points in curves.items()}


def sections(profile):
    """What there is to draw, as Sections."""
    groups = {}
    for run in profile["runs"]:
        key = ("group", run["group"]) if run.get("group") is not None else run["trace"]
        groups.setdefault(key, []).append(Run(profile, run))
    return [Section(profile, runs, isinstance(key, tuple)) for key, runs in groups.items()]


def find_source(name, wanted):
    """The lines of the text that a policy was made of, or None. It is known by its hash."""
    path = pathlib.Path(name)
    tries = [path.with_suffix(".hp")]
    if "/" not in name and not path.suffix:
        folders = [*filter(None, os.environ.get("HIPEC_POLICY_PATH", "").split(":")),
                   BESIDE / "policies"]
        # A build keeps what it makes of policies/ in build/policies.
        tries = [pathlib.Path(folder) / f"{name}.hp" for folder in folders]
        tries += [BESIDE.parent / "policies" / f"{name}.hp",
                  BESIDE.parent.parent / "policies" / f"{name}.hp"]
    for path in tries:
        try:
            text = path.read_bytes()
        except OSError:
            continue
        if hashlib.sha256(text).hexdigest() == wanted:
            return text.decode(errors="replace").split("\n")
    return None
