/** The key figures of a campaign, and what the next line between clusters needs. */

/** @import { BoardOutlook, Overview } from "../types.ts" */

import { element, nameElement, setText } from "../shared/elements.js";
import { brief, count, percent, sentence } from "../shared/format.js";
import { Meter } from "./meter.js";
import { stateOf, troubleOf } from "./trouble.js";

const LABELS = { open: "next line", settled: "settled", budget_spent: "budget spent", closed: "closed" };

export class Figures {
  /** @param {string} campaign */
  constructor(campaign) {
    this.state = element("span", { class: "state" });
    this.about = element("p", { class: "about" });
    this.list = element("dl", { class: "figures" });
    this.outlook = element("p", { class: "outlook" });
    this.trouble = element("p", { class: "trouble", role: "status" });
    this.root = element(
      "div",
      {},
      element("div", { class: "heading" }, element("h1", {}, nameElement(campaign), this.state), this.about),
      this.trouble,
      this.list,
      this.outlook,
    );
    /** @type {Map<string, { value: HTMLElement, detail: HTMLElement, meter: Meter }>} */
    this.places = new Map();
    this.outlookKey = "";
    this.aboutKey = "";
  }

  /** @param {Overview} overview */
  show(overview) {
    const { budget, judgments, clusters, systems, excluded, withdrawn } = overview;
    const state = stateOf(overview);
    this.state.className = `state ${state}`;
    setText(this.state, state);
    setText(this.trouble, troubleOf(overview));
    this.showAbout(overview);
    this.figure(
      "Judgments",
      count(judgments),
      budget ? `of ${count(budget)}` : "no budget",
      budget ? judgments / budget : null,
    );
    const separation = systems > 1 ? overview.separation : null; // one system alone has no neighbour
    this.figure("Clusters", count(clusters), separation === null ? "" : `${percent(separation)} separated`, separation);
    this.figure("Systems", count(systems), withdrawn.length ? `${withdrawn.length} withdrawn` : "");
    this.figure("Rate", `${brief(overview.rate)}/s`, "last minute");
    this.figure("Judges", count(overview.judges), excluded ? `${count(excluded)} excluded` : "");
    this.figure("Requests", count(overview.outstanding), "outstanding");
    this.figure("Rejected", count(overview.rejected), `${count(overview.duplicates)} duplicates`);
  }

  /** Whether a banner says what is wrong with the campaign. Then it also says what the leaderboard lacks. */
  get inTrouble() {
    return this.trouble.textContent !== "";
  }

  /**
   * @param {string} name
   * @param {string} value
   * @param {string} detail
   * @param {number | null} share
   */
  figure(name, value, detail, share = null) {
    const place = this.places.get(name) ?? this.addFigure(name);
    setText(place.value, value);
    setText(place.detail, detail);
    place.meter.root.hidden = share === null;
    if (share !== null) place.meter.show(share);
  }

  /** @param {string} name */
  addFigure(name) {
    const place = {
      value: element("span", { class: "value" }),
      detail: element("span", { class: "detail" }),
      meter: new Meter(),
    };
    this.places.set(name, place);
    this.list.append(
      element("div", {}, element("dt", {}, name), element("dd", {}, place.value, place.detail, place.meter.root)),
    );
    return place;
  }

  /** @param {Overview} overview */
  showAbout({ model, policy, baseline }) {
    const key = `${model}\n${policy}\n${baseline ?? ""}`;
    if (key === this.aboutKey) return;
    this.aboutKey = key;
    this.about.replaceChildren(
      `model: ${model}, `,
      ...(baseline ? ["baseline: ", nameElement(baseline), ", "] : []),
      `match policy: ${policy}`,
    );
  }

  /**
   * Show whether more judgments, or more judges, would draw one more line between clusters.
   * @param {BoardOutlook | null} outlook
   */
  showOutlook(outlook) {
    const key = JSON.stringify(outlook);
    if (key === this.outlookKey) return;
    this.outlookKey = key;
    this.outlook.hidden = outlook === null;
    if (outlook) this.outlook.replaceChildren(
      element("span", { class: `state ${outlook.state}` }, LABELS[outlook.state]),
      " ",
      ...withNames(sentence(outlook.message), [outlook.above, outlook.below]),
    );
  }
}

/**
 * Return a text in which names are elements, so that the writing direction of a name does not affect the rest.
 * @param {string} text
 * @param {(string | null)[]} names
 */
function withNames(text, names) {
  /** @type {(string | HTMLElement)[]} */
  const parts = [];
  let rest = text;
  for (const name of names) {
    const at = name ? rest.indexOf(name) : -1;
    if (!name || at < 0) continue;
    parts.push(rest.slice(0, at), element("b", {}, nameElement(name)));
    rest = rest.slice(at + name.length);
  }
  return [...parts, rest];
}
