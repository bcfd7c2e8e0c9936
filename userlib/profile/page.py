# SPDX-License-Identifier: GPL-2.0-only
"""A profile as a page that needs nothing but itself: text and tables in HTML, charts in plotly,
whose program is in the page too, compressed."""

import base64
import html
import json
import zlib

import plotly.offline

import figures

STYLE = """
body { font: 15px/1.5 sans-serif; color: #222; max-width: 1200px; margin: 1em auto; padding: 0 1em }
h1 { font-size: 1.6em } h2 { border-bottom: 2px solid #0072b2; margin-top: 2em }
table { border-collapse: collapse } th, td { padding: .15em .8em; text-align: right }
th { border-bottom: 1px solid #888 } th:first-child, td:first-child, .words { text-align: left }
.chart { margin-top: 1.5em; min-height: 420px } .how { color: #555; margin: 0 0 2em 1em }
.source { font: 13px/1.4 monospace; overflow-x: auto } .source td { padding: 0 .6em }
.source td.words { white-space: pre } .source i { display: block; height: .8em;
background: #0072b2 } .source td.bar { width: 120px } summary { cursor: pointer }
#problem { color: #b00 }
"""

# Charts are drawn when the library is unpacked. The window of time that one chart has is all
# charts'; faults by region are summed up for it.
SCRIPT = """
const read = id => document.getElementById(id).textContent;
const sections = JSON.parse(read("charts"));
const options = { responsive: true, displaylogo: false,
  modeBarButtonsToRemove: ["select2d", "lasso2d"] };

function sums(run, from, to) {
  const total = run.faults[0].map(() => 0);
  run.faults.forEach((bands, bin) => {
    if ((bin + 1) * run.per_bin > from && bin * run.per_bin < to)
      bands.forEach((faults, band) => { total[band] += faults; });
  });
  return total;
}

function follow(section) {
  const [time, region] = ["time", "region"].map(key => document.getElementById(section.id + key));
  time.on("plotly_relayout", () => {
    const range = time.layout.xaxis.range;
    const [from, to] = section.clock ? range : range.map(Math.round);
    const all = from <= 0 && to >= section.end;
    const [first, last] = [from, to].map(at => at.toLocaleString("en"));
    Plotly.update(region, { y: section.runs.map(run => sums(run, from, to)) },
      { "title.text": "Page faults by region" +
        (all ? "" : section.clock ? `, from ${first} to ${last} ${section.unit}`
                                  : `, from access ${first} to ${last}`) });
    for (const key of ["map", "held", "queues", "counters"])
      if (section.charts[key])
        Plotly.relayout(section.id + key, { "xaxis.range": [from, to] });
  });
}

async function draw() {
  for (const section of sections) {
    for (const [key, chart] of Object.entries(section.charts))
      await Plotly.newPlot(section.id + key, chart.data, chart.layout, options);
    follow(section);
  }
  document.body.dataset.drawn = "all";
}

async function unpack() {
  const packed = Uint8Array.from(atob(read("library")), c => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const script = document.createElement("script");
  script.textContent = await new Response(stream).text();
  document.head.append(script);
}

unpack().then(draw).catch(error => {
  document.getElementById("problem").textContent =
    "The charts could not be drawn; they need a browser from 2023 or later. " + error;
  throw error;
});
"""

CHARTS = [
    ("curve", figures.curve,
     "How many of 100 accesses fault, by how much memory there is. Lower is better; opt knows the "
     "future and is the least that is possible. Where a line falls, more memory helps; where lines "
     "are apart, the policy matters. The dotted line is the memory of the charts below."),
    ("time", figures.faults_over_time,
     "How often there are faults, as time goes by, policy by policy. Drag the ends of "
     "the strip below the chart, or use the buttons, to choose a window of "
     "time: all charts below follow."),
    ("region", figures.faults_by_region,
     "Where the pages are that fault in the window of time, as in Figure 6 of the paper. Drag "
     "across some bars to see them larger; a double click shows all again. Pages that nobody "
     "touches are left out."),
    ("map", figures.resident_map,
     "Each row is a region, each column a moment, as in Figure 7 of the paper: how much of the "
     "region is in memory, or how often it faults. The list in the corner chooses the policy."),
    ("held", figures.frames_held,
     "How many frames are in use. Applications of one machine lie on top of each other; of a trace "
     "alone, frames count that hold a page. What rises fast fills its memory fast; what "
     "stays below its budget does not need it."),
    ("queues", figures.queue_lengths,
     "How many pages are on each queue of the policy, pages that it remembers without a frame "
     "included. The list in the corner chooses the policy."),
    ("counters", figures.counters,
     "Counters of the policy, on top of each other: with AMP the frames of its partitions, as in "
     "Figure 13 of its paper. The list in the corner chooses the policy."),
]


def table(section):
    """Counts, as hipec sim has them."""
    head = "<tr><th>" + "<th>".join(
        ["policy", section.frames, "accesses", "faults", "hits %", "pages written",
         "commands an access"]
    ) + '<th class="words">state'
    rows = []
    for run in section.runs:
        row = run.row
        cells = [html.escape(run.label), f"{row['frames']:,}", f"{row['accesses']:,}",
                 f"{row['faults']:,}", f"{100 * row['hits'] / row['accesses']:.2f}",
                 f"{row['written_pages']:,}",
                 f"{row['commands_per_access']:.1f}" if not row["built_in"] else "-"]
        rows.append("<tr><td>" + "<td>".join(cells) +
                    f'<td class="words">{html.escape(run.state())}')
    return f"<table>{head}{''.join(rows)}</table>"


def hot_lines(run):
    """The source of a policy, with how often its lines ran beside it."""
    total = sum(run.lines.values()) or 1
    most = max(run.lines.values(), default=0) or 1
    source = dict(enumerate(run.source, 1)) if run.source else dict.fromkeys(run.lines, "")
    rows = ['<tr><th>commands<th>%<th><th>line<th class="words">source']
    for number, line in source.items():
        count = run.lines.get(number)
        cells = ["", "", ""] if count is None else [
            f"{count:,}", f"{100 * count / total:.1f}",
            f'<i style="width:{100 * count / most:.0f}%"></i>' if count else ""]
        rows.append(f'<tr><td>{cells[0]}<td>{cells[1]}<td class="bar">{cells[2]}<td>{number}'
                    f'<td class="words">{html.escape(line)}')
    what = "" if run.source else " (its source was not found: only line numbers are known)"
    return (f"<details open><summary>{html.escape(run.label)}: {total:,} commands{what}</summary>"
            f'<table class="source">{"".join(rows)}</table></details>')


def chart_of(fig):
    """What plotly needs, in plain values."""
    return json.loads(fig.to_json())


def body(section, number):
    """A section: its HTML, and what the script needs to know."""
    ident = f"s{number}-"
    parts = [f"<h2>{html.escape(section.title)}</h2>", table(section)]
    frames = section.runs[0].row["frames"]
    if frames in section.verdicts:
        parts.append(f"<p><b>{frames:,} frames: {html.escape(section.verdicts[frames])}.</b></p>")
    if section.machine:
        parts.append(f"<p>On one machine of {section.machine['frames']:,} frames, under "
                     f"{section.machine['global']}, in this order of submission.</p>")
    charts = {}
    for key, make, how in CHARTS:
        fig = make(section)
        if fig:
            charts[key] = chart_of(fig)
            parts.append(f'<div class="chart" id="{ident}{key}"></div><p class="how">{how}</p>')
    policies = [run for run in section.runs if run.lines]
    if policies:
        parts.append("<h3>Where the policies spend their commands</h3>")
        parts += map(hot_lines, policies)
        parts.append('<p class="how">Commands of the virtual machine that each line ran, of all '
                     "that the policy ran. Lines without a number make none.</p>")
    return "\n".join(parts), {
        "id": ident, "end": section.end, "unit": section.unit, "clock": section.clock,
        "charts": charts,
        "runs": [{"per_bin": run.per_bin, "faults": run.faults} for run in section.runs]}


def page(sections):
    """The whole page, as text."""
    bodies, data = zip(*(body(section, number) for number, section in enumerate(sections)))
    title = html.escape("hipec profile: " + ", ".join(section.title for section in sections))
    library = base64.b64encode(zlib.compress(plotly.offline.get_plotlyjs().encode())).decode()
    # Nothing in a script's text may look like its end.
    charts = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title><style>{STYLE}</style></head>
<body><h1>{title}</h1>
<p id="problem"><noscript>The charts need JavaScript; the tables do not.</noscript></p>
{"".join(bodies)}
<script type="application/json" id="charts">{charts}</script>
<script type="text/plain" id="library">{library}</script>
<script>{SCRIPT}</script></body></html>
"""
