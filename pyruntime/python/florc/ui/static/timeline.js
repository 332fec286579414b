// When the run did what, a lane for each loop; what a replay restored and what ran again, in colour and in height.

import { byId, el, many, seconds, show, svg } from "./dom.js";

const WIDTH = 1000, HEIGHT = 26;
const TALL = { y: 2, height: 18 }, FLAT = { y: 10, height: 10 };

export class Timeline {
  constructor(choose) {
    this.box = byId("timeline");
    byId("rank").addEventListener("change", (event) => choose(event.target.value));
    this.states = new Map();
    this.bars = new Map();
  }

  fill(found) {
    this.states.clear();
    this.bars.clear();
    const lanes = found.lanes.filter((lane) => lane.bars.length || lane.checkpoints.length);
    // before the first loop there is nothing to see
    const from = Math.max(0, Math.min(found.seconds, ...lanes.flatMap((lane) => lane.bars.map((bar) => bar.begin))));
    this.box.replaceChildren(...(lanes.length ? lanes.map((lane) => this.lane(lane, from, found.seconds)) : [el("p", { class: "note", text: "The run has no loop that florc followed." })]));
    if (lanes.length) this.box.append(scale(from, found.seconds));
    byId("rank").replaceChildren(...Array.from({ length: found.ranks }, (_, rank) => el("option", { value: rank, text: String(rank) })));
    byId("rank").value = String(found.rank);
    show(byId("rank-field"), found.ranks > 1);
    this.legend();
  }

  lane(lane, from, total) {
    const at = (second) => (total > from ? ((second - from) / (total - from)) * WIDTH : 0);
    const kept = lane.kept ? `, ${many(lane.kept, "checkpoint")}` : "";
    const what = many(lane.count, lane.kind);
    const drawn = svg("svg", {
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      preserveAspectRatio: "none",
      role: "img",
      "aria-label": `${lane.header}: ${what}${kept}, between ${seconds(lane.bars[0]?.begin ?? 0)} and ${seconds(lane.bars.at(-1)?.end ?? 0)} of the run`,
    });
    for (const bar of lane.bars) {
      const width = Math.max(1.5, at(bar.end) - at(bar.begin) - (lane.bars.length > 200 ? 0 : 1));
      const said = `${lane.variable === lane.loop || lane.kind === "execution" ? "" : `${lane.variable} `}${bar.label}: ${seconds(bar.end - bar.begin)}`;
      const rect = svg("rect", { x: at(bar.begin), width, ...TALL, class: "bar" }, svg("title", { text: said }));
      for (const key of bar.keys) for (const part of parts(key)) this.note(part, { rect, said, title: rect.firstChild });
      drawn.append(rect);
    }
    for (const found of lane.checkpoints) {
      drawn.append(svg("rect", { x: Math.max(0, at(found.at) - 1.5), y: HEIGHT - 5, width: 3, height: 5, class: "kept" }, svg("title", { text: `checkpoint ${found.key}` })));
    }
    return el(
      "div",
      { class: "lane" },
      el("div", { class: "lane-name", style: undefined }, el("code", { text: lane.header, title: `${lane.loop}, ${lane.at}` }), el("span", { text: `${what}${kept}` })),
      drawn,
    );
  }

  note(key, bar) {
    if (this.bars.has(key)) this.bars.get(key).push(bar);
    else this.bars.set(key, [bar]);
  }

  clear() {
    this.states.clear();
    for (const { rect, title, said } of [...this.bars.values()].flat()) {
      rect.classList.remove("restored", "again");
      sized(rect, TALL);
      title.textContent = said;
    }
  }

  // A block was restored, or runs again.
  block(key, isRestored) {
    this.states.set(key, isRestored);
    this.mark(key, isRestored);
  }

  mark(key, isRestored) {
    for (const { rect, title, said } of this.bars.get(key) ?? []) {
      rect.classList.toggle("restored", isRestored);
      rect.classList.toggle("again", !isRestored);
      sized(rect, isRestored ? FLAT : TALL);
      title.textContent = `${said}; ${isRestored ? "restored" : "ran again"}`;
    }
  }

  // Of ranks it is known only now what they restored. Of a question about the whole run, the rest of what ran is what ran again.
  end(found, isWhole) {
    for (const key of found.restored) if (!this.states.has(key)) this.block(key, true);
    const blocks = [...this.bars.keys()].filter((key) => /#\d+$/.test(key) && !this.states.has(key));
    for (const key of isWhole ? blocks : []) if (key.split("/").pop().split("#")[0] in found.ran) this.block(key, false);
    this.jumped(found.began_with);
    this.legend();
  }

  // What a replay jumped over, by the iterations with which its loops began.
  jumped(began) {
    for (const [place, first] of Object.entries(began)) {
      for (const key of this.bars.keys()) {
        const path = key.startsWith(`${place}=`) ? Number.parseInt(key.slice(place.length + 1), 10) : NaN;
        if (path < first) this.mark(key, true);
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

// A bar is found by its own key, and by those of the blocks that it is in: `L1=0/L2#0` of `L1=0/L2#0/L2=3`.
function parts(key) {
  const steps = key.split("/");
  return steps.map((_, at) => steps.slice(0, at + 1).join("/")).filter((part, at) => at === steps.length - 1 || /#\d+$/.test(part));
}

const sized = (rect, size) => Object.entries(size).forEach(([name, value]) => rect.setAttribute(name, value));

function scale(from, total) {
  const ticks = [0, 0.25, 0.5, 0.75, 1].map((share) => el("span", { text: seconds(from + (total - from) * share) }));
  return el("div", { class: "lane scale", "aria-hidden": "true" }, el("div", { class: "lane-name" }), el("div", { class: "ticks" }, ...ticks));
}
