# SPDX-License-Identifier: GPL-2.0-only
"""The charts of a section, drawn by plotly. Colours are Okabe and Ito's, which the colour-blind
can tell apart; dashes and marks tell them apart once more."""

import html

import plotly.graph_objects as go

from data import memory, reuse_in_words

COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"]
DASHES = ["solid", "dash", "dot", "dashdot", "longdash", "longdashdot"]
MARKS = ["circle", "square", "diamond", "triangle-up", "x", "cross", "star"]
SHADES = [[0, "#ffffff"], [0.001, "#e8f1f8"], [0.5, "#4a90c2"], [1, "#08306b"]]
FEW = 30        # points of a line that are marked, too
HEIGHT = 380
PANEL = 90      # of one run's faults over time

REGION = "region (pages of 4 KiB, by their number)"


def style(number):
    """How to draw a run, or a queue, by its place in the list."""
    return {"color": COLOURS[number % len(COLOURS)], "dash": DASHES[number % len(DASHES)],
            "width": 2}


def clean(text):
    """Plotly takes text for a kind of HTML."""
    return html.escape(text, quote=False)


def figure(title, x, y, **layout):
    """An empty chart."""
    fig = go.Figure(layout={
        "title": {"text": title, "x": 0.01, "xanchor": "left", "y": 1, "yanchor": "top",
                  "yref": "container", "pad": {"t": 14}},
        "template": "none", "height": HEIGHT, "hovermode": "x unified", "colorway": COLOURS,
        "font": {"family": "sans-serif", "size": 13, "color": "#222"},
        "margin": {"l": 70, "r": 20, "t": 84, "b": 56},
        "legend": {"orientation": "h", "x": 0, "y": 1.0, "yanchor": "bottom"},
        "xaxis": {"title": {"text": x, "standoff": 10}, "showgrid": False, "showline": True,
                  "linecolor": "#888", "ticks": "outside", "zeroline": False},
        "yaxis": {"title": {"text": y, "standoff": 14}, "gridcolor": "#e4e4e4", "rangemode": "tozero",
                  "zeroline": False},
        **layout})
    return fig


def buttons(items, **place):
    """A row of buttons, or a list to choose from: [(label, method, arguments)]."""
    menu = {"type": "buttons", "direction": "right", "showactive": True, "x": 1, "xanchor": "right",
            "y": 1.0, "yanchor": "bottom", "pad": {"b": 30}, "font": {"size": 12},
            "buttons": [{"label": label, "method": method, "args": args}
                        for label, method, args in items], **place}
    return [menu]


def choice(labels, shown, layout=lambda number: {}):
    """A list from which one is shown: @shown(number) are the traces of it, @layout(number) what
    changes with them."""
    items = [(clean(label), "update", [{"visible": shown(number)}, layout(number)])
             for number, label in enumerate(labels)]
    return buttons(items, type="dropdown", direction="down") if len(labels) > 1 else []


def time(section):
    """The name of its axis."""
    return f"time ({section.unit})"


def mode(points):
    """Of a line."""
    return "lines+markers" if points <= FEW else "lines"


def curve(section):
    """Miss ratio by memory, if that was varied."""
    if section.clock:
        return None
    fig = figure("Faults by memory", "memory (frames of 4 KiB)", "faults per 100 accesses",
                 updatemenus=buttons([("linear", "relayout", [{"xaxis.type": "linear"}]),
                                      ("logarithmic", "relayout", [{"xaxis.type": "log"}])]))
    for number, (policy, points) in enumerate(section.curves().items()):
        frames, percent = zip(*points)
        fig.add_scatter(name=clean(policy), x=frames, y=percent, mode="lines+markers",
                        line=style(number), marker={"symbol": MARKS[number % len(MARKS)]},
                        customdata=list(map(memory, frames)),
                        hovertemplate="%{y:.2f} with %{customdata}")
    if not section.together:
        fig.add_vline(x=section.runs[0].row["frames"], line={"color": "#888", "dash": "dot"},
                      annotation={"text": "drawn below", "font": {"size": 11}})
    return fig


def faults_over_time(section):
    """Faults of each bin; a slider below it chooses a window of time for all charts."""
    end = section.end
    quarters = [(f"{quarter + 1}/4", "relayout", [{"xaxis.range": [end * quarter / 4,
                                                                   end * (quarter + 1) / 4]}])
                for quarter in range(4)]
    runs = section.runs
    rates = [[run.rate(*bin) for bin in zip(run.faults_by_bin(), run.times(), run.times(True))]
             for run in runs]
    top_rate = 1.05 * max(map(max, rates)) if section.clock else 105
    fig = figure(f"Page faults over time ({section.rate})", time(section), None,
                 height=220 + PANEL * len(runs), showlegend=False,
                 updatemenus=buttons([("all", "relayout", [{"xaxis.range": [0, end]}]), *quarters]))
    for number, (run, rate) in enumerate(zip(runs, rates)):
        axis = f"y{number + 1}" if number else "y"
        fig.add_scatter(name=clean(run.label), x=[*run.times(), run.end], y=rate + rate[-1:],
                        mode=mode(len(rate)), fill="tozeroy", yaxis=axis, hovertemplate="%{y:.1f}",
                        line={"color": style(number)["color"], "width": 1, "shape": "hv"})
        # From above, each with its name over it.
        top = 1 - (number + 0.2) / len(runs)
        fig.add_annotation(text=clean(run.label), xref="paper", x=0, xanchor="left", yref="paper",
                           y=top, yanchor="bottom", showarrow=False)
        fig.layout[f"yaxis{axis[1:]}"] = {
            "domain": [max(top - 0.75 / len(runs), 0), top], "range": [0, top_rate], "nticks": 3,
            "gridcolor": "#e4e4e4", "zeroline": False, "fixedrange": True}
    fig.update_xaxes(range=[0, end], anchor=f"y{len(runs)}" if len(runs) > 1 else "y",
                     rangeslider={"visible": True, "thickness": 40 / fig.layout.height})
    return fig


def faults_by_region(section):
    """Figure 6 of the paper, for the window that is chosen."""
    fig = figure("Page faults by region", REGION, "faults", barmode="group", bargap=0.1,
                 hovermode="x")
    for number, run in enumerate(section.runs):
        fig.add_bar(name=clean(run.label), x=list(map(clean, names(section, run))),
                    y=run.faults_by_band(), marker={"color": style(number)["color"]},
                    hovertemplate="%{y} faults in %{x}<extra>%{fullData.name}</extra>")
    fig.update_xaxes(type="category", nticks=16, tickangle=-30, automargin=True)
    return fig


def names(section, run):
    """Names of bands; of programs that ran side by side each has its own."""
    return [f"{run.application} {band}" if section.together else band for band in run.bands]


def grid(run, which):
    """Rows of a map, one for each band: of @which percent are resident, or fault."""
    if which == "faults":
        return [[run.rate(*cell) for cell in zip(row, run.times(), run.times(True))]
                for row in zip(*run.faults)]
    return [[100 * cell / band["pages"] for cell in row]
            for row, band in zip(zip(*run.resident), run.trace["bands"])]


def kinds_of_map(section):
    """What a map can show, in the order of its list."""
    return [(run, which) for run in section.runs for which in ("resident", "faults")]


def beside(section):
    """What the second map shows at first: of the policy with fewest faults, among those that
    do not know the future, if the first map's is another. Else its faults."""
    kinds = kinds_of_map(section)
    if section.together:
        return min(2, len(kinds) - 1)
    best = min(section.runs, key=lambda run: (run.policy.startswith("opt"), run.row["faults"]))
    return 1 if best is section.runs[0] else kinds.index((best, "resident"))


def resident_map(section):
    """Figure 7 of the paper, for all times at once."""
    kinds = kinds_of_map(section)
    fig = figure("Where pages are resident, and where they fault", time(section), REGION,
                 hovermode="closest", height=HEIGHT + 80,
                 updatemenus=choice([f"{run.label}: {which}" for run, which in kinds],
                                    lambda chosen: [number == chosen
                                                    for number in range(len(kinds))]))
    when = f"%{{x:.4g}} {section.unit}" if section.clock else "access %{x:,.0f}"
    for number, (run, which) in enumerate(kinds):
        unit = "% of the pages" if which == "resident" else section.rate
        fig.add_heatmap(name=clean(run.label), x0=run.per_bin / 2, dx=run.per_bin,
                        y=list(map(clean, run.bands)),
                        z=[[round(cell, 2) for cell in row] for row in grid(run, which)],
                        visible=not number, colorscale=SHADES, zmin=0,
                        zmax=100 if which == "resident" else None,
                        colorbar={"title": {"text": unit, "side": "right"}},
                        hovertemplate=f"%{{y}}<br>{when}<br>%{{z}} {unit}"
                        f"<extra>{clean(run.label)}</extra>")
    fig.update_yaxes(type="category", nticks=12, automargin=True)
    fig.update_xaxes(range=[0, section.end])
    return fig


def popularity(section):
    """Accesses by rank, and the law of Zipf that was fitted."""
    found = section.alone("popularity")
    if not found:
        return None
    fig = figure("Popularity of pages", "rank of the page", "accesses to it", hovermode="closest")
    fig.add_scatter(name="pages", x=found["ranks"], y=found["accesses"], mode=mode(len(found["ranks"])),
                    line=style(0), customdata=[100 * part / found["sums"][-1] for part in found["sums"]],
                    hovertemplate="rank %{x:,}: %{y:,} accesses<br>"
                    "%{customdata:.1f} % are to it and those before it")
    law = found["zipf"]
    if law:
        ends = [1, law["pages"]]
        fig.add_scatter(name=f"Zipf, skew {law['skew']:.2f}", x=ends, mode="lines", line=style(1),
                        y=[law["first"] * rank ** -law["skew"] for rank in ends],
                        hoverinfo="name")
    fig.update_xaxes(type="log")
    fig.update_yaxes(type="log")
    return fig


def request_rate(section):
    """Requests over time, by the clock of the trace."""
    rate = section.alone("rate")
    if not rate:
        return None
    unit = "second" if rate["unit"] else "unit"
    parts = [number * rate["part"] for number in range(len(rate["requests"]) + 1)]
    rates = [requests / rate["part"] for requests in rate["requests"]]
    fig = figure("Request rate", f"time of the trace ({rate['unit'] or 'units of its clock'})",
                 f"requests per {unit}")
    fig.add_scatter(x=parts, y=rates + rates[-1:], mode="lines", fill="tozeroy", showlegend=False,
                    line={"color": style(0)["color"], "width": 1, "shape": "hv"},
                    hovertemplate="%{y:,.4g}<extra></extra>")
    return fig


def reuse_over_time(section):
    """How far back the last access to the same page is: of 100 accesses of each moment."""
    run = section.runs[0]
    rows = [row for row in section.alone("reuse") or () if any(row["accesses"])]
    if not rows:
        return None
    of_all = [sum(column) for column in zip(*(row["accesses"] for row in rows))]
    fig = figure("Reuse over time", time(section), "memory that lru needs to have the page",
                 hovermode="closest")
    fig.add_heatmap(x0=run.per_bin / 2, dx=run.per_bin, y=list(map(reuse_in_words, rows)),
                    z=[[round(100 * part / all, 2) for part, all in zip(row["accesses"], of_all)]
                       for row in rows],
                    colorscale=SHADES, zmin=0,
                    colorbar={"title": {"text": "% of the accesses", "side": "right"}},
                    hovertemplate="%{y}<br>access %{x:,.0f}<br>%{z} % of the accesses<extra></extra>")
    fig.update_yaxes(type="category", automargin=True)
    fig.update_xaxes(range=[0, section.end])
    return fig


def frames_held(section):
    """Who has how many frames."""
    fig = figure("Frames held over time", time(section),
                 "frames" if section.clock else "frames that hold a page")
    for number, run in enumerate(section.runs):
        held = run.held()
        fig.add_scatter(name=clean(run.label), x=[0, *run.times(True)], y=[0, *held],
                        mode=mode(len(held)), line=style(number),
                        customdata=[memory(n) for n in [0, *held]],
                        hovertemplate="%{y:,} (%{customdata})",
                        stackgroup="all" if section.together else None)
    fig.update_xaxes(range=[0, section.end])
    return fig


def queue_lengths(section):
    """Pages on each queue, of one policy at a time."""
    runs = [run for run in section.runs if run.queues]
    if not runs:
        return None
    owner = [number for number, run in enumerate(runs) for _ in run.queues]
    fig = figure("Queue lengths over time", time(section), "pages on the queue",
                 updatemenus=choice([run.label for run in runs],
                                    lambda chosen: [number == chosen for number in owner]))
    for number, run in enumerate(runs):
        for place, queue in enumerate(run.queues):
            fig.add_scatter(name=clean(queue["name"] or "on no queue"), x=[0, *run.times(True)],
                            y=[0, *queue["length"]], mode=mode(len(queue["length"])),
                            line=style(place), visible=not number, hovertemplate="%{y:,}")
    fig.update_xaxes(range=[0, section.end])
    return fig


def counters(section):
    """Counters of one policy at a time, on top of each other: AMP's Figure 13."""
    # Those that never count say nothing; of AMP they are partitions that were never used.
    used = [(run, [one for one in run.counters if any(one["value"])]) for run in section.runs]
    used = [(run, several) for run, several in used if several]
    if not used:
        return None

    def axis(number):
        run, several = used[number]
        frames = all(one["name"].startswith("frames") for one in several)
        return f"{'frames (of 4 KiB)' if frames else 'counts'} of {clean(run.label)}"
    owner = [number for number, (_, several) in enumerate(used) for _ in several]
    title = "Counters over time" + f": {clean(used[0][0].label)}" * (len(used) == 1)
    fig = figure(title, time(section), axis(0),
                 updatemenus=choice([run.label for run, _ in used],
                                    lambda chosen: [number == chosen for number in owner],
                                    lambda chosen: {"yaxis.title.text": axis(chosen)}))
    for number, (run, several) in enumerate(used):
        for place, counter in enumerate(several):
            fig.add_scatter(name=clean(counter["name"]), x=[0, *run.times(True)],
                            y=[0, *counter["value"]], mode="lines", line=style(place),
                            stackgroup=str(number), visible=not number, hovertemplate="%{y:,}")
    fig.update_xaxes(range=[0, section.end])
    return fig
