/** A table that is sorted by a click on a heading. Long tables are folded; the CSV has all rows. */

/** @import { Column, TableOptions } from "../types.ts" */

import { toCsv } from "./csv.js";
import { button, element, setText } from "./elements.js";
import { NOTHING, count } from "./format.js";

const FOLDED = 15;
const MOST = 1000; // rows in the page; the CSV has all

/** @template Line */
export class Table {
  /** @param {TableOptions<Line>} options */
  constructor({
    caption,
    columns,
    sort = null,
    descending = true,
    folded = FOLDED,
    empty = "Nothing yet.",
    cards = false,
  }) {
    this.columns = columns;
    this.sort = sort;
    this.descending = descending;
    this.folded = folded;
    /** @type {Line[]} */
    this.rows = [];
    this.headings = columns.map((column) => this.heading(column));
    this.body = element("tbody", { role: "rowgroup" });
    this.more = button("", () => this.unfold(), { class: "more", hidden: true });
    this.nothing = element("p", { class: "nothing", hidden: true }, empty);
    this.table = element(
      "table",
      { class: cards ? "rows cards" : "rows", role: "table" },
      element("caption", { class: "unseen" }, caption),
      element("thead", { role: "rowgroup" }, element("tr", { role: "row" }, this.headings)),
      this.body,
    );
    const scroll = element(
      "div",
      { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
      this.table,
    );
    this.root = element("div", {}, scroll, this.nothing, this.more);
  }

  /** @param {Column<Line>} column */
  heading(column) {
    const sorter = button(column.title, () => this.sortBy(column), { title: column.about });
    return element("th", { scope: "col", role: "columnheader", class: classOf(column) }, sorter);
  }

  /** @param {Column<Line>} column */
  sortBy(column) {
    this.descending = this.sort === column.title ? !this.descending : Boolean(column.numeric);
    this.sort = column.title;
    this.draw();
  }

  unfold() {
    this.folded = MOST;
    this.draw();
  }

  /** @param {Line[]} rows */
  show(rows) {
    this.rows = rows;
    this.draw();
  }

  sorted() {
    const column = this.columns.find(({ title }) => title === this.sort);
    if (!column) return this.rows;
    const direction = this.descending ? -1 : 1;
    return this.rows.toSorted((one, other) => compare(column.value(one), column.value(other), direction));
  }

  /** Draw the rows, if the table is visible. */
  draw() {
    if (!this.root.checkVisibility()) return;
    const shown = this.columns.map(
      (column) => !column.optional || this.rows.some((row) => isKnown(column.value(row))),
    );
    this.columns.forEach((column, i) => {
      this.headings[i].hidden = !shown[i];
      const sorted = column.title === this.sort ? (this.descending ? "descending" : "ascending") : "none";
      this.headings[i].setAttribute("aria-sort", sorted);
    });
    const rows = this.sorted();
    this.body.replaceChildren(...rows.slice(0, this.folded).map((row) => this.line(row, shown)));
    this.table.hidden = rows.length === 0;
    this.nothing.hidden = rows.length > 0;
    this.more.hidden = rows.length <= this.folded || this.folded === MOST;
    setText(
      this.more,
      rows.length <= MOST ? `Show all ${count(rows.length)}` : `Show ${count(MOST)} of ${count(rows.length)}`,
    );
  }

  /**
   * @param {Line} row
   * @param {boolean[]} shown
   */
  line(row, shown) {
    const cells = this.columns.map((column, i) => {
      if (!shown[i]) return null;
      const content = column.cell?.(row) ?? column.text?.(row) ?? String(column.value(row) ?? NOTHING);
      const kind = { class: classOf(column), "data-title": column.title };
      return i === 0
        ? element("th", { scope: "row", role: "rowheader", ...kind }, content)
        : element("td", { role: "cell", ...kind }, content);
    });
    return element("tr", { role: "row" }, cells);
  }

  csv() {
    return toCsv(
      this.columns.map(({ title }) => title),
      this.sorted().map((row) => this.columns.map(({ value }) => value(row))),
    );
  }
}

/** @param {{ numeric?: boolean, minor?: boolean, wide?: boolean }} column */
const classOf = ({ numeric, minor, wide }) =>
  [numeric && "number", minor && "minor", wide && "wide"].filter(Boolean).join(" ") || null;

/** @param {unknown} value */
const isKnown = (value) => value !== null && value !== undefined;

/**
 * Compare two values. Unknown values come last in both directions.
 * @param {unknown} one
 * @param {unknown} other
 * @param {number} direction
 */
function compare(one, other, direction) {
  if (!isKnown(one) || !isKnown(other)) return Number(isKnown(other)) - Number(isKnown(one));
  if (typeof one === "number" && typeof other === "number") return direction * (one - other);
  return direction * String(one).localeCompare(String(other), "en", { numeric: true });
}
