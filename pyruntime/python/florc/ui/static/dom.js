// Elements, made of texts only: what a run printed, or what its files hold, is never read as HTML.

export const byId = (id) => document.getElementById(id);

export function el(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  fill(made, properties, children);
  return made;
}

export function svg(tag, properties = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  fill(made, properties, children);
  return made;
}

function fill(made, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "text") made.textContent = value;
    else if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? "" : String(value));
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
}

export function show(element, isShown) {
  element.hidden = !isShown;
}

export function seconds(value) {
  if (value === null || value === undefined) return "unknown";
  if (value < 10) return `${value.toFixed(2)} s`;
  if (value < 60) return `${value.toFixed(1)} s`;
  return `${Math.floor(value / 60)} min ${Math.round(value % 60)} s`;
}

export function bytes(value) {
  let rest = value;
  for (const unit of ["B", "kB", "MB"]) {
    if (rest < 1000) return `${unit === "B" ? rest : rest.toFixed(1)} ${unit}`;
    rest /= 1000;
  }
  return `${rest.toFixed(1)} GB`;
}

export function many(number, what) {
  return `${number.toLocaleString("en")} ${what}${number === 1 ? "" : "s"}`;
}

// A number as Python writes it, as far as a double goes.
export function number(value) {
  if (typeof value !== "number") return value === null ? "None" : String(value);
  return Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(8)));
}

// A list of which one entry is the current one: arrow keys move, Enter and a click choose.
export class Listbox {
  constructor(element, choose, move = () => {}) {
    this.element = element;
    this.options = [];
    this.at = -1;
    this.choose = choose;
    this.move = move;
    element.addEventListener("keydown", (event) => this.key(event));
    element.addEventListener("click", (event) => {
      const option = event.target.closest("[role=option]");
      const at = this.options.indexOf(option);
      if (at >= 0) {
        this.go(at);
        this.choose(at, "click");
      }
    });
  }

  fill(options) {
    this.options = options;
    options.forEach((option, at) => (option.id = `${this.element.id}-${at}`));
    this.at = -1;
    this.element.removeAttribute("aria-activedescendant");
  }

  go(at, isScrolled = true) {
    if (!this.options.length) return;
    const next = Math.max(0, Math.min(this.options.length - 1, at));
    this.options[this.at]?.classList.remove("current");
    this.options[this.at]?.setAttribute("aria-selected", "false");
    this.at = next;
    const option = this.options[next];
    option.classList.add("current");
    option.setAttribute("aria-selected", "true");
    this.element.setAttribute("aria-activedescendant", option.id);
    if (isScrolled) {
      const box = this.element.getBoundingClientRect(), mine = option.getBoundingClientRect();
      if (mine.top < box.top) this.element.scrollTop += mine.top - box.top - 4;
      const bottom = box.top + this.element.clientTop + this.element.clientHeight; // above its scrollbar
      if (mine.bottom > bottom) this.element.scrollTop += mine.bottom - bottom + 4;
    }
    this.move(next);
  }

  key(event) {
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: 15, PageUp: -15, Home: -Infinity, End: Infinity };
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key in steps) {
      this.go(this.at < 0 ? (steps[event.key] === Infinity ? Infinity : 0) : this.at + steps[event.key]);
    } else if (event.key === "Enter" || event.key === " ") {
      if (this.at >= 0) this.choose(this.at, "key");
    } else return;
    event.preventDefault();
  }
}
