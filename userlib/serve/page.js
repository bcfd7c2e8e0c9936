// SPDX-License-Identifier: GPL-2.0-only
// The live page of hipec top --serve: asks for pictures that it has not seen, and draws the last ones.
"use strict";

const KEPT = 600;
const COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"];
const dark = matchMedia("(prefers-color-scheme: dark)");
const at = id => document.getElementById(id);
// plotly takes text for a kind of HTML; names are anybody's.
const clean = text => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
const count = n => n.toLocaleString("en", { maximumFractionDigits: 0 });
let pictures = [], number = 0;

function name(row) {
  return `${row.id} ${row.comm} (${row.policy})`;
}

function gain(row) {
  return row.gain_percent === null ? "-" :
    `${row.gain_percent.toFixed(1)} ± ${row.gain_error_percent.toFixed(1)} %`;
}

function fill(table, titles, rows) {
  const put = (row, kind, text, place) => {
    const cell = row.appendChild(document.createElement(kind));
    cell.textContent = text;
    if (kind === "th")
      cell.scope = "col";
    if (typeof text === "string" && titles[place][1])
      cell.className = "words";
  };
  table.replaceChildren();
  const head = table.createTHead().insertRow();
  titles.forEach(([title], place) => put(head, "th", title, place));
  const body = table.createTBody();
  for (const cells of rows) {
    const row = body.insertRow();
    cells.forEach((text, place) => put(row, "td", text, place));
  }
}

function layout(y, x = {}) {
  const text = dark.matches ? "#ddd" : "#222", grid = dark.matches ? "#3a3d44" : "#e4e4e4";
  return { height: 300, margin: { l: 60, r: 10, t: 30, b: 40 }, font: { color: text },
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", hovermode: "x unified",
    hoverlabel: { bgcolor: dark.matches ? "#26292f" : "#fff" }, showlegend: true,
    legend: { orientation: "h", y: 1.02, yanchor: "bottom" }, xaxis: { gridcolor: grid, automargin: true, ...x },
    yaxis: { title: { text: y }, gridcolor: grid, rangemode: "tozero" } };
}

function lines(key, stacked) {
  const ids = new Map();
  for (const picture of pictures)
    for (const row of picture.containers)
      ids.set(row.id, name(row));
  const x = pictures.map(picture => new Date(picture.time * 1000));
  return [...ids].map(([id, label], place) => ({ name: clean(label), x, mode: "lines",
    y: pictures.map(picture => {
      const row = picture.containers.find(one => one.id === id);
      return row ? row[key] : 0;
    }),
    line: { color: COLOURS[place % COLOURS.length], width: 2 },
    ...(stacked ? { stackgroup: "all" } : {}) }));
}

function draw(log) {
  const options = { responsive: true, displayModeBar: false };
  const times = { tickangle: 0, nticks: Math.max(2, innerWidth / 150 | 0) };
  const last = pictures[pictures.length - 1];
  const best = row => row.gain_percent === null ? -Infinity : row.gain_percent;
  const rows = [...last.containers].sort((a, b) => best(b) - best(a));
  at("state").textContent = `${count(last.frames)} frames are held, ${count(last.pool_frames)} of ` +
    `the pool's ${count(last.pool_max)}; looked at ${new Date(last.time * 1000).toLocaleTimeString()}.`;
  fill(at("league"), [["id"], ["program", true], ["policy", true], ["frames"], ["limit"],
    ["faults/s"], ["evictions/s"], ["read/s"], ["written/s"], ["gain"], ["health", true]],
  rows.map(row => [String(row.id), row.comm, row.policy, count(row.frames), count(row.limit),
    count(row.faults_per_s), count(row.evictions_per_s), count(row.read_per_s),
    count(row.written_per_s), gain(row), row.exit.kind ? row.exit.text : row.health]));
  fill(at("log"), [["time", true], ["id"], ["program", true], ["policy", true], ["what", true],
    ["why", true]],
  [...log].reverse().map(one => [one.time, String(one.container.id), one.container.comm,
    one.container.policy, one.end, one.container.exit.message || one.container.exit.text]));
  const known = rows.filter(row => row.gain_percent !== null);
  Plotly.react("frames", lines("frames", true), layout("frames of 4 KiB", times), options);
  Plotly.react("faults", lines("faults_per_s", false), layout("faults a second", times), options);
  Plotly.react("gain", [{ type: "bar", showlegend: false, x: known.map(row => clean(name(row))),
    y: known.map(row => row.gain_percent), marker: { color: COLOURS[0] },
    error_y: { type: "data", array: known.map(row => row.gain_error_percent),
      color: dark.matches ? "#ddd" : "#222" } }], layout("percent"), options);
  document.body.dataset.drawn = number;
}

async function look() {
  let pause = 2;
  try {
    const answer = await fetch(`pictures?since=${number}`);
    if (!answer.ok)
      throw new Error(`the server says ${answer.status}`);
    const news = await answer.json();
    pause = news.seconds;
    at("problem").textContent = news.problem || "";
    if (news.pictures.length) {
      pictures = [...pictures, ...news.pictures].slice(-KEPT);
      number = pictures[pictures.length - 1].number;
      draw(news.log);
    }
  } catch (error) {
    at("problem").textContent = `hipec top --serve does not answer: ${error.message}`;
  }
  setTimeout(look, 1000 * pause);
}

look();
