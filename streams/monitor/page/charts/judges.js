/** Judges by number of judgments and agreement with the majority. Flagged judges are triangles. */

/** @import { ChartOptions, Judge } from "../types.ts" */

import { count, percent } from "../shared/format.js";

/**
 * @param {Judge[]} judges
 * @returns {ChartOptions}
 */
export function judgesChart(judges) {
  const compared = judges.filter(({ agreement }) => agreement !== null);
  const agreed = compared.reduce((sum, judge) => sum + judge.agreed, 0);
  const total = compared.reduce((sum, judge) => sum + judge.compared, 0);
  return (Plot, width) => ({
    height: width < 520 ? 220 : 250,
    marginLeft: 46,
    marginBottom: 40,
    marginRight: 16,
    marginTop: 22,
    x: {
      label: "judgments",
      zero: true,
      nice: true,
      tickFormat: "d",
      ticks: Math.min(width < 520 ? 4 : 8, Math.max(...compared.map(({ judgments }) => judgments))),
    },
    y: { label: "agreement", tickFormat: percent, nice: true, grid: true, ticks: 5 },
    marks: [
      Plot.ruleY([agreed / total], { stroke: "var(--soft)", strokeDasharray: "3 3" }),
      Plot.dot(
        compared.filter((judge) => !isFlagged(judge)),
        { x: "judgments", y: "agreement", r: 4, fill: "var(--blue)", fillOpacity: 0.65 },
      ),
      Plot.dot(compared.filter(isFlagged), {
        x: "judgments",
        y: "agreement",
        r: 4.5,
        fill: "var(--orange)",
        symbol: "triangle",
      }),
      Plot.tip(
        compared,
        Plot.pointer({ x: "judgments", y: "agreement", title: tipOf, fill: "var(--page)", stroke: "var(--rule)" }),
      ),
    ],
  });
}

/** @param {Judge} judge */
const isFlagged = ({ suspicious }) => suspicious.length > 0;

/** @param {Judge} judge */
const tipOf = ({ judge, judgments, agreement, suspicious }) =>
  [judge, `${count(judgments)} judgments, ${percent(agreement)} agreement`, ...suspicious].join("\n");
