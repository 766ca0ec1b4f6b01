/** A part of the page that is asked for when it is seen, and again, now and then, when something has changed. */

import { button, element, isBeingSelected, say } from "../shared/elements.js";
import { saveCsv, saveSvg } from "../shared/save.js";

const LATER = 1000;
const LEISURE = 20; // times as long as it took to load and to draw, before that is done again

/** A panel says what to `load` and how to `show` it; both are its own. */
export class Panel {
  constructor(campaign, { id, title, short = title, about = "", every = 4000, room = 300 }) {
    Object.assign(this, {
      campaign,
      id,
      title,
      short,
      every,
      visible: false,
      dirty: true,
      due: -Infinity,
      charts: [],
    });
    this.tools = element("div", { class: "tools" });
    this.note = element("p", { class: "note" }, about);
    this.problem = element("p", { class: "problem", hidden: true });
    this.body = element("div", { class: "panel-body" });
    this.body.style.minHeight = `${room}px`; // about what it will take, so that what is below stays where it is
    this.root = element(
      "section",
      { class: "panel", id: `panel-${id}`, "aria-labelledby": `title-${id}` },
      element("div", { class: "panel-head" }, element("h2", { id: `title-${id}`, tabindex: "-1" }, title), this.tools),
      this.note,
      this.problem,
      this.body,
    );
    this.watcher = new IntersectionObserver(([entry]) => this.seen(entry.isIntersecting), { rootMargin: "150px" });
    this.watcher.observe(this.root);
    this.sizes = new ResizeObserver(() => this.resized());
    this.sizes.observe(this.body);
  }

  /** Put a chart on the page, with its download. */
  addChart(chart, name = this.id) {
    this.charts.push(chart);
    this.offer(name === this.id ? "SVG" : `SVG: ${name}`, `Download the chart ${name} as SVG`, () => {
      const svg = chart.svg();
      if (svg) saveSvg(`${this.campaign.name}-${name}`, svg);
    });
    this.body.append(chart.root);
  }

  /** Put a table on the page, with its download; under a chart it may be folded away. */
  addTable(table, { name = this.id, folded = null } = {}) {
    this.offer("CSV", `Download the table ${name} as CSV`, () => saveCsv(`${this.campaign.name}-${name}`, table.csv()));
    const details =
      folded && element("details", { toggle: () => table.draw() }, element("summary", {}, folded), table.root);
    this.body.append(details ?? table.root);
  }

  offer(kind, label, click) {
    this.tools.append(button(kind, click, { "aria-label": label, title: label }));
  }

  seen(visible) {
    this.visible = visible;
    this.consider();
  }

  changed() {
    this.dirty = true;
    this.consider();
  }

  /** Load if it is seen, has changed, and neither asked just now nor being read. */
  consider() {
    if (!this.visible || !this.dirty || this.busy || this.timer) return;
    const wait = this.due - performance.now();
    if (wait > 0) this.later(wait);
    else if (document.hidden || this.isBeingRead) this.later(LATER);
    else this.refresh();
  }

  get isBeingRead() {
    return isBeingSelected(this.body) || this.charts.some((chart) => chart.isPointedAt);
  }

  later(wait) {
    this.timer = setTimeout(() => {
      this.timer = null;
      this.consider();
    }, wait);
  }

  async refresh() {
    const began = performance.now();
    this.busy = true;
    this.dirty = false;
    try {
      this.data = await this.load();
      if (!this.closed) await this.show(this.data);
      this.problem.hidden = true;
      this.body.style.minHeight = "";
    } catch (error) {
      this.problem.hidden = false;
      say(this.problem, error.message);
    }
    this.busy = false;
    this.due = performance.now() + Math.max(this.every, LEISURE * (performance.now() - began));
    this.consider();
  }

  resized() {
    const { clientWidth } = this.body;
    if (this.data && this.width !== clientWidth && this.charts.length) this.show(this.data);
    this.width = clientWidth;
  }

  close() {
    this.closed = true;
    clearTimeout(this.timer);
    this.watcher.disconnect();
    this.sizes.disconnect();
  }
}
