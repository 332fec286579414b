// The page: which run is open, and who shows what of it.

import { get } from "./api.js";
import { Ask } from "./ask.js";
import { Curves, hideLive } from "./curves.js";
import { byId, bytes, el, many, seconds, show } from "./dom.js";
import { Runs } from "./runs.js";
import { Source } from "./source.js";
import { Timeline } from "./timeline.js";

let known = [], current = null;

const timeline = new Timeline((rank) => guarded(() => drawTimeline(rank)));
const runs = new Runs((id) => (location.hash = `run=${encodeURIComponent(id)}`));
const source = new Source((file, line) => ask.at(file, line, file === source.files[0]));
const curves = new Curves(() => guarded(drawCurves), (file, line) => source.go(file, line));
const ask = new Ask({
  begin: () => {
    timeline.clear();
    timeline.legend();
    curves.begin();
  },
  values: (rows) => {
    show(byId("live"), true);
    curves.values(rows);
  },
  block: (key, isRestored) => timeline.block(key, isRestored),
  end: (found, isWhole) => timeline.end(found, isWhole),
  goTo: (file, line) => source.go(file, line),
  differs: (found) => found.line && source.differs(found.file, found.line),
  done: () => guarded(answered),
});

async function drawTimeline(rank) {
  timeline.fill(await get("timeline", { run: current, rank }));
}

async function drawCurves() {
  curves.fill(await get("curves", { run: current, ...curves.query }));
}

// What was asked is kept with the run: it is drawn beside what was recorded.
async function answered() {
  const run = current;
  const [found, drawn, described] = await Promise.all([get("source", { run }), get("curves", { run, ...curves.query }), get("show", { run })]);
  if (run !== current) return;
  ask.before(described.asked);
  curves.begin();
  hideLive();
  curves.fill(drawn);
  source.fill(found.files);
}

async function open(id) {
  current = id;
  ask.open(id);
  curves.begin();
  runs.mark(id);
  curves.others(known, id);
  const [described, time, text, drawn] = await Promise.all([get("show", { run: id }), get("timeline", { run: id }), get("source", { run: id }), get("curves", { run: id, ...curves.query })]);
  if (current !== id) return;
  show(byId("main"), true);
  heading(described);
  ask.of(described, text.files[0]);
  ask.before(described.asked);
  timeline.fill(time);
  source.fill(text.files);
  curves.fill(drawn);
  show(byId("present"), text.files.some((file) => file.state === "changed"));
  notice("");
}

function heading(run) {
  const words = [run.script.split("/").pop(), ...run.arguments].join(" ");
  byId("run-title").replaceChildren(run.name ? `${run.name}: ` : "", el("code", { text: words }));
  document.title = `${run.name ?? words} – florc`;
  const facts = [
    ["run", run.id],
    ["ended", run.raised ? `${run.status}: ${run.raised}` : run.status],
    ["began", new Date(run.started * 1000).toLocaleString()],
    ["took", seconds(run.seconds)],
    ["kept", run.checkpoints === null ? null : `${many(run.checkpoints, "checkpoint")}, ${bytes(run.bytes)}`],
    ["overhead", run.overhead === null ? null : `${(100 * run.overhead).toFixed(1)} %`],
    ["Python", run.python],
    ["ranks", run.ranks > 1 ? run.ranks : run.spawned ? `${run.spawned}, started by the script` : null],
    ["in", run.folder],
  ];
  const shown = facts.filter(([, value]) => value !== null && value !== undefined);
  byId("facts").replaceChildren(...shown.map(([name, value]) => el("span", {}, el("span", { class: "muted", text: `${name} ` }), String(value))));
}

function notice(text, kind = "") {
  byId("notice").textContent = text;
  byId("notice").className = kind;
}

async function guarded(work) {
  try {
    await work();
  } catch (error) {
    notice(error.message, "bad");
  }
}

function wanted() {
  return new URLSearchParams(location.hash.slice(1)).get("run");
}

async function start() {
  known = await get("runs");
  const id = wanted() ?? known[0]?.id;
  runs.fill(known, id);
  if (id) return open(id);
  byId("empty").textContent = "There are no recorded runs here yet: florc record train.py";
  show(byId("empty"), true);
}

const PLACES = { r: "runs", s: "source", a: "expression", c: "curves-title" };

document.addEventListener("keydown", (event) => {
  const isTyping = event.target.closest("input, select, textarea");
  if (isTyping || event.altKey || event.ctrlKey || event.metaKey || !(event.key in PLACES)) return;
  byId(PLACES[event.key]).focus();
  event.preventDefault();
});
addEventListener("hashchange", () => wanted() && wanted() !== current && guarded(() => open(wanted())));
guarded(start);
