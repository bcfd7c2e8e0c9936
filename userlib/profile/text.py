# SPDX-License-Identifier: GPL-2.0-only
"""A profile as text, 80 columns wide, for those without a browser."""

import textwrap

from data import hits, percent, rate_in_words, reuse_in_words, shares_in_words, zipf_in_words

WIDTH = 80
COLUMNS = 60    # of time
REGIONS = 12    # rows of a table
ABREAST = 4     # policies beside each other
HOT = 8         # lines of a policy
NAME = 40       # of a trace

# From nothing to all; the second is for terminals without Unicode.
LEVELS = [" \u2581\u2582\u2583\u2584\u2585\u2586\u2587\u2588", " .:-=+*#@"]
SHADES = [" \u2591\u2592\u2593\u2588", " .+*#"]
BARS = ["\u2588", "#"]


class Pen:
    """Where to write, and with which characters."""

    def __init__(self, out):
        self.out = out
        self.plain = 0
        try:
            "".join(LEVELS[:1] + SHADES[:1]).encode(out.encoding or "ascii")
        except UnicodeEncodeError:
            self.plain = 1

    def number(self, number):
        """As hipec sim prints it: for a person with separators."""
        return f"{number:,}" if self.out.isatty() else str(number)

    def count(self, number, thing):
        """1 page, 2 pages."""
        end = "" if number == 1 else "es" if thing.endswith("s") else "s"
        return f"{self.number(number)} {thing}{end}"

    def line(self, text=""):
        """A line, which may be cut off."""
        if self.plain:
            text = text.replace("\N{EN DASH}", "-").replace("\N{PLUS-MINUS SIGN}", "+-")
            text = text.encode("ascii", "replace").decode()
        text = "".join(char if char.isprintable() else "?" for char in text[:WIDTH])
        self.out.write(text.rstrip() + "\n")

    def head(self, text):
        """Of a part."""
        self.line()
        self.line(text)

    def row(self, levels, parts):
        """A character for each of @parts, which are from 0 to 1."""
        scale = levels[self.plain]
        # Only nothing is drawn as nothing.
        return "".join(scale[min(int(part * (len(scale) - 2)) + 1, len(scale) - 1) if part else 0]
                       for part in parts)

    def bar(self, part, width):
        """A bar: @part of @width characters."""
        return BARS[self.plain] * max(round(part * width), 1 if part else 0)


def fold(values, most):
    """Neighbours together until there are @most: [(first, behind the last)]."""
    step = -(-len(values) // most)
    return [(first, min(first + step, len(values))) for first in range(0, len(values), step)]


def columns(rows):
    """Lines of a table: the first column to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    return ["  ".join(cell.rjust(width) if number else cell.ljust(width)
                      for number, (cell, width) in enumerate(zip(row, widths))) for row in rows]


def counts(pen, section):
    """What hipec sim says."""
    rows = [["policy", section.frames, "faults", "hits%", "written", "commands"]]
    for run in section.runs:
        row = run.row
        rows.append([run.label, pen.number(row["frames"]), pen.number(row["faults"]), hits(row),
                     pen.number(row["written_pages"]),
                     pen.number(row["commands"]) if not row["built_in"] else "-"])
    states = ["state", *(run.state() for run in section.runs)]
    for line, state in zip(columns(rows), states):
        pen.line(f"{line}  {state}")
    frames = section.runs[0].row["frames"]
    if frames in section.verdicts:
        pen.line(f"{pen.count(frames, 'frame')}: {section.verdicts[frames]}")


def curves(pen, section):
    """Miss ratios, as numbers."""
    curve = section.curves()
    pen.head("Faults per 100 accesses, by frames of memory")
    names = list(curve)
    fit = (WIDTH - len("1,048,576")) // (max(len("100.00"), *map(len, names)) + 2)
    for start in range(0, len(names), fit):
        some = names[start:start + fit]
        rows = [["frames", *some]]
        for points in zip(*(curve[name] for name in some)):
            rows.append([pen.number(points[0][0]), *(f"{percent:.2f}" for _, percent in points)])
        for line in columns(rows):
            pen.line(line)


def folded_rate(run):
    """Faults of each column."""
    faults, starts, ends = run.faults_by_bin(), run.times(), run.times(True)
    return [run.rate(sum(faults[first:end]), starts[first], ends[end - 1])
            for first, end in fold(faults, COLUMNS)]


def over_time(pen, section):
    """Faults of each stretch of time, a line for each policy."""
    run = section.runs[0]
    step = fold(run.faults, COLUMNS)[0][1] * run.per_bin
    rates = [folded_rate(run) for run in section.runs]
    most = max(map(max, rates)) or 1
    if section.clock:
        pen.head(f"Page faults over time; a column is {step:.3g} {run.unit}, full at "
                 f"{most:,.1f} {section.rate}")
    else:
        most = 100
        pen.head(f"Page faults over time; a column is {pen.count(step, 'access')}, full if all of them fault")
    width = max(len(run.label) for run in section.runs)
    for run, rate in zip(section.runs, rates):
        parts = [cell / most for cell in rate]
        pen.line(f"{run.label.ljust(width)} |{pen.row(LEVELS, parts)}|")


def frames_held(pen, section):
    """Of a machine that several share."""
    if not section.machine:
        return
    frames = section.machine["frames"]
    pen.head(f"Frames held over time; full at {pen.number(frames)}")
    width = max(len(run.label) for run in section.runs)
    for run in section.runs:
        parts = [run.held()[end - 1] / frames for _, end in fold(run.faults, COLUMNS)]
        pen.line(f"{run.label.ljust(width)} |{pen.row(LEVELS, parts)}|")


def folded_bands(run):
    """[(name, first band, behind the last)], of one file each if these are not too many."""
    bands = run.trace["bands"]
    files = [number if band["spans"] else band["region"] for number, band in enumerate(bands)]
    places = fold(run.bands, REGIONS)
    step = places[0][1]
    alone, first = [], 0
    for end in range(1, len(files) + 1):
        if end == len(files) or files[end] != files[first] or end - first == step:
            alone.append((first, end))
            first = end
    if len(alone) <= 2 * REGIONS:
        places = alone
    return [(run.name_of(bands[first], bands[end - 1]), first, end) for first, end in places]


def by_region(pen, section):
    """Figure 6 of the paper: bars."""
    pen.head("Page faults by region (pages)")
    abreast = 1 if section.together else ABREAST    # of one trace
    for start in range(0, len(section.runs), abreast):
        some = section.runs[start:start + abreast]
        regions = folded_bands(some[0])
        faults = [run.faults_by_band() for run in some]
        cells = [[sum(bands[first:end]) for bands in faults] for _, first, end in regions]
        name = max(len("region"), *(len(region) for region, _, _ in regions))
        most = max(max(row) for row in cells)
        digits = len(pen.number(most))
        width = (WIDTH - name) // len(some) - digits - 3
        pen.line("region".ljust(name) + "".join(
            f"  {run.label[:digits + width].rjust(digits)}".ljust(digits + width + 3)
            for run in some))
        for (region, _, _), row in zip(regions, cells):
            pen.line(region.ljust(name) + "".join(
                f"  {pen.number(count).rjust(digits)} {pen.bar(count / most, width).ljust(width)}"
                for count in row))


def resident(pen, section):
    """Figure 7 of the paper: regions by time."""
    for run in section.runs:
        regions = folded_bands(run)
        name = max(len(region) for region, _, _ in regions)
        most = min(COLUMNS, WIDTH - name - 3)
        pen.head(f"Resident pages over time, {run.label}: full if all of the region is there")
        for region, first, end in regions:
            pages = sum(band["pages"] for band in run.trace["bands"][first:end])
            parts = [sum(run.resident[last - 1][first:end]) / pages
                     for _, last in fold(run.resident, most)]
            pen.line(f"{region.ljust(name)} |{pen.row(SHADES, parts)}|")


def pattern(pen, section):
    """What the trace does, whatever the policy."""
    popularity, reuse = section.alone("popularity"), section.alone("reuse")
    if not popularity:
        return
    pen.head("Popularity of pages: shares of the accesses")
    rows = [[pen.count(pages, "page"), part, of_all]
            for pages, part, of_all in shares_in_words(popularity)]
    for line in columns([["the first", "of all", "accesses"], *rows]):
        pen.line(line)
    for line in textwrap.wrap(zipf_in_words(popularity), WIDTH):
        pen.line(line)
    of_all = [sum(column) for column in zip(*(row["accesses"] for row in reuse))]
    places = fold(of_all, COLUMNS)
    rows = [(row, [sum(row["accesses"][first:end]) / sum(of_all[first:end]) for first, end in places])
            for row in reuse if any(row["accesses"])]
    most = max(max(parts) for _, parts in rows)
    pen.head(f"Reuse over time: memory that lru needs to have the page; full at {percent(most, 1)}")
    for row, parts in rows:
        pen.line(f"{reuse_in_words(row):>12} |{pen.row(LEVELS, [part / most for part in parts])}|")
    request_rate(pen, section.alone("rate"))


def request_rate(pen, rate):
    """By the clock of the trace, if it has one."""
    if not rate:
        return
    pen.head("Request rate over the trace's time; full at the most")
    requests = rate["requests"]
    sums = [sum(requests[first:end]) / (end - first) for first, end in fold(requests, COLUMNS)]
    pen.line(f"|{pen.row(LEVELS, [one / max(sums) for one in sums])}|")
    pen.line(rate_in_words(rate))


def queues(pen, run):
    """Lengths over time."""
    if not run.queues:
        return
    most = max(max(queue["length"]) for queue in run.queues) or 1
    pen.head(f"Queue lengths over time, {run.label}: full at {pen.count(most, 'page')}")
    names = [queue["name"] or "on no queue" for queue in run.queues]
    for name, queue in zip(names, run.queues):
        parts = [queue["length"][end - 1] / most for _, end in fold(queue["length"], COLUMNS)]
        pen.line(f"{name.ljust(max(map(len, names)))} |{pen.row(LEVELS, parts)}|")


def hot_lines(pen, run):
    """The lines that run most."""
    total = sum(run.lines.values())
    if not total:
        return
    pen.head(f"Hottest lines of {run.label}, of {pen.count(total, 'command')}")
    hottest = sorted(run.lines, key=lambda line: (-run.lines[line], line))[:HOT]
    for line in hottest:
        if run.lines[line]:
            source = run.source[line - 1].strip() if run.source else "(its source was not found)"
            pen.line(f"{pen.number(run.lines[line]):>12} {100 * run.lines[line] / total:5.1f}%  "
                     f"{line:>4}  {source.expandtabs(1)}")


def write(sections, out):
    """All sections."""
    pen = Pen(out)
    for number, section in enumerate(sections):
        trace = section.runs[0].trace
        if number:
            pen.line()
        title = section.title if len(section.title) <= NAME else f"...{section.title[3 - NAME:]}"
        if section.machine:
            pen.line(f"{title}: {pen.count(section.machine['frames'], 'frame')}, {section.machine['global']}")
        else:
            pen.line(f"{title}: {pen.count(trace['accesses'], 'access')} to {pen.count(trace['pages'], 'page')}")
        counts(pen, section)
        if not section.clock:
            curves(pen, section)
        over_time(pen, section)
        frames_held(pen, section)
        by_region(pen, section)
        resident(pen, section)
        for run in section.runs:
            queues(pen, run)
            hot_lines(pen, run)
        pattern(pen, section)
