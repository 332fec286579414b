// When the run did what, a lane for each loop; what a replay restored and what ran again, in colour and in pattern.

import { byId, el, many, seconds, svg } from "./dom.js";

const WIDTH = 1000, HEIGHT = 26, GAP = 8;

export class Timeline {
  constructor() {
    this.box = byId("timeline");
    this.states = new Map();
    this.bars = new Map();
  }

  fill(found) {
    this.states.clear();
    this.bars.clear();
    const lanes = found.lanes.filter((lane) => lane.bars.length || lane.checkpoints.length);
    this.box.replaceChildren(...(lanes.length ? lanes.map((lane) => this.lane(lane, found.seconds)) : [el("p", { class: "note", text: "The run has no loop that florc followed." })]));
    if (lanes.length) this.box.append(scale(found.seconds));
    this.legend();
  }

  lane(lane, total) {
    const at = (second) => (total ? (second / total) * WIDTH : 0);
    const kept = lane.kept ? `, ${many(lane.kept, "checkpoint")}` : "";
    const what = many(lane.count, lane.memoized ? "execution" : "iteration");
    const drawn = svg("svg", {
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      preserveAspectRatio: "none",
      role: "img",
      "aria-label": `${lane.header}: ${what}${kept}, between ${seconds(lane.bars[0]?.begin ?? 0)} and ${seconds(lane.bars.at(-1)?.end ?? 0)} of the run`,
    });
    for (const bar of lane.bars) {
      const width = Math.max(1.5, at(bar.end) - at(bar.begin) - (lane.bars.length > 200 ? 0 : 1));
      const said = `${lane.variable === lane.loop || lane.memoized ? "" : `${lane.variable} `}${bar.label}: ${seconds(bar.end - bar.begin)}`;
      const rect = svg("rect", { x: at(bar.begin), y: 3, width, height: HEIGHT - 9, class: "bar" }, svg("title", { text: said }));
      for (const key of bar.keys) this.bars.set(key, { rect, said, title: rect.firstChild });
      drawn.append(rect);
    }
    for (const found of lane.checkpoints) {
      drawn.append(svg("rect", { x: Math.max(0, at(found.at) - 1.5), y: HEIGHT - 5, width: 3, height: 5, class: "kept" }, svg("title", { text: `checkpoint ${found.key}` })));
    }
    return el(
      "div",
      { class: "lane" },
      el("div", { class: "lane-name", style: undefined }, el("code", { text: lane.header, title: `${lane.loop}, line ${lane.line}` }), el("span", { text: `${what}${kept}` })),
      drawn,
    );
  }

  clear() {
    this.states.clear();
    for (const { rect, title, said } of this.bars.values()) {
      rect.classList.remove("restored", "again");
      title.textContent = said;
    }
  }

  // A block was restored, or runs again.
  block(key, isRestored) {
    this.states.set(key, isRestored);
    const bar = this.bars.get(key);
    if (!bar) return;
    bar.rect.classList.toggle("restored", isRestored);
    bar.rect.classList.toggle("again", !isRestored);
    bar.title.textContent = `${bar.said}; ${isRestored ? "restored" : "ran again"}`;
  }

  // What a replay jumped over, by the iterations with which its loops began.
  jumped(began) {
    for (const [place, first] of Object.entries(began)) {
      for (const key of this.bars.keys()) {
        const path = key.startsWith(`${place}=`) ? Number.parseInt(key.slice(place.length + 1), 10) : NaN;
        if (path < first) this.block(key, true);
      }
    }
  }

  legend() {
    const entry = (kind, text) => el("span", { class: "entry" }, el("i", { class: `swatch ${kind}`, "aria-hidden": "true" }), text);
    const counts = [...this.states.values()];
    const restored = counts.filter(Boolean).length, again = counts.length - restored;
    byId("legend").replaceChildren(
      entry("recorded", "recorded"),
      entry("kept", "checkpoint"),
      entry("restored", counts.length ? `restored (${restored})` : "restored"),
      entry("again", counts.length ? `ran again (${again})` : "ran again"),
    );
  }
}

function scale(total) {
  const ticks = [0, 0.25, 0.5, 0.75, 1].map((share) => el("span", { text: seconds(total * share) }));
  return el("div", { class: "lane scale", "aria-hidden": "true" }, el("div", { class: "lane-name" }), el("div", { class: "ticks" }, ...ticks));
}
