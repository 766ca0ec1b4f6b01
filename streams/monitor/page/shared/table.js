/** A table of rows under columns: sorted by a click on a heading, long ones folded, all of it as CSV; as cards on a phone, if so told. */

import { asCsv } from "./csv.js";
import { button, element, say } from "./elements.js";
import { NOTHING, count } from "./format.js";

const FOLDED = 15;
const MOST = 1000; // rows drawn; the rest is in the CSV

/**
 * A column has a `title` and a `value` of a row, and may have `text` or `cell` to show it, `numeric` to align it,
 * `about` to explain it, `minor` if a narrow screen can do without, and `optional` if it is left out while nothing is known.
 */
export class Table {
  constructor({
    caption,
    columns,
    sort = null,
    descending = true,
    folded = FOLDED,
    empty = "Nothing yet.",
    cards = false,
  }) {
    Object.assign(this, { columns, sort, descending, folded, empty, rows: [] });
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

  heading(column) {
    const sorter = button(column.title, () => this.sortBy(column), { title: column.about });
    return element("th", { scope: "col", role: "columnheader", class: classOf(column) }, sorter);
  }

  sortBy(column) {
    this.descending = this.sort === column.title ? !this.descending : Boolean(column.numeric);
    this.sort = column.title;
    this.draw();
  }

  unfold() {
    this.folded = MOST;
    this.draw();
  }

  show(rows) {
    this.rows = rows;
    this.draw();
  }

  sorted() {
    const column = this.columns.find(({ title }) => title === this.sort);
    if (!column) return this.rows;
    const way = this.descending ? -1 : 1;
    return this.rows.toSorted((one, other) => compare(column.value(one), column.value(other), way));
  }

  /** Draw the rows, if anyone can see them. */
  draw() {
    if (!this.root.checkVisibility()) return;
    const shown = this.columns.map((column) => !column.optional || this.rows.some((row) => known(column.value(row))));
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
    say(
      this.more,
      rows.length <= MOST ? `Show all ${count(rows.length)}` : `Show ${count(MOST)} of ${count(rows.length)}`,
    );
  }

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
    return asCsv(
      this.columns.map(({ title }) => title),
      this.sorted().map((row) => this.columns.map(({ value }) => value(row))),
    );
  }
}

const classOf = ({ numeric, minor, wide }) =>
  [numeric && "number", minor && "minor", wide && "wide"].filter(Boolean).join(" ") || null;

const known = (value) => value !== null && value !== undefined;

/** What is unknown stands last, whichever way the rest is sorted. */
function compare(one, other, way) {
  if (!known(one) || !known(other)) return known(other) - known(one);
  if (typeof one === "number" && typeof other === "number") return way * (one - other);
  return way * String(one).localeCompare(String(other), "en", { numeric: true });
}
