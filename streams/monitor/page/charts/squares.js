/** Squares of systems against systems: who won, and how often they met, early and late. */

/** @import { ChartOptions, Pair, Plot } from "../types.ts" */

import { count, percent } from "../shared/format.js";
import { labelWidth, shorten } from "./chart.js";

const STRONGEST = 0.88;
/**
 * @typedef {object} Place
 * @property {number} row
 * @property {number} column
 */

const TIP = { fill: "var(--page)", stroke: "var(--rule)" };

/**
 * Share of wins of the row's system against the column's, without ties.
 * @param {string[]} systems
 * @param {Pair[]} pairs
 * @returns {ChartOptions}
 */
export function headToHead(systems, pairs) {
  const place = placesOf(systems);
  const cells = pairs.flatMap(({ system, opponent, wins, ties, losses }) => {
    const [i, j] = [place.get(system), place.get(opponent)];
    if (i === undefined || j === undefined) return [];
    return [
      { row: i, column: j, system, opponent, wins, ties, losses },
      { row: j, column: i, system: opponent, opponent: system, wins: losses, ties, losses: wins },
    ];
  });
  const decided = cells
    .filter(({ wins, losses }) => wins + losses > 0)
    .map((cell) => ({ ...cell, share: cell.wins / (cell.wins + cell.losses) }));
  const undecided = cells.filter(({ wins, losses }) => wins + losses === 0);
  return square(systems, cells, {
    marks: (Plot, written) => [
      Plot.cell(undecided, { x: "column", y: "row", fill: "var(--soft)", fillOpacity: 0.12, inset: 0.5 }),
      Plot.cell(
        decided.filter(({ share }) => share >= 0.5),
        shade("var(--heat-blue)", (/** @type {{ share: number }} */ { share }) => 2 * (share - 0.5)),
      ),
      Plot.cell(
        decided.filter(({ share }) => share < 0.5),
        shade("var(--heat-orange)", (/** @type {{ share: number }} */ { share }) => 2 * (0.5 - share)),
      ),
      written &&
        Plot.text(decided, { x: "column", y: "row", text: ({ share }) => Math.round(100 * share), fill: "var(--ink)" }),
    ],
    tip: ({ system, opponent, wins, ties, losses }) =>
      `${system} against ${opponent}\n${wins + losses ? percent(wins / (wins + losses)) : "no"} of ${count(wins + losses)} decided, ${count(ties)} ties`,
  });
}

/**
 * How often two systems met: above the diagonal in the first half of the judgments, below it in the second half.
 * @param {string[]} systems
 * @param {Pair[]} pairs
 * @returns {ChartOptions}
 */
export function meetings(systems, pairs) {
  const place = placesOf(systems);
  const cells = pairs.flatMap(({ system, opponent, wins, ties, losses, early, late }) => {
    const [one, other] = [place.get(system), place.get(opponent)];
    if (one === undefined || other === undefined) return [];
    const [i, j] = one < other ? [one, other] : [other, one];
    const met = wins + ties + losses;
    const about = { system, opponent, early, late, met };
    return [
      { row: i, column: j, times: early ?? met, ...about },
      { row: j, column: i, times: late ?? met, ...about },
    ];
  });
  const most = Math.max(1, ...cells.map(({ times }) => times));
  return square(systems, cells, {
    marks: (Plot, written) => [
      Plot.cell(
        cells,
        shade("var(--heat-blue)", (/** @type {{ times: number }} */ { times }) => Math.sqrt(times / most)),
      ),
      Plot.cell(systems, { x: (_, i) => i, y: (_, i) => i, fill: "var(--soft)", fillOpacity: 0.12, inset: 0.5 }),
      written &&
        Plot.text(
          cells.filter(({ times }) => times > 0 && times < 1000),
          { x: "column", y: "row", text: "times", fill: "var(--ink)" },
        ),
    ],
    tip: ({ system, opponent, early, late, met }) =>
      `${system} and ${opponent}\nmet ${count(met)} times` +
      (early === null ? "" : `\n${count(early)} early, ${count(late)} late`),
  });
}

/** @param {string[]} systems */
const placesOf = (systems) => new Map(systems.map((system, place) => [system, place]));

/**
 * @template Cell
 * @param {string} fill
 * @param {(cell: Cell) => number} strength
 */
const shade = (fill, strength) => ({
  x: "column",
  y: "row",
  fill,
  inset: 0.5,
  fillOpacity: (/** @type {Cell} */ cell) => STRONGEST * Math.max(0.06, strength(cell)),
});

/**
 * Rows have names, columns have ranks. Cells have numbers if there is room.
 * @template {Place} Cell
 * @param {string[]} systems
 * @param {Cell[]} cells
 * @param {{ marks: (Plot: Plot, written: boolean) => (object | false)[], tip: (cell: Cell) => string }} parts
 * @returns {ChartOptions}
 */
function square(systems, cells, { marks, tip }) {
  return (Plot, width) => {
    const most = width < 520 ? 12 : 24;
    const places = systems.map((_, place) => place);
    const marginLeft = Math.min(0.4 * width, labelWidth(systems, most) + 24);
    const side = Math.min(34, (width - marginLeft - 4) / Math.max(1, systems.length));
    const written = side >= 22;
    const tall = Math.min(side, 28);
    const every = side >= 14 ? 1 : side >= 7 ? 5 : 10;
    const named = systems.length <= 60;
    return {
      width: marginLeft + side * systems.length + 4,
      height: 22 + Math.max(6, tall) * systems.length + 4,
      marginLeft,
      marginTop: 22,
      marginRight: 4,
      marginBottom: 4,
      padding: 0,
      opacity: { type: "identity" },
      x: {
        domain: places,
        axis: "top",
        label: null,
        tickSize: 0,
        tickFormat: (/** @type {number} */ place) => (every === 1 || (place + 1) % every === 0 ? place + 1 : ""),
      },
      y: {
        domain: places,
        label: null,
        tickSize: 0,
        tickFormat: (/** @type {number} */ place) => nameOf(systems, place, most, named, every),
      },
      marks: [
        ...marks(Plot, written).filter(Boolean),
        Plot.tip(cells, Plot.pointer({ x: "column", y: "row", title: tip, ...TIP })),
      ],
    };
  };
}

/**
 * Return a name whose writing direction does not affect the rank after it.
 * @param {string} name
 */
const isolate = (name) => `\u2068${name}\u2069`;

/**
 * @param {string[]} systems
 * @param {number} place
 * @param {number} most
 * @param {boolean} named
 * @param {number} every
 */
function nameOf(systems, place, most, named, every) {
  if (named) return `${isolate(shorten(systems[place], most))}  ${place + 1}`;
  return (place + 1) % every === 0 ? String(place + 1) : "";
}
