/** A section of the page. It loads its data when it is visible, and again when something has changed. */

/** @import { PanelOptions } from "../types.ts" */
/** @import { Chart } from "../charts/chart.js" */
/** @import { Table } from "../shared/table.js" */
/** @import { CampaignView } from "../views/campaign.js" */

import { messageOf } from "../shared/api.js";
import { button, element, isBeingSelected, setText } from "../shared/elements.js";
import { capitalized } from "../shared/format.js";
import { saveCsv, saveSvg } from "../shared/save.js";

const LATER = 1000;
const LEISURE = 20; // the pause before the next refresh is at least this many times as long as the last refresh took

/** Each kind of panel defines `load` and `show`. */
export class Panel {
  /**
   * @param {CampaignView} campaign
   * @param {PanelOptions} options
   */
  constructor(campaign, { id, title, short = title, about = "", every = 4000, room = 300 }) {
    this.campaign = campaign;
    this.id = id;
    this.title = title;
    this.short = short;
    this.every = every;
    this.visible = false;
    this.dirty = true;
    this.busy = false;
    this.closed = false;
    this.due = -Infinity;
    this.width = 0;
    /** @type {any} */
    this.data = null;
    /** @type {number | undefined} */
    this.timer = undefined;
    /** @type {Chart[]} */
    this.charts = [];
    this.tools = element("div", { class: "tools" });
    this.note = element("p", { class: "note" }, about);
    this.problem = element("p", { class: "problem", hidden: true });
    this.body = element("div", { class: "panel-body" });
    this.body.style.minHeight = `${room}px`; // about its later height, so that the panels below do not move
    this.root = element(
      "section",
      { class: "panel", id: `panel-${id}`, "aria-labelledby": `title-${id}` },
      element("div", { class: "panel-head" }, element("h2", { id: `title-${id}`, tabindex: "-1" }, title), this.tools),
      this.note,
      this.problem,
      this.body,
    );
    this.watcher = new IntersectionObserver(([entry]) => this.visibilityChanged(entry.isIntersecting), {
      rootMargin: "150px",
    });
    this.watcher.observe(this.root);
    this.sizes = new ResizeObserver(() => this.resized());
    this.sizes.observe(this.body);
  }

  /**
   * Fetch the data.
   * @returns {Promise<any>}
   */
  async load() {
    return null;
  }

  /**
   * Draw the data.
   * @param {any} _data
   */
  async show(_data) {}

  /**
   * Add a chart with its download. While nothing is drawn, there is nothing to download.
   * @param {Chart} chart
   */
  addChart(chart, name = this.id) {
    this.charts.push(chart);
    const download = this.addTool(name === this.id ? "SVG" : `SVG: ${name}`, `Download the chart ${name} as SVG`, () => {
      const svg = chart.svg();
      if (svg) saveSvg(`${this.campaign.name}-${name}`, svg);
    });
    download.disabled = true;
    chart.onChange = (isDrawn) => (download.disabled = !isDrawn);
    this.body.append(chart.root);
  }

  /**
   * Add a table with its download. With the text `folded`, the reader opens the table by a click on that text.
   * @param {Table<any>} table
   * @param {{ name?: string, folded?: string }} options
   */
  addTable(table, { name = this.id, folded } = {}) {
    this.addTool(name === this.id ? "CSV" : `CSV: ${name}`, `Download the table ${name} as CSV`, () =>
      saveCsv(`${this.campaign.name}-${name}`, table.csv()),
    );
    this.body.append(
      folded
        ? element("details", { toggle: () => table.draw() }, element("summary", {}, folded), table.root)
        : table.root,
    );
  }

  /**
   * @param {string} kind
   * @param {string} label
   * @param {() => void} click
   */
  addTool(kind, label, click) {
    const tool = button(kind, click, { "aria-label": label, title: label });
    this.tools.append(tool);
    return tool;
  }

  /** @param {boolean} visible */
  visibilityChanged(visible) {
    this.visible = visible;
    this.refreshIfNeeded();
  }

  /** Mark the data as old. */
  changed() {
    this.dirty = true;
    this.refreshIfNeeded();
  }

  /** Refresh if the panel is visible and its data is old, but not too often, and not while somebody reads it. */
  refreshIfNeeded() {
    if (!this.visible || !this.dirty || this.busy || this.timer) return;
    const wait = this.due - performance.now();
    if (wait > 0) this.tryLater(wait);
    else if (document.hidden || this.isBeingRead) this.tryLater(LATER);
    else this.refresh();
  }

  get isBeingRead() {
    return isBeingSelected(this.body) || this.charts.some((chart) => chart.isPointedAt);
  }

  /** @param {number} wait */
  tryLater(wait) {
    this.timer = setTimeout(() => {
      this.timer = undefined;
      this.refreshIfNeeded();
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
      setText(this.problem, `${capitalized(messageOf(error))}.`);
    }
    this.busy = false;
    this.due = performance.now() + Math.max(this.every, LEISURE * (performance.now() - began));
    this.refreshIfNeeded();
  }

  /** Draw the present data again. */
  redraw() {
    if (this.data) this.show(this.data);
  }

  resized() {
    const { clientWidth } = this.body;
    if (this.width !== clientWidth && this.charts.length) this.redraw();
    this.width = clientWidth;
  }

  close() {
    this.closed = true;
    clearTimeout(this.timer);
    this.watcher.disconnect();
    this.sizes.disconnect();
  }
}
