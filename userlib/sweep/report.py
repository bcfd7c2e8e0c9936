#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""Draw a table of hipec sweep, as a page that needs nothing but itself. hipec sweep report runs
this.

    report.py HIPEC [--output FILE] [--json] -- RESULTS
"""

import argparse
import html
import json
import os
import pathlib
import sys

import league
import plan

PROFILE = pathlib.Path(__file__).resolve().parents[1] / "profile"
FAILED = 1

SCRIPT = """
async function draw() {
  delete document.body.dataset.drawn;
  const text = read("charts");
  const charts = JSON.parse(dark.matches ? text.replaceAll('"#000000"', '"#dddddd"') : text);
  for (const [key, chart] of Object.entries(charts)) {
    dress(chart);
    await Plotly.newPlot(key, chart.data, chart.layout, options);
  }
  document.body.dataset.drawn = dark.matches ? "dark" : "light";
}
"""


def ratios(number):
    """As the tables have them."""
    return "-" if number is None else f"{number:.3f}"


def scrolled(what, head, rows):
    """A table: cells are HTML, the first of each row is a text."""
    head = "".join(f'<th scope="col">{name}' for name in head)
    body = "".join(f"<tr><td>{html.escape(row[0])}" + "".join(f"<td>{cell}" for cell in row[1:])
                   for row in rows)
    return (f'<div class="wide" tabindex="0" role="region" aria-label="{html.escape(what)}">'
            f"<table><tr>{head}{body}</table></div>")


def table(found, what):
    """The league."""
    rows = []
    for one in found["policies"]:
        rows.append([one["policy"], f"{one['runs']:,}", f"{one['wins']:,}",
                     f"{100 * one['wins'] / one['runs']:.0f}", ratios(one["to_lru"]),
                     *(ratios(one["percentiles"][str(p)]) for p in league.PERCENTILES),
                     ratios(one["to_opt"]), f"{100 * one['misses']:.2f}",
                     "-" if one["commands"] is None else f"{one['commands']:.1f}",
                     f"{one['ended']:,}" if one["ended"] else ""])
    return scrolled(what, ["policy", "runs", "wins", "wins %", "to lru, mean",
                           *(f"{p} %" for p in league.PERCENTILES), "to opt, mean", "misses %",
                           "commands an access", "ended"], rows)


def family_table(found, what):
    """Ratios to lru of each policy in each family; the least of those that can be had is bold."""
    names = [one["policy"] for one in found["policies"]]
    best = {group: min((one["to_lru"] for name, one in entries.items()
                        if one["to_lru"] is not None and not name.startswith("opt")), default=None)
            for group, entries in found["by_family"].items()}

    def cell(group, name):
        number = found["by_family"][group][name]["to_lru"]
        text = ratios(number)
        return f"<b>{text}</b>" if number is not None and number == best[group] else text
    return scrolled(what, ["policy", *map(html.escape, found["families"])],
                    [[name, *(cell(group, name) for group in found["families"])] for name in names])


def curve(figures, found):
    """Misses by size; a list chooses the family."""
    groups = list(found["curves"])
    names = [one["policy"] for one in found["policies"]]
    fig = figures.figure(
        "Misses by memory", "memory, as in the plan", "misses per 100 accesses, geometric mean",
        updatemenus=figures.choice(groups, lambda chosen: [
            group == chosen for group in range(len(groups)) for _ in names]))
    for place, group in enumerate(groups):
        for number, name in enumerate(names):
            line = found["curves"][group][name]
            fig.add_scatter(name=figures.clean(name), x=found["sizes"], visible=not place,
                            y=[None if y is None else round(100 * y, 4) for y in line],
                            mode="lines+markers", line=figures.style(number),
                            marker={"symbol": figures.MARKS[number % len(figures.MARKS)]},
                            hovertemplate="%{y:.2f}")
    fig.update_xaxes(type="category")
    return fig


def spread(figures, found):
    """How often a policy misses how much in comparison to lru."""
    fig = figures.figure("Misses in comparison to lru, run by run", "percent of the runs",
                         "misses by those of lru", hovermode="closest")
    for number, one in enumerate(found["policies"]):
        values = one["sorted"]
        # Not more points than a screen has.
        places = sorted({round(i * (len(values) - 1) / 200) for i in range(201)}) if values else []
        fig.add_scatter(name=figures.clean(one["policy"]),
                        x=[100 * (place + 1) / len(values) for place in places],
                        y=[round(values[place], 5) for place in places], mode="lines",
                        line={**figures.style(number), "shape": "hv"},
                        hovertemplate="%{y:.3f} or less in %{x:.0f} % of the runs")
    return fig


def pareto(figures, found):
    """Misses against commands."""
    costed = [one for one in found["policies"] if one["commands"] is not None]
    if not costed:
        return None
    fig = figures.figure("Misses against commands", "commands of the policy an access",
                         "misses per 100 accesses, geometric mean", hovermode="closest")
    best = [one for name in found["front"] for one in costed if one["policy"] == name]
    for name, some, mode in [("beaten in both by another", [one for one in costed if
                                                            one["policy"] not in found["front"]],
                              "markers+text"),
                             ("beaten in both by none", best, "lines+markers+text")]:
        fig.add_scatter(name=name, mode=mode, x=[round(one["commands"], 3) for one in some],
                        y=[round(100 * one["misses"], 4) for one in some],
                        text=[figures.clean(one["policy"]) for one in some],
                        textposition="top center", marker={"size": 9},
                        line=figures.style(0 if some is best else 1),
                        hovertemplate="%{text}: %{y:.2f} with %{x:.1f} commands<extra></extra>")
    # Names stand above the points.
    least, most = (pick(100 * one["misses"] for one in costed) for pick in (min, max))
    room = (most - least or most) * 0.15
    fig.update_yaxes(range=[least - room, most + room], tickformat=".3~g")
    fig.update_xaxes(range=[0, 1.1 * max(one["commands"] for one in costed) or 1])
    return fig


CHARTS = [
    ("curve", curve, "Lower is better; opt knows the future and is the least that is possible. The "
     "list in the corner chooses a family of traces."),
    ("spread", spread, "A policy is below 1 where it misses less than lru. Where its line leaves 1 on "
     "the left says on how many runs it wins, and the right end how bad its worst run is."),
    ("pareto", pareto, "Down is fewer misses, left is a cheaper policy. Those on the line are worth "
     "a look. What is built in runs no commands, and is left out."),
]


def section(page, figures, mode, found):
    """HTML, links, charts of one mode."""
    parts = [f'<h2 id="{mode}">Mode {mode}</h2>',
             f"<p>{len(found['traces']):,} traces, {len(found['sizes'])} sizes, "
             f"{len(found['policies'])} policies; {found['errors']:,} rows are errors, which are left "
             "out."]
    if found["samples"]:
        parts.append(f" {found['samples']:,} rows are of a sample, and may be off by up to "
                     f"{100 * found['sampled']:.2f} points of their miss ratio, in 95 of 100.")
    parts += ["</p>", f'<h3 id="{mode}-league">League</h3>', table(found, f"League, {mode}"),
              '<p class="how">Those first that miss least. A win is a trace at a size where no '
              "policy that can be had misses less; who is equal wins too. Ratios are misses by those "
              "of lru, or of opt, on the same trace at the same size: their geometric mean, and what "
              "10, 50 and 90 of 100 runs are below.</p>"]
    links, charts = [(mode, f"Mode {mode}"), (f"{mode}-league", "League")], {}
    for key, make, how in CHARTS:
        fig = make(figures, found)
        if not fig:
            continue
        charts[f"{mode}-{key}"], title = page.chart_of(fig)
        words = "; ".join(f"{one['policy']}: {100 * one['misses']:.2f} misses per 100 accesses"
                          for one in found["policies"])
        parts.append(f'<h3 id="{mode}-{key}-title">{html.escape(title)}</h3><figure>'
                     f'<div class="chart" id="{mode}-{key}" role="img" aria-label="'
                     f'{html.escape(title + ". " + words, quote=True)}"></div>'
                     f'<figcaption class="how">{how}</figcaption></figure>')
        links.append((f"{mode}-{key}-title", title))
    if len(found["families"]) > 1:
        parts += [f'<h3 id="{mode}-families">By family of traces</h3>',
                  family_table(found, f"Families, {mode}"),
                  '<p class="how">Misses by those of lru, geometric mean; the least is bold. A family '
                  "is a folder of traces, or if all are in one, the letters that their names begin "
                  "with.</p>"]
        links.append((f"{mode}-families", "Families"))
    return parts, links, charts


def draw(title, leagues):
    """The page, as text."""
    sys.path.insert(1, str(PROFILE))
    try:
        import figures
        import page
    except ImportError as error:
        raise plan.Wrong(f"the page is drawn by plotly: {error}; apt install python3-plotly, and a "
                         "virtual environment with --system-site-packages; --json does without"
                         ) from None
    bodies, links, charts = [], [], {}
    for mode, found in leagues.items():
        parts, some, more = section(page, figures, mode, found)
        bodies += parts
        first, *rest = [f'<a href="#{where}">{html.escape(name)}</a>' for where, name in some]
        links.append(f"<b>{first}</b>" + "".join(rest))
        charts |= more
    return page.whole(title, links, bodies, charts, SCRIPT)


def read(path):
    """Rows of a table."""
    plan.python_has("pyarrow")
    import pyarrow.parquet as parquet
    try:
        return parquet.read_table(path).to_pylist()
    except (OSError, ValueError) as error:
        raise plan.Wrong(f"{path}: {error}") from None


def report(words):
    """What the command line says. Return: the exit code."""
    parser = argparse.ArgumentParser(prog="hipec sweep report", add_help=False)
    parser.add_argument("hipec")
    parser.add_argument("--output")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("results")
    args = parser.parse_args(words)
    path = args.results
    path = os.path.join(path, "results.parquet") if os.path.isdir(path) else path
    rows = read(path)
    modes = {mode: [row for row in rows if row["mode"] == mode]
             for mode in dict.fromkeys(row["mode"] for row in rows)}
    leagues = {mode: league.league(some) for mode, some in modes.items()
               if any(not row["error"] for row in some)}
    if not leagues:
        raise plan.Wrong(f"{path}: there is no row without an error")
    if args.json:
        print(json.dumps(leagues))
        return 0
    output = args.output or os.path.join(os.path.dirname(path), "report.html")
    name = os.path.basename(os.path.dirname(os.path.abspath(path))).removesuffix(".sweep")
    text = draw(f"hipec sweep: {name}", leagues)
    draft = f"{output}.{os.getpid()}"
    pathlib.Path(draft).write_text(text, encoding="utf-8")
    os.replace(draft, output)
    print(f"{output}: {len(text.encode()) / 2**20:.1f} MiB, for a browser")
    return 0


def main():
    """Do what the command line says."""
    try:
        return report(sys.argv[1:])
    except plan.Wrong as error:
        print(f"hipec sweep: {error}", file=sys.stderr)
    except OSError as error:
        print(f"hipec sweep: {error.filename or ''}: {error.strerror}", file=sys.stderr)
    return FAILED


if __name__ == "__main__":
    sys.exit(main())
