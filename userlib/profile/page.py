# SPDX-License-Identifier: GPL-2.0-only
"""A profile as a page that needs nothing but itself: text and tables in HTML, charts in plotly,
whose program is in the page too, compressed."""

import base64
import html
import json
import zlib

import plotly.offline

import figures
from data import hits, memory, rate_in_words, zipf_in_words

STYLE = """
:root { color-scheme: light dark; --text: #222; --back: #fff; --dim: #555; --line: #888;
--mark: #0072b2; --link: #005a8c; --bad: #b00 }
@media (prefers-color-scheme: dark) { :root { --text: #ddd; --back: #16181c; --dim: #aaa;
--line: #777; --mark: #3a9ad9; --link: #6db8ea; --bad: #ff8a80 } }
body { font: 15px/1.5 sans-serif; color: var(--text); background: var(--back);
max-width: 1200px; margin: 0 auto; padding: 1em }
a { color: var(--link) } h1 { font-size: 1.6em; overflow-wrap: anywhere }
h2 { border-bottom: 2px solid var(--mark); margin-top: 2em; overflow-wrap: anywhere }
h3 { margin: 1.5em 0 0; font-size: 1.1em } h2, h3 { scroll-margin-top: 3em }
nav { position: sticky; top: 0; z-index: 1; background: var(--back); padding: .4em 0;
border-bottom: 1px solid var(--line); white-space: nowrap; overflow-x: auto }
nav a { margin-right: 1em } nav b { margin-right: .6em }
.wide { overflow-x: auto } table { border-collapse: collapse }
th, td { padding: .15em .8em; text-align: right; white-space: nowrap }
th { border-bottom: 1px solid var(--line) }
th:first-child, td:first-child, .words { text-align: left }
figure { margin: 0; min-width: 0 } .chart { min-height: 380px }
.how { color: var(--dim); margin: 0 0 1em 1em } .moment { min-height: 1.5em; margin: 0 0 0 1em }
.pair { display: flex; flex-wrap: wrap; gap: 1em } .pair > div { flex: 1 1 420px; min-width: 0 }
.source { font: 13px/1.4 monospace } .source td { padding: 0 .6em }
.source td.words { white-space: pre } .source i { display: block; height: .8em;
background: var(--mark) } .source td.bar { width: 120px } summary { cursor: pointer }
#problem { color: var(--bad) }
@media (max-width: 600px) { body { padding: .5em; font-size: 14px } th, td { padding: .15em .4em }
.how, .moment { margin-left: 0 } .pair > div { flex-basis: 100% } }
"""

# Of all pages with charts: these are drawn when the library is unpacked, in the colours of the
# system's scheme.
COMMON = """
const read = id => document.getElementById(id).textContent;
const dark = matchMedia("(prefers-color-scheme: dark)"), narrow = matchMedia("(max-width: 600px)");
const options = { responsive: true, displaylogo: false,
  modeBarButtonsToRemove: ["select2d", "lasso2d"] };

function dress(chart) {
  const line = "#888";
  const [text, grid] = dark.matches ? ["#ddd", "#3a3d44"] : ["#222", "#e4e4e4"];
  const layout = chart.layout;
  layout.paper_bgcolor = layout.plot_bgcolor = "rgba(0,0,0,0)";
  layout.font.color = text;
  layout.modebar = { bgcolor: "rgba(0,0,0,0)", color: line, activecolor: text };
  layout.hoverlabel = { bgcolor: dark.matches ? "#26292f" : "#fff", font: { color: text } };
  for (const [key, axis] of Object.entries(layout))
    if (/^[xy]axis/.test(key))
      Object.assign(axis, { gridcolor: grid, linecolor: line, tickcolor: line });
  for (const menu of layout.updatemenus || [])
    Object.assign(menu, { bgcolor: dark.matches ? "#26292f" : "#fff", bordercolor: line,
      showactive: !dark.matches, font: { ...menu.font, color: text } });
  for (const data of chart.data)
    if (data.type === "heatmap" && dark.matches)
      data.colorscale = [[0, "#16181c"], [0.001, "#1c2a38"], [0.5, "#3a7fb5"],
        [1, "#d6ecff"]];
  if (narrow.matches) {
    layout.margin = { ...layout.margin, l: 48, r: 8 };
    layout.font.size = 11;
    for (const data of chart.data)
      if (data.colorbar)
        data.colorbar = { ...data.colorbar, thickness: 10, title: { text: "" } };
  }
}
"""

# Behind what a page has of its own, which is draw().
START = """
async function unpack() {
  const packed = Uint8Array.from(atob(read("library")), c => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const script = document.createElement("script");
  script.textContent = await new Response(stream).text();
  document.head.append(script);
}

unpack().then(draw).then(() => dark.addEventListener("change", draw)).catch(error => {
  document.getElementById("problem").textContent =
    "The charts could not be drawn; they need a browser from 2023 or later. " + error;
  throw error;
});
"""

# The window of time that one chart has is all charts'; faults by region are summed up for it.
SCRIPT = """
let sections;
const BINS = 240;   // of a window

function sums(run, from, to) {
  const total = run.faults[0].map(() => 0);
  run.faults.forEach((bands, bin) => {
    if ((bin + 1) * run.per_bin > from && bin * run.per_bin < to)
      bands.forEach((faults, band) => { total[band] += faults; });
  });
  return total;
}

// A line with as many steps within a window as the whole had, or as there are; around it as before.
function finer(section, run, { x, y }, from, to) {
  const step = run.per_fine * Math.max(1, Math.ceil((to - from) / run.per_fine / BINS));
  if (step >= run.per_bin)
    return { x, y };
  const first = Math.max(0, Math.floor(from / step)), last = Math.min(section.end, to);
  const line = { x: x.filter(at => at < first * step), y: [] };
  line.y = y.slice(0, line.x.length);
  let start = first * step;
  for (; start < last; start += step) {
    const faults = run.fine.slice(start / run.per_fine, (start + step) / run.per_fine);
    line.x.push(start);
    line.y.push(100 * faults.reduce((a, b) => a + b, 0) / (Math.min(start + step, section.end) - start));
  }
  const next = x.findLastIndex(at => at <= start);
  line.x.push(Math.min(start, section.end), ...x.slice(next + 1));
  line.y.push(...y.slice(next));
  return line;
}

function closer(section, time, whole, from, to) {
  if (!section.runs[0].fine)
    return;
  const lines = section.runs.map((run, number) => finer(section, run, whole[number], from, to));
  Plotly.restyle(time, { x: lines.map(line => line.x), y: lines.map(line => line.y) });
}

function follow(section) {
  const [time, region] = ["time", "region"].map(key => document.getElementById(section.id + key));
  const name = document.getElementById(section.id + "region-title");
  const moment = document.getElementById(section.id + "moment");
  const whole = time.data.map(({ x, y }) => ({ x: [...x], y: [...y] }));
  time.on("plotly_relayout", () => {
    const range = time.layout.xaxis.range;
    const [from, to] = section.clock ? range : range.map(Math.round);
    const all = from <= 0 && to >= section.end;
    const [first, last] = [from, to].map(at => at.toLocaleString("en"));
    name.textContent = "Page faults by region" +
      (all ? "" : section.clock ? `, from ${first} to ${last} ${section.unit}`
                                : `, from access ${first} to ${last}`);
    Plotly.update(region, { y: section.runs.map(run => sums(run, from, to)) }, {});
    closer(section, time, whole, from, to);
    for (const key of ["map", "beside", "held", "queues", "counters", "reuse"])
      if (section.charts[key])
        Plotly.relayout(section.id + key, { "xaxis.range": [from, to] });
  });
  // All policies at the moment below the pointer.
  time.on("plotly_hover", event => {
    const bin = event.points[0].pointNumber;
    const start = event.points[0].data.x[bin].toLocaleString("en");
    const rates = time.data.map(line => `${line.name} ${line.y[bin].toLocaleString("en")}`);
    moment.textContent = (section.clock ? `At ${start} ${section.unit}: ` : `At access ${start}: `) +
      `${rates.join(", ")} ${section.rate}`;
  });
}

// The second map is the first one, with another of its list shown.
function second(chart, shown) {
  const copy = JSON.parse(JSON.stringify(chart));
  copy.data.forEach((data, number) => { data.visible = number === shown; });
  for (const menu of copy.layout.updatemenus || [])
    menu.active = shown;
  return copy;
}

async function draw() {
  delete document.body.dataset.drawn;
  const text = read("charts");
  sections = JSON.parse(dark.matches ? text.replaceAll('"#000000"', '"#dddddd"') : text);
  for (const section of sections) {
    if (section.charts.map)
      section.charts.beside = second(section.charts.map, section.beside);
    for (const [key, chart] of Object.entries(section.charts)) {
      dress(chart);
      // When the window changes, plotly takes the place's height for the chart's.
      document.getElementById(section.id + key).style.minHeight = `${chart.layout.height}px`;
      await Plotly.newPlot(section.id + key, chart.data, chart.layout, options);
    }
    follow(section);
  }
  document.body.dataset.drawn = dark.matches ? "dark" : "light";
}
"""

CHARTS = [
    ("curve", figures.curve,
     "How many of 100 accesses fault, by how much memory there is. Lower is better; opt knows the "
     "future and is the least that is possible. Where a line falls, more memory helps; where lines "
     "are apart, the policy matters. The dotted line is the memory of the charts below."),
    ("time", figures.faults_over_time,
     "How often there are faults, as time goes by, policy by policy. Drag the ends of "
     "the strip below the chart, or use the buttons, to choose a window of "
     "time: its steps become finer, and all charts below follow. The line above the chart has all "
     "policies at the pointer."),
    ("region", figures.faults_by_region,
     "Where the pages are that fault in the window of time, as in Figure 6 of the paper. Drag "
     "across some bars to see them larger; a double click shows all again. Pages that nobody "
     "touches are left out."),
    ("map", figures.resident_map,
     "Each row is a region, each column a moment, as in Figure 7 of the paper: how much of the "
     "region is in memory, or how often it faults. The lists in the corners choose the policies: "
     "at first the first one, and the best of those that do not know the future."),
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
    ("reuse", figures.reuse_over_time,
     "Of the trace alone, whatever the policy: each column is a moment, each row how much memory lru "
     "needs to still have the page of an access, rounded up to a power of two. The lowest row is of "
     "pages that were not accessed before, which no memory helps."),
    ("rate", figures.request_rate,
     "Of the trace alone: requests in each part of its time, as its own clock tells it; a request may "
     "be of several pages. The time of the other charts goes by accesses."),
    ("popularity", figures.popularity,
     "Of the trace alone: how many accesses the pages have, most first, both axes logarithmic. A law of "
     "Zipf is a straight line. Few pages with most accesses are worth keeping; where the line is flat, "
     "all pages are alike."),
]


def table(section, number):
    """Counts, as hipec sim has them."""
    head = "<tr>" + "".join(f'<th scope="col">{name}' for name in (
        "policy", section.frames, "memory", "accesses", "faults", "hits %", "pages written",
        "commands an access")) + '<th scope="col" class="words">state'
    rows = []
    for run in section.runs:
        row = run.row
        cells = [html.escape(run.label), f"{row['frames']:,}", memory(row["frames"]),
                 f"{row['accesses']:,}",
                 f"{row['faults']:,}", hits(row),
                 f"{row['written_pages']:,}",
                 f"{row['commands_per_access']:.1f}" if not row["built_in"] else "-"]
        rows.append("<tr><td>" + "<td>".join(cells) +
                    f'<td class="words">{html.escape(run.state())}')
    return (f'<div class="wide" tabindex="0" role="region" aria-label="Counts {number}">'
            f"<table>{head}{''.join(rows)}</table></div>")


def hot_lines(run, number):
    """The source of a policy, with how often its lines ran beside it."""
    total = sum(run.lines.values()) or 1
    most = max(run.lines.values(), default=0) or 1
    source = dict(enumerate(run.source, 1)) if run.source else dict.fromkeys(run.lines, "")
    rows = ['<tr><th scope="col">commands<th scope="col">%<th scope="col">share'
            '<th scope="col">line<th scope="col" class="words">source']
    for number, line in source.items():
        count = run.lines.get(number)
        cells = ["", "", ""] if count is None else [
            f"{count:,}", f"{100 * count / total:.1f}",
            f'<i style="width:{100 * count / most:.0f}%"></i>' if count else ""]
        rows.append(f'<tr><td>{cells[0]}<td>{cells[1]}<td class="bar">{cells[2]}<td>{number}'
                    f'<td class="words">{html.escape(line)}')
    what = "" if run.source else " (its source was not found: only line numbers are known)"
    label = html.escape(run.label)
    return (f"<details><summary>{label}: {total:,} commands{what}</summary>"
            f'<div class="wide" tabindex="0" role="region" aria-label="Source of {label}, {number}">'
            f'<table class="source">{"".join(rows)}</table></div></details>')


def chart_of(fig):
    """What plotly needs, in plain values; its title is the page's heading. Return: both."""
    chart = json.loads(fig.to_json())
    return chart, html.unescape(chart["layout"].pop("title")["text"])


def in_words(section):
    """What charts show, for those who do not see them."""
    return "; ".join(f"{run.label}: {run.row['faults']:,} faults of {run.row['accesses']:,} "
                     f"accesses with {run.row['frames']:,} frames" for run in section.runs)


def told(section, key):
    """What stands below a chart, of this section alone."""
    words = zipf_in_words(section.alone(key)) if key == "popularity" else \
        f"{rate_in_words(section.alone(key))}." if key == "rate" else ""
    return f" {html.escape(words)}" if words else ""


def drawn(ident, key, title, how, words):
    """A heading and a chart's place."""
    words = html.escape(f"{title}. {words}", quote=True)
    places = "".join(f'<div class="chart" id="{ident}{one}" role="img" aria-label="{words}"></div>'
                     for one in ([key, "beside"] if key == "map" else [key]))
    moment = f'<p class="moment" id="{ident}moment"></p>' if key == "time" else ""
    return (f'<h3 id="{ident}{key}-title">{html.escape(title)}</h3>{moment}'
            f'<figure><div class="{"pair" if key == "map" else "one"}">{places}</div>'
            f'<figcaption class="how">{how}</figcaption></figure>')


def body(section, number):
    """A section: its HTML, links to its parts, and what the script needs to know."""
    ident = f"s{number}-"
    parts = [f'<h2 id="{ident}title">{html.escape(section.title)}</h2>', table(section, number + 1)]
    links = [("title", section.title)]
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
            charts[key], title = chart_of(fig)
            parts.append(drawn(ident, key, title, how + told(section, key), in_words(section)))
            links.append((f"{key}-title", title.split(" (")[0].split(", and")[0].split(":")[0]))
    policies = [run for run in section.runs if run.lines]
    if policies:
        parts.append(f'<h3 id="{ident}lines-title">Where the policies spend their commands</h3>')
        links.append(("lines-title", "Sources"))
        parts += [hot_lines(run, number + 1) for run in policies]
        parts.append('<p class="how">Commands of the virtual machine that each line ran, of all '
                     "that the policy ran. Lines without a number make none.</p>")
    first, *rest = [f'<a href="#{ident}{where}">{html.escape(name)}</a>' for where, name in links]
    return "\n".join(parts), f"<b>{first}</b>" + "".join(rest), {
        "id": ident, "end": section.end, "unit": section.unit, "clock": section.clock,
        "rate": section.rate, "charts": charts, "beside": figures.beside(section),
        "runs": [{"per_bin": run.per_bin, "faults": run.faults, "per_fine": run.per_fine,
                  "fine": run.fine} for run in section.runs]}


def whole(title, links, bodies, charts, script):
    """A page, as text: of HTML, but for the title, and what its script needs to know."""
    title = html.escape(title)
    library = base64.b64encode(zlib.compress(plotly.offline.get_plotlyjs().encode())).decode()
    # Nothing in a script's text may look like its end.
    charts = json.dumps(charts, separators=(",", ":")).replace("<", "\\u003c")
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>{title}</title>
<style>{STYLE}</style></head>
<body><header><h1>{title}</h1></header>
<nav aria-label="Contents" tabindex="0">{" ".join(links)}</nav>
<main><p id="problem"><noscript>The charts need JavaScript; the tables do not.</noscript></p>
{"".join(bodies)}
</main>
<script type="application/json" id="charts">{charts}</script>
<script type="text/plain" id="library">{library}</script>
<script>{COMMON}{script}{START}</script></body></html>
"""


def page(sections):
    """The whole page, as text."""
    bodies, links, data = zip(*(body(section, number) for number, section in enumerate(sections)))
    return whole("hipec profile: " + ", ".join(section.title for section in sections), links, bodies,
                 data, SCRIPT)
