// The recorded source: the plan in the margin, questions and added statements highlighted.

import { byId, el, Listbox, many, show } from "./dom.js";

const COLUMNS = 4;

export class Source {
  constructor(choose) {
    this.files = [];
    this.at = 0;
    this.lines = [];
    this.choose = choose;
    this.list = new Listbox(byId("source"), (at) => this.chosen(at));
    byId("file").addEventListener("change", (event) => this.open(Number(event.target.value)));
  }

  get file() {
    return this.files[this.at];
  }

  fill(files) {
    const before = this.file?.file;
    const line = this.lines[this.list.at], { scrollTop, scrollLeft } = byId("source");
    this.files = files;
    const options = files.map((file, at) => el("option", { value: at, text: file.name }));
    byId("file").replaceChildren(...options);
    show(byId("file-field"), files.length > 1);
    const at = files.findIndex((file) => file.file === before);
    this.open(Math.max(0, at));
    if (at < 0) return;
    if (line) this.go(files[at].file, line, false);
    byId("source").scrollTo(scrollLeft, scrollTop);
  }

  open(at) {
    this.at = at;
    byId("file").value = String(at);
    const file = this.file;
    const rows = [], options = [];
    this.lines = [];
    const removed = new Set(file?.removed ?? []);
    const added = new Map((file?.added ?? []).map((found) => [found.behind, found.texts]));
    const columns = nest(file?.loops ?? []);
    const cells = new Map((file?.cells ?? []).map((head, number) => [head, number + 1]));
    const behind = (line) => (added.get(line) ?? []).forEach((text) => rows.push(addedRow(text)));
    behind(0);
    (file?.lines ?? []).forEach((text, index) => {
      const line = index + 1;
      if (cells.has(line)) {
        rows.push(cellRow(cells.get(line)));
      } else if (!cells.has(line + 1)) { // else between two cells
        const row = lineRow(file, line, text, columns, removed.has(line));
        rows.push(row);
        options.push(row);
        this.lines.push(line);
      }
      behind(line);
    });
    byId("source").replaceChildren(...rows);
    byId("source").scrollTop = 0;
    this.list.fill(options);
    since(file);
  }

  // To a line of a file, if the page shows it.
  go(file, line, isFocused = true) {
    const at = this.files.findIndex((found) => found.file === file);
    if (at < 0) return;
    if (at !== this.at) this.open(at);
    this.list.go(Math.max(0, this.lines.indexOf(line)), isFocused);
    if (isFocused) byId("source").focus();
  }

  differs(file, line) {
    const at = this.files.findIndex((found) => found.file === file);
    if (at >= 0 && at === this.at) this.list.options[this.lines.indexOf(line)]?.classList.add("differs");
  }

  chosen(at) {
    this.choose(this.file, this.lines[at]);
  }
}

// The loops around each line, the outermost in the first column.
function nest(loops) {
  const ends = [], found = new Map();
  for (const loop of [...loops].sort((one, other) => one.line - other.line || other.end - one.end)) {
    let column = ends.findIndex((end) => end < loop.line);
    if (column < 0) column = ends.length;
    ends[column] = loop.end;
    if (column < COLUMNS) for (let line = loop.line; line <= loop.end; line += 1) found.set(`${line}/${column}`, loop);
  }
  return { found, width: Math.min(COLUMNS, Math.max(1, ends.length)) };
}

function lineRow(file, line, text, columns, isRemoved) {
  const loops = file.loops.filter((loop) => loop.line === line);
  const asked = file.asked.filter((found) => found.line === line);
  const margin = el("span", { class: `margin w${columns.width}`, "aria-hidden": "true" });
  for (let column = 0; column < columns.width; column += 1) {
    const loop = columns.found.get(`${line}/${column}`);
    const kind = !loop ? "" : loop.memoized ? (loop.checkpoints ? "memoized" : "unkept") : loop.followed ? "followed" : "alone";
    const place = loop?.line === line ? " first" : loop?.end === line ? " last" : "";
    margin.append(el("i", { class: `stripe ${kind}${place}` }));
  }
  const marks = [
    ...loops.map((loop) => el("span", { class: "mark plan", text: planned(loop), title: why(loop) })),
    ...asked.map((found) => el("span", { class: `mark asked ${found.verdict}`, text: `? ${found.name}: ${many(found.values, "value")}, ${found.verdict}` })),
    isRemoved ? el("span", { class: "mark", text: "changed or removed since" }) : null,
  ];
  return el(
    "div",
    { role: "option", "aria-selected": "false", class: `line${asked.length ? " probed" : ""}${isRemoved ? " removed" : ""}` },
    el("span", { class: "number", text: line - (file.cells.findLast((head) => head < line) ?? 0) }),
    margin,
    el("code", { text: text || " " }),
    ...marks,
  );
}

function cellRow(number) {
  return el("div", { class: "line cell", role: "presentation" }, el("span", { class: "mark", text: `cell ${number}` }));
}

function addedRow(text) {
  return el(
    "div",
    { class: "line added", role: "presentation" },
    el("span", { class: "number", text: "+" }),
    el("span", { class: "margin w1", "aria-hidden": "true" }),
    el("code", { text: text || " " }),
    el("span", { class: "mark", text: "added since" }),
  );
}

function planned(loop) {
  const starts = loop.starts ? `, ${many(loop.starts, "iteration")} to begin with` : "";
  if (!loop.memoized) return `${loop.loop} ${loop.followed ? "followed" : "left alone"}${starts}`;
  const kept = loop.checkpoints ? many(loop.checkpoints, "checkpoint") : "runs again";
  return `${loop.loop} ${kept}${starts}`;
}

function why(loop) {
  const changes = loop.changes.length ? `it changes ${loop.changes.join(", ")}` : "";
  return [loop.header, changes, loop.note].filter(Boolean).join("; ");
}

function since(file) {
  const note = byId("since");
  const words = {
    gone: "This file is gone: what is shown is what was recorded. florc needs a file there to replay it.",
    changed: "This file has changed since: what is shown, and asked, is what was recorded. Added lines are marked +.",
  };
  note.textContent = words[file?.state] ?? "";
  show(note, Boolean(note.textContent));
}
