/** How far the leaderboard can be trusted: reasons to be careful, how fragile the first place is, what was left out. */

/** @import { Board } from "../live/board.js" */
/** @import { Caution } from "../types.ts" */

import { element, isBeingSelected } from "../shared/elements.js";
import { count, counted } from "../shared/format.js";

const SHOWN = 3; // the others are folded

/**
 * What a caution means and what to do, by its code. docs/ranking.md and docs/judges.md explain it in full.
 * @type {Record<string, string>}
 */
const EXPLANATIONS = {
  islands:
    "Some systems were never compared with the others, not even through a third system. Each group has a ranking of its own. Ask for judgments that compare systems of different groups.",
  sweeps:
    "A system won or lost all its comparisons. How far it is above or below the others can't be known from that, only that it is. Its score is held back by the prior.",
  few_judgments: "Ranges are honest about few judgments, but they are wide, and scores may still move a lot.",
  few_judges:
    "With few judges, nothing can be said about what other judges would prefer. Ranges and lines hold only if the same judges were asked again.",
  ties: "Judges say rarely which one is better. Either the systems are close, or the question is too hard. More ties mean less information per judgment.",
  intransitive:
    "There are more circles (a beats b, b beats c, c beats a) than chance allows. One order of all systems then hides that they are good at different things.",
  one_judge: "Much of the ranking is the taste of one judge. Ask others, or limit the share of one judge with the setting judge_share.",
  position_bias:
    "Judges prefer what is shown first, or second. Show the systems in random order. Then the bias costs judgments, but it favours no system.",
  favoured_system:
    "More judges than chance allows rate one system higher than the others do. They may share a taste, or an interest.",
  flagged_judges:
    "Tests say that some judges vote unlike the others: for one system, for one position, or at random. The section Judges shows who and why. A flag is a reason to look, not a proof.",
  left_out: "A setting of the campaign left out many judgments. Check that it does not drop honest ones.",
};

/** @type {Record<string, string>} */
const REASONS = {
  gold: "answers to gold items",
  repeated: "repeated votes",
  over_share: "of judges above their share",
  suspended: "of suspended judges",
  retracted: "retracted",
  taken_back: "changed or withdrawn by their judge",
  rejected: "rejected",
  duplicates: "duplicates",
};

export class Trust {
  constructor() {
    this.body = element("div");
    this.root = element(
      "section",
      { class: "trust", "aria-labelledby": "trust-title" },
      element("h2", { id: "trust-title" }, "Trust"),
      this.body,
    );
    this.key = "";
  }

  /** @param {Board} board */
  show({ facts: { cautions, fragility, left_out }, order }) {
    this.root.hidden = order.length === 0;
    const key = JSON.stringify([cautions, fragility, left_out]);
    if (key === this.key || isBeingSelected(this.body)) return;
    this.key = key;
    const open = new Set([...this.body.querySelectorAll("details[open]")].map(({ id }) => id));
    const entries = cautions.map((caution) => entry(caution, open));
    const more = entries.slice(SHOWN);
    this.body.replaceChildren(
      entries.length ? element("ul", {}, entries.slice(0, SHOWN)) : element("p", {}, "Nothing to be careful about."),
      ...(more.length
        ? [
            element(
              "details",
              { id: "trust-more", open: open.has("trust-more") },
              element("summary", {}, `${more.length} more`),
              element("ul", {}, more),
            ),
          ]
        : []),
      ...sentences(fragility, left_out).map((text) => element("p", {}, text)),
    );
  }
}

/**
 * @param {Caution} caution
 * @param {Set<string>} open ids of what the reader has unfolded
 */
function entry({ code, message, link }, open) {
  const id = `trust-${code}`;
  const explanation = EXPLANATIONS[code];
  return element(
    "li",
    {},
    element(
      "details",
      { id, open: open.has(id) },
      element("summary", {}, message),
      element("p", {}, explanation ? `${explanation} ` : null, "See ", docsLink(link), "."),
    ),
  );
}

/**
 * Return a link if the page of the documentation has an address; otherwise its name in the documentation.
 * @param {string} link
 */
const docsLink = (link) =>
  /^https?:\/\//.test(link)
    ? element("a", { href: link, rel: "noreferrer", target: "_blank" }, "the documentation")
    : element("code", {}, link);

/**
 * @param {number | null} fragility
 * @param {Record<string, number>} leftOut
 */
function sentences(fragility, leftOut) {
  const texts = [];
  if (fragility !== null)
    texts.push(
      `The first place depends on ${counted(fragility, "judgment")}: without ${fragility === 1 ? "it" : "them"}, another system would lead.`,
    );
  const reasons = Object.entries(leftOut).filter(([, number]) => number > 0);
  if (reasons.length)
    texts.push(
      `Left out: ${reasons.map(([reason, number]) => `${count(number)} ${REASONS[reason] ?? reason.replaceAll("_", " ")}`).join(", ")}.`,
    );
  return texts;
}
