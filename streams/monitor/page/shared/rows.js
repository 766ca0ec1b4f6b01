/** What the rows of a leaderboard say about each other: islands, and the lines between clusters. */

/** @import { Row } from "../types.ts" */

/**
 * Return the rows of each island. Systems of different islands were never compared, not even indirectly.
 * @param {Row[]} rows
 */
export function islandsOf(rows) {
  /** @type {Map<number, Row[]>} */
  const islands = new Map();
  for (const row of rows) {
    const members = islands.get(row.island);
    if (members) members.push(row);
    else islands.set(row.island, [row]);
  }
  return [...islands.values()];
}

/**
 * Return the line above a row: solid if it holds for other judges too, dashed if not, or if that is not known.
 * @param {Row} row
 * @param {Row | undefined} above
 * @returns {"solid" | "dashed" | null}
 */
export function lineAbove(row, above) {
  if (!above || above.island !== row.island || above.cluster === row.cluster) return null;
  return row.line_above === "judges" ? "solid" : "dashed";
}

/**
 * Return what is known about an island, as a sentence.
 * @param {Row[]} members
 * @param {number} number
 */
export function describeIsland(members, number) {
  const systems = members.length === 1 ? "1 system" : `${members.length} systems`;
  if (members.every(({ judgments }) => judgments === 0)) return `Not compared yet: ${systems}.`;
  if (number === 1) return `Island 1: ${systems}.`;
  return `Island ${number}: ${systems}, never compared with those above, not even indirectly. It is not known which are better.`;
}
