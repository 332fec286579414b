// One chart: values of a name, what was recorded as a line, what was asked as points.

import uPlot from "./vendor/uplot/uPlot.esm.js";
import { el, number } from "./dom.js";

const HEIGHT = 220, FEW = 400;
const COUNTS = Array.from({ length: 10 }, (_, power) => [1, 2, 5].map((digit) => digit * 10 ** power)).flat();
const SYNC = uPlot.sync("florc");
const SHADES = { recorded: ["--line-1", "--line-2", "--line-3"], asked: ["--asked-1", "--asked-2", "--asked-3"] };

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

export class Chart {
  // `curves`: label, asked, x and y of each. `over`: what is on the x axis.
  constructor(box, name, over, curves) {
    this.box = box;
    this.name = name;
    this.over = over;
    this.curves = curves;
    this.caption = el("p", { class: "caption", "aria-live": "polite" });
    this.place = el("div", {
      class: "chart",
      tabindex: "0",
      role: "application",
      "aria-label": `${name} over ${over}: ${curves.map((curve) => `${curve.label}, ${curve.x.length} values`).join("; ")}. Arrow keys move, plus and minus zoom, 0 shows all.`,
      onkeydown: (event) => this.key(event),
    });
    box.append(this.place, this.caption);
    this.draw();
    this.sized = new ResizeObserver(() => {
      const width = this.place.clientWidth;
      if (width && width !== this.plot.width) this.plot.setSize({ width, height: HEIGHT });
    });
    this.sized.observe(this.place);
  }

  draw() {
    this.plot?.destroy();
    this.place.replaceChildren();
    const kinds = { recorded: 0, asked: 0 };
    const series = this.curves.map((curve) => {
      const kind = curve.asked ? "asked" : "recorded";
      const stroke = colour(SHADES[kind][kinds[kind]++ % 3]);
      const isDotted = (plot, at) => curve.x.length === 1 || (curve.asked && shown(plot, at) <= FEW);
      return {
        label: curve.label,
        stroke,
        width: curve.asked ? 1.5 : 2,
        dash: curve.asked ? [5, 4] : undefined,
        spanGaps: true,
        points: { show: isDotted, size: 7, fill: colour("--panel"), stroke },
        value: (_, value) => (value === null || value === undefined ? "" : number(value)),
      };
    });
    const axis = { stroke: colour("--muted"), grid: { stroke: colour("--grid"), width: 1 }, ticks: { stroke: colour("--grid"), width: 1 } };
    const size = (plot, values) => Math.max(50, 14 + 7.2 * Math.max(0, ...(values ?? []).map((value) => String(value).length)));
    this.plot = new uPlot(
      {
        width: this.place.clientWidth || 480,
        height: HEIGHT,
        scales: { x: { time: false } },
        series: [{ label: this.over }, ...series],
        axes: [{ ...axis, ...(isCounted(this.curves) ? { incrs: COUNTS } : {}), values: (_, found) => found.map(number) }, { ...axis, size, values: (_, found) => found.map(number) }],
        cursor: { sync: { key: SYNC.key, setSeries: false }, drag: { x: true, y: false } },
        legend: { live: true },
        hooks: { setScale: [() => this.told()] },
      },
      aligned(this.curves),
      this.place,
    );
    this.told();
  }

  // The same curves with more values.
  update(curves) {
    const isOther = curves.length !== this.curves.length;
    this.curves = curves;
    if (isOther) this.draw();
    else this.plot.setData(aligned(curves));
  }

  told() {
    if (!this.plot) return;
    const { min, max } = this.plot.scales.x;
    this.box.dataset.points = this.curves.reduce((sum, curve) => sum + curve.x.length, 0);
    this.box.dataset.from = min;
    this.box.dataset.to = max;
  }

  key(event) {
    const plot = this.plot, xs = plot.data[0];
    if (event.altKey || event.ctrlKey || event.metaKey || !xs.length) return;
    const { min, max } = plot.scales.x, middle = xs[plot.cursor.idx] ?? (min + max) / 2;
    const steps = { ArrowRight: 1, ArrowLeft: -1, PageUp: -10, PageDown: 10, Home: -Infinity, End: Infinity };
    if (event.key in steps) this.point((plot.cursor.idx ?? (steps[event.key] > 0 ? -1 : xs.length)) + steps[event.key]);
    else if (event.key === "+" || event.key === "=") this.zoom(middle, (max - min) / 2);
    else if (event.key === "-") this.zoom(middle, (max - min) * 2);
    else if (event.key === "0" || event.key === "Escape") plot.setData(plot.data, true);
    else return;
    event.preventDefault();
  }

  zoom(middle, width) {
    const xs = this.plot.data[0], first = xs[0], last = xs.at(-1);
    if (width >= last - first) return this.plot.setData(this.plot.data, true);
    const min = Math.max(first, Math.min(last - width, middle - width / 2));
    if (width > 0) this.plot.setScale("x", { min, max: min + width });
  }

  // Moves the cursor to a value, and says it.
  point(index) {
    const plot = this.plot, xs = plot.data[0];
    const at = Math.max(0, Math.min(xs.length - 1, index)), x = xs[at];
    const { min, max } = plot.scales.x;
    if (x < min || x > max) this.zoom(x, max - min);
    plot.setCursor({ left: plot.valToPos(x, "x"), top: plot.over.clientHeight / 2 });
    const values = this.curves.map((curve, number_) => [curve.label, plot.data[number_ + 1][at]]).filter(([, y]) => y !== null && y !== undefined);
    this.caption.textContent = `${this.over} ${number(x)}: ${values.map(([label, y]) => `${label} ${number(y)}`).join(", ")}`;
  }

  destroy() {
    this.sized.disconnect();
    this.plot.destroy();
    this.box.replaceChildren();
  }
}

// Iterations are whole: there is nothing between them.
const isCounted = (curves) => curves.every((curve) => curve.x.every(Number.isInteger));

function shown(plot) {
  const [first, last] = plot.series[0].idxs ?? [0, 0];
  return last - first;
}

function aligned(curves) {
  if (!curves.length) return [[]];
  const tables = curves.map((curve) => {
    const order = curve.x.every((x, at) => !at || curve.x[at - 1] <= x) ? null : [...curve.x.keys()].sort((one, other) => curve.x[one] - curve.x[other]);
    return order ? [order.map((at) => curve.x[at]), order.map((at) => curve.y[at])] : [curve.x, curve.y];
  });
  return tables.length === 1 ? tables[0] : uPlot.join(tables);
}
