// The curves of a run: a panel for each name, and one for what is being asked.

import { Chart } from "./chart.js";
import { byId, el, number, show } from "./dom.js";

const ROWS = 500;
const dark = matchMedia("(prefers-color-scheme: dark)");

export class Curves {
  constructor(reload, goTo) {
    this.panels = [];
    this.live = new Map();
    this.goTo = goTo;
    this.waits = false;
    byId("axis").addEventListener("change", reload);
    byId("beside").addEventListener("change", reload);
    dark.addEventListener("change", () => [...this.panels, ...[...this.live.values()].map((found) => found.panel)].forEach((panel) => panel.chart.draw()));
  }

  get query() {
    return { x: byId("axis").value, beside: byId("beside").value };
  }

  // Which runs can be drawn beside the one that is open.
  others(runs, current) {
    const box = byId("beside"), before = box.value;
    const script = runs.find((run) => run.id === current)?.script;
    const others = runs.filter((run) => run.id !== current && run.script === script);
    box.replaceChildren(el("option", { value: "", text: "no other run" }), ...others.map((run) => el("option", { value: run.id, text: run.name ?? run.id })));
    box.value = others.some((run) => run.id === before) ? before : "";
  }

  fill(found) {
    this.panels.forEach((panel) => panel.chart.destroy());
    const variables = [...new Set(found.panels.flatMap((panel) => panel.axes))];
    const options = [["", "as it fits"], ...variables.map((name) => [name, name]), ["order", "order of the values"]];
    const axis = byId("axis"), before = axis.value;
    axis.replaceChildren(...options.map(([value, text]) => el("option", { value, text })));
    axis.value = options.some(([value]) => value === before) ? before : "";
    // a loop's own variable tells nothing over itself
    const shown = found.panels.filter((panel) => !(panel.name === panel.axis));
    shown.sort((one, other) => Number(other.curves.some((c) => c.asked)) - Number(one.curves.some((c) => c.asked)));
    byId("curves").replaceChildren();
    this.panels = shown.map((panel) => this.panel(byId("curves"), panel));
    byId("texts").replaceChildren(...found.texts.map(texts));
    if (!shown.length && !found.texts.length) {
      byId("curves").append(el("p", { class: "note", text: "The run printed no values that florc can name, and nothing was asked of it yet." }));
    }
  }

  panel(place, found) {
    const asked = found.curves.some((curve) => curve.asked);
    const box = el("div", { class: "plot" });
    const title = el("h4", {}, el("code", { text: found.name }));
    if (asked) title.append(el("span", { class: `badge ${found.verdicts?.join(" ") ?? "live"}`, text: found.verdicts ? `asked: ${found.verdicts.join(", ")}` : "asked" }));
    if (found.not_drawn) title.append(el("span", { class: "badge bad", text: `${found.not_drawn} not drawn: no finite numbers` }));
    const where = found.line ? el("button", { type: "button", class: "link", text: found.at, onclick: () => this.goTo(found.file, found.line) }) : null;
    const panel = el("section", { class: `panel${asked ? " asked" : ""}`, "aria-label": found.name }, el("div", { class: "head" }, title, where), box);
    panel.dataset.name = found.name;
    place.append(panel);
    const chart = new Chart(box, found.name, found.axis, found.curves);
    panel.append(table(found));
    return { panel, chart };
  }

  // -- what is being asked -----------------------------------------------------------------------------------------

  begin() {
    this.live.forEach(({ panel }) => panel.chart.destroy());
    this.live.clear();
    byId("live").replaceChildren();
  }

  // Values of the replay that goes on: drawn once for each frame, however many came.
  values(rows) {
    for (const row of rows) {
      if (typeof row.value !== "number" || !Number.isFinite(row.value)) continue;
      const found = this.live.get(row.name) ?? this.first(row);
      const names = Object.keys(row.context);
      found.y.push(row.value);
      found.x.push(found.over ? row.context[found.over] : found.y.length - 1);
      if (found.over && (names.length !== 1 || row.occurrence)) this.inOrder(found);
    }
    if (!this.waits) {
      this.waits = true;
      requestAnimationFrame(() => {
        this.waits = false;
        this.live.forEach((found, name) => this.draw(found, name));
      });
    }
  }

  first(row) {
    const names = Object.keys(row.context);
    const found = { over: names.length === 1 ? names[0] : null, x: [], y: [], panel: null, file: row.file, line: row.line, at: row.at };
    this.live.set(row.name, found);
    return found;
  }

  inOrder(found) {
    found.over = null;
    found.x = found.y.map((_, at) => at);
    found.panel?.panel.remove();
    found.panel?.chart.destroy();
    found.panel = null;
  }

  draw(found, name) {
    const curves = [{ label: `${name}, arriving`, asked: true, x: found.x.slice(), y: found.y.slice() }];
    if (found.panel) found.panel.chart.update(curves);
    else found.panel = this.panel(byId("live"), { name, axis: found.over ?? "order", curves, file: found.file, line: found.line, at: found.at });
  }
}

function table(found) {
  const details = el("details", { class: "values" }, el("summary", { text: "Values" }));
  details.addEventListener("toggle", () => {
    if (!details.open || details.querySelector("table")) return;
    for (const curve of found.curves) {
      const rows = curve.x.slice(0, ROWS).map((x, at) => el("tr", {}, el("td", { text: number(x) }), el("td", { text: String(curve.y[at]) })));
      const more = curve.x.length > ROWS ? ` (the first ${ROWS} of ${curve.x.length}; florc logs has all)` : "";
      details.append(
        el("table", {}, el("caption", { text: `${curve.label}${more}` }), el("thead", {}, el("tr", {}, el("th", { scope: "col", text: found.axis }), el("th", { scope: "col", text: found.name }))), el("tbody", {}, ...rows)),
      );
    }
  });
  return details;
}

function texts(found) {
  const rows = found.rows.map((row) => el("tr", {}, el("td", { text: Object.entries(row.context).map(([name, at]) => `${name} ${at}`).join(", ") }), el("td", { text: number(row.value) }), el("td", { text: row.verdict })));
  const head = ["iteration", "value", "verdict"].map((name) => el("th", { scope: "col", text: name }));
  const more = found.count > found.rows.length ? ` (the first ${found.rows.length} of ${found.count})` : "";
  return el("details", { class: "values" }, el("summary", { text: `${found.name}: ${found.count} values that are no numbers${more}` }), el("table", {}, el("thead", {}, el("tr", {}, ...head)), el("tbody", {}, ...rows)));
}

export const hideLive = () => show(byId("live"), byId("live").childElementCount > 0);
