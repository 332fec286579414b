// The box to ask in: what it would cost, then the values as they arrive, then the verdict.

import { post, stream } from "./api.js";
import { byId, el, many, seconds, show } from "./dom.js";

const PAUSE_MS = 300;

export class Ask {
  // `hear`: what else listens to a question: begin, block, values, restarted, end, done.
  constructor(hear) {
    this.hear = hear;
    this.run = null;
    this.file = null;
    this.isAsking = false;
    this.waiting = null;
    this.asked = 0;
    byId("ask").addEventListener("submit", (event) => {
      event.preventDefault();
      this.ask(this.question());
    });
    byId("ask").addEventListener("input", () => this.changed());
    byId("kind").addEventListener("change", () => this.kind());
    byId("stop").addEventListener("click", () => post("stop", { run: this.run }));
    byId("present").addEventListener("click", () => this.ask({ run: this.run, present: true }));
    this.kind();
  }

  open(run) {
    this.run = run;
    this.file = null;
    this.asked += 1;
    byId("forecast").replaceChildren();
    show(byId("answer"), false);
    show(byId("difference"), false);
  }

  // What is open: whether a line is one of a cell, and who answers.
  of(run, file) {
    const isNotebook = Boolean(file?.cells.length);
    byId("line-name").textContent = isNotebook ? "Cell:line" : "Line";
    byId("line").placeholder = isNotebook ? "2:10" : "";
    const several = run.ranks > 1 ? `The ${run.ranks} ranks` : run.spawned ? `The ${many(run.spawned, "rank")} that the script starts` : "";
    byId("ranks").textContent = `${several} answer together, and each imports what it needs: their values appear when all have answered.`;
    show(byId("ranks"), Boolean(several));
  }

  // From a line of the source.
  at(file, line, isMain) {
    byId("kind").value = "at";
    this.file = isMain ? null : file.file;
    byId("line").value = isMain ? named(file, line) : `${file.name}:${line}`;
    this.kind();
    byId("expression").focus();
    this.changed();
  }

  kind() {
    const kind = byId("kind").value;
    const isLine = kind === "at" || kind === "inside";
    show(byId("line-field"), isLine);
    show(byId("variable-field"), kind === "after-loop");
    byId("line").required = isLine;
    byId("variable").required = kind === "after-loop";
  }

  question() {
    const [, file, line] = /^(?:(.*):)?\s*(\d+)\s*$/.exec(byId("line").value) ?? [];
    return {
      run: this.run,
      kind: byId("kind").value,
      file: file === undefined ? "" : (this.file ?? file),
      line: line === undefined ? null : Number(line),
      variable: byId("variable").value,
      iterations: byId("iterations").value,
      expression: byId("expression").value,
    };
  }

  // Something was typed: the forecast, once the typing pauses.
  changed() {
    clearTimeout(this.waiting);
    this.asked += 1;
    if (this.isAsking || !byId("ask").checkValidity()) return byId("forecast").replaceChildren();
    this.waiting = setTimeout(() => this.forecast(), PAUSE_MS);
  }

  async forecast() {
    const number = this.asked;
    const slow = setTimeout(() => number === this.asked && this.tell("florc imports what the script imports, once for all questions …"), 700);
    try {
      const found = await post("forecast", this.question());
      if (number === this.asked && !this.isAsking) this.foretell(found);
    } catch (error) {
      if (number === this.asked) this.tell(error.message, "bad");
    } finally {
      clearTimeout(slow);
    }
  }

  tell(text, kind = "") {
    byId("forecast").replaceChildren(el("p", { class: kind, text }));
  }

  foretell(found) {
    if (found.error) return this.tell(found.error, "bad");
    const cost = found.seconds === null ? "Its cost is not known." : `About ${seconds(Math.max(0, found.seconds - found.import_seconds))}; the recorded run took ${seconds(found.recorded_seconds)}.`;
    const blocks = found.blocks.map((block) => el("li", { class: block.what.startsWith("runs") ? "again" : "restored" }, el("code", { text: block.block }), ` ${block.header}: ${block.what}`));
    byId("forecast").replaceChildren(el("p", {}, el("strong", { text: cost }), found.note ? ` ${found.note}` : ""), el("ul", {}, ...blocks));
  }

  async ask(question) {
    if (this.isAsking || !this.run) return;
    this.isWhole = !question.iterations;
    this.begin();
    const run = this.run;
    try {
      await stream("ask", question, (event) => run === this.run && this.event(event));
    } catch (error) {
      this.say(`florc ui does not answer: ${error.message}`);
      this.verdict("no answer", "bad");
    } finally {
      this.isAsking = false;
      byId("go").disabled = byId("present").disabled = false;
      byId("stop").disabled = true;
      if (run === this.run) this.hear.done();
    }
  }

  begin() {
    clearTimeout(this.waiting);
    this.asked += 1;
    this.isAsking = true;
    this.said = [];
    byId("go").disabled = byId("present").disabled = true;
    byId("stop").disabled = false;
    byId("report").textContent = "";
    show(byId("difference"), false);
    show(byId("answer"), true);
    this.verdict("asking …", "live");
    this.hear.begin();
  }

  event(event) {
    if (event.said !== undefined) this.say(event.said);
    else if (event.values) this.hear.values(event.values);
    else if (event.block !== undefined) this.hear.block(event.block, event.restored);
    else if (event.restarted) this.hear.begin();
    else if (event.end) this.end(event.end);
    else if (event.done !== undefined) this.done(event);
  }

  say(text) {
    this.said.push(text.replace(/^florc: /, ""));
    byId("report").textContent = this.said.join("\n");
  }

  end(found) {
    this.ended = found;
    this.hear.end(found, this.isWhole);
    if (found.first_difference) this.differ(found.first_difference);
  }

  done({ done, seconds: took }) {
    const found = this.ended;
    this.ended = null;
    if (!found) return this.verdict(done === 130 ? "stopped" : "not answered", "bad");
    const ran = Object.values(found.ran).reduce((sum, times) => sum + times, 0);
    this.verdict(`${found.verdict}: ${found.skipped} restored, ${ran} ran again, in ${seconds(took)}`, found.verdict);
  }

  differ(found) {
    const box = byId("difference");
    const more = found.more ? ` ${found.more} more ${found.more === 1 ? "difference follows" : "differences follow"}.` : "";
    box.replaceChildren(el("strong", { text: "First difference from the record" }), el("p", { text: found.text + more }));
    if (found.line) box.append(el("button", { type: "button", text: `Go to ${found.at}`, onclick: () => this.hear.goTo(found.file, found.line) }));
    show(box, true);
    this.hear.differs(found);
  }

  // What was asked of the run until now, the newest first.
  before(asked) {
    const entries = [...asked].reverse().map((found) =>
      el("li", {}, el("code", { text: found.names.join(", ") }), ` ${many(found.values, "value")} `, el("span", { class: `badge ${found.verdict}`, text: found.verdict }), el("span", { class: "muted", text: ` ${new Date(found.at * 1000).toLocaleString()}` })),
    );
    byId("questions").replaceChildren(...entries);
    byId("before").querySelector("summary").textContent = `Asked before (${asked.length})`;
    show(byId("before"), asked.length > 0);
  }

  verdict(text, kind) {
    const box = byId("verdict");
    box.textContent = text;
    box.className = `badge ${kind}`;
  }
}

// A line as a question names it: `17`; of a notebook, its cell and the line in it, `2:10`.
function named(file, line) {
  const cells = file.cells.filter((head) => head < line);
  return cells.length ? `${cells.length}:${line - cells.at(-1)}` : String(line);
}
