/** The key figures of a campaign, and the judgments that the next line between clusters needs. */

/** @import { Overview } from "../types.ts" */

import { element, nameElement, setText } from "../shared/elements.js";
import { brief, capitalized, count, percent } from "../shared/format.js";
import { Meter } from "./meter.js";
import { stateOf, troubleOf } from "./trouble.js";

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
    this.showOutlook(overview);
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
   * Show how many more judgments of which two systems may make the next line between clusters certain.
   * With a baseline, they are judgments of each of the two against it. Scores are of one system at a time.
   * @param {Overview} overview
   */
  showOutlook({ settled, outlook, next_line, next_judgments, next_against, kind }) {
    const key = settled || !next_line ? outlook : `${next_judgments}\n${next_line.join("\n")}\n${next_against ?? ""}`;
    if (key === this.outlookKey) return;
    this.outlookKey = key;
    if (settled || !next_line) return this.outlook.replaceChildren(`${capitalized(outlook)}.`);
    this.outlook.replaceChildren(
      "About ",
      element("b", {}, count(next_judgments)),
      ` more ${kind === "scores" ? "score" : "judgment"}${next_judgments === 1 ? "" : "s"} of `,
      element("b", {}, nameElement(next_line[0])),
      next_against || kind === "scores" ? " and " : " against ",
      element("b", {}, nameElement(next_line[1])),
      ...(next_against ? [" against ", element("b", {}, nameElement(next_against))] : []),
      " until the next line between clusters is certain.",
    );
  }
}
