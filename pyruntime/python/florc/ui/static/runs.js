// The list of runs.

import { byId, el, Listbox, many, seconds } from "./dom.js";

export class Runs {
  constructor(choose) {
    this.runs = [];
    this.list = new Listbox(byId("runs"), (at) => choose(this.runs[at].id));
  }

  fill(runs, current) {
    this.runs = runs;
    const options = runs.map((run) => this.option(run));
    byId("runs").replaceChildren(...options);
    this.list.fill(options);
    this.mark(current);
  }

  mark(current) {
    const at = this.runs.findIndex((run) => run.id === current);
    if (at >= 0) this.list.go(at);
    this.list.options.forEach((option, number) => option.classList.toggle("open", number === at));
  }

  option(run) {
    const script = run.script.split("/").pop();
    const words = (run.argv ?? []).slice(1).join(" ");
    const when = new Date(run.started * 1000).toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
    const kept = run.report.checkpoints === undefined ? "" : many(run.report.checkpoints, "checkpoint");
    const ranks = run.ranks?.of > 1 ? many(run.ranks.of, "rank") : "";
    const took = run.report.seconds === undefined ? "" : seconds(run.report.seconds);
    return el(
      "div",
      { role: "option", class: "run", "aria-selected": "false" },
      el("span", { class: "run-name", text: run.name ? `${run.name}` : script }),
      el("span", { class: `badge ${run.status === "ok" ? "good" : run.status === "running" ? "live" : "bad"}`, text: run.status }),
      el("span", { class: "run-words", text: [run.name ? script : "", words].filter(Boolean).join(" ") }),
      el("span", { class: "run-when", text: [when, took, kept, ranks].filter(Boolean).join(" · ") }),
      el("span", { class: "run-id", text: run.id }),
    );
  }
}
