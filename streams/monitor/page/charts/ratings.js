/** Ratings over time: chosen systems in colour with a band of two deviations, the others faint. */

/** @import { ChartOptions, HistoryPayload, Sample } from "../types.ts" */
/** @import { Choice } from "../views/choice.js" */

import { count, decimal } from "../shared/format.js";
import { shorten } from "./chart.js";

const BAND = 2; // deviations
const FAINT_POINTS = 100; // per faint line
const GAP = 14; // pixels between two names at the right
const WILD = 4; // a point may leave the picture if its deviation is so many times the last one

/**
 * @typedef {object} Point
 * @property {string} system
 * @property {number} judgments
 * @property {number} score
 * @property {number} deviation
 * @property {number | null} rank
 * @property {number} low
 * @property {number} high
 */

/**
 * @param {HistoryPayload} history
 * @param {Choice} choice
 * @returns {ChartOptions}
 */
export function ratingsChart({ systems, samples }, choice) {
  const chosen = choice.systems.filter((system) => systems.includes(system));
  const lines = new Map(chosen.map((system) => [system, line(system, systems.indexOf(system), samples)]));
  const others = systems.filter((system) => !lines.has(system));
  const thin = thinOut(samples, FAINT_POINTS);
  const faint = others.flatMap((system) => line(system, systems.indexOf(system), thin));
  const domain = span(
    lines.size ? [...lines.values()] : others.map((system) => faint.filter((point) => point.system === system)),
  );
  return (Plot, width) => {
    const narrow = width < 520;
    const height = narrow ? 300 : 380;
    const marginRight = narrow ? 90 : 136;
    const margins = { marginLeft: 46, marginRight, marginTop: 22, marginBottom: 40 };
    const names = spread(
      [...lines].filter(([, points]) => points.length),
      domain,
      height - margins.marginTop - margins.marginBottom,
    );
    return {
      height,
      ...margins,
      x: { label: "judgments", nice: false, ticks: narrow ? 4 : 7, tickFormat: "~s" },
      y: { label: "score", domain, grid: true, ticks: 6 },
      marks: [
        Plot.lineY(faint, {
          x: "judgments",
          y: "score",
          z: "system",
          stroke: "var(--soft)",
          strokeOpacity: others.length > 40 ? 0.16 : 0.32,
          strokeWidth: 1,
          clip: true,
        }),
        ...[...lines].flatMap(([system, points]) => {
          const colour = choice.colourOf(system);
          return [
            Plot.areaY(points, { x: "judgments", y1: "low", y2: "high", fill: colour, fillOpacity: 0.1, clip: true }),
            Plot.lineY(points, { x: "judgments", y: "score", stroke: colour, strokeWidth: 1.8, clip: true }),
          ];
        }),
        ...names.map(({ system, point, y }) =>
          Plot.text([point], {
            x: "judgments",
            y: () => y,
            text: () => shorten(system, narrow ? 11 : 18),
            fill: choice.colourOf(system),
            textAnchor: "start",
            dx: 7,
            fontWeight: 560,
          }),
        ),
        Plot.tip(
          [...lines.values()].flat(),
          Plot.pointer({ x: "judgments", y: "score", title: tipOf, fill: "var(--page)", stroke: "var(--rule)" }),
        ),
      ],
    };
  };
}

/** @param {Point} point */
const tipOf = ({ system, judgments, score, deviation, rank }) =>
  `${system}\nrank ${rank} after ${count(judgments)} judgments\n${decimal(score, 3)} ± ${decimal(deviation, 3)}`;

/**
 * @param {string} system
 * @param {number} place
 * @param {Sample[]} samples
 */
function line(system, place, samples) {
  /** @type {Point[]} */
  const points = [];
  for (const { judgments, scores, deviations, ranks } of samples) {
    const score = scores[place] ?? null;
    if (score === null) continue;
    const deviation = deviations[place] ?? 0;
    points.push({
      system,
      judgments,
      score,
      deviation,
      rank: ranks[place],
      low: score - BAND * deviation,
      high: score + BAND * deviation,
    });
  }
  return points;
}

/**
 * @param {Sample[]} samples
 * @param {number} most
 */
function thinOut(samples, most) {
  const step = Math.ceil(samples.length / most);
  return samples.filter((_, i) => i % step === 0 || i === samples.length - 1);
}

/**
 * Return the lowest and the highest score to show. The first points vary too much to count.
 * @param {Point[][]} lines
 */
function span(lines) {
  const settled = lines.flatMap((points) =>
    points.filter(({ deviation }) => deviation <= WILD * points[points.length - 1].deviation),
  );
  const low = Math.min(...settled.map((point) => point.low));
  const high = Math.max(...settled.map((point) => point.high));
  if (!Number.isFinite(low)) return [-1, 1];
  const room = 0.04 * (high - low || 1);
  return [low - room, high + room];
}

/**
 * Return the places of the names at the right, moved apart so that they do not overlap.
 * @param {[string, Point[]][]} lines
 * @param {number[]} domain
 * @param {number} height
 */
function spread(lines, [low, high], height) {
  const unit = (high - low) / height;
  const places = lines
    .map(([system, points]) => ({
      system,
      point: points[points.length - 1],
      y: Math.min(high, Math.max(low, points[points.length - 1].score)),
    }))
    .sort((one, other) => other.y - one.y);
  for (let i = 1; i < places.length; i++) places[i].y = Math.min(places[i].y, places[i - 1].y - GAP * unit);
  const below = low - (places.at(-1)?.y ?? low);
  if (below > 0) for (const place of places) place.y += below;
  return places;
}
