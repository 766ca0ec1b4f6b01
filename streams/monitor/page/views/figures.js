/** A campaign in a few figures, and how far the next line is. */

import { element, named, say } from "../shared/elements.js";
import { brief, count, percent } from "../shared/format.js";
import { meter } from "./meter.js";

export class Figures {
  constructor(campaign) {
    this.state = element("span", { class: "state" });
    this.about = element("p", { class: "about" });
    this.list = element("dl", { class: "figures" });
    this.outlook = element("p", { class: "outlook" });
    this.root = element(
      "div",
      {},
      element("div", { class: "heading" }, element("h1", {}, named(campaign), this.state), this.about),
      this.list,
      this.outlook,
    );
    this.places = new Map();
  }

  show(overview) {
    const { budget, judgments, clusters, systems, excluded, withdrawn } = overview;
    this.state.className = `state ${overview.state}`;
    say(this.state, overview.state);
    say(this.about, `rated by ${overview.model}, matches by ${overview.policy}`);
    this.figure(
      "Judgments",
      count(judgments),
      budget ? `of ${count(budget)}` : "no budget",
      budget ? judgments / budget : null,
    );
    this.figure("Clusters", count(clusters), `${percent(overview.separation)} separated`, overview.separation);
    this.figure("Systems", count(systems), withdrawn.length ? `${withdrawn.length} withdrawn` : "");
    this.figure("Rate", `${brief(overview.rate)}/s`, "last minute");
    this.figure("Judges", count(overview.judges), excluded ? `${count(excluded)} excluded` : "");
    this.figure("Requests", count(overview.outstanding), "outstanding");
    this.figure("Rejected", count(overview.rejected), `${count(overview.duplicates)} repeated`);
    this.showOutlook(overview);
  }

  figure(name, value, detail, share = null) {
    if (!this.places.has(name)) {
      const place = {
        value: element("span", { class: "value" }),
        detail: element("span", { class: "detail" }),
        meter: meter(share),
      };
      place.meter.hidden = share === null;
      this.places.set(name, place);
      this.list.append(
        element("div", {}, element("dt", {}, name), element("dd", {}, place.value, place.detail, place.meter)),
      );
    }
    const place = this.places.get(name);
    say(place.value, value);
    say(place.detail, detail);
    if (share !== null) place.meter.firstChild.style.width = `${100 * Math.min(1, share)}%`;
  }

  /** Say how many judgments of which two systems might rule the leaderboard off once more. */
  showOutlook({ settled, outlook, next_line, next_judgments }) {
    const told = settled || !next_line ? outlook : `${next_judgments}\n${next_line.join("\n")}`;
    if (told === this.told) return;
    this.told = told;
    if (settled || !next_line) return this.outlook.replaceChildren(outlook[0].toUpperCase() + outlook.slice(1) + ".");
    this.outlook.replaceChildren(
      "About ",
      element("b", {}, count(next_judgments)),
      ` more judgment${next_judgments === 1 ? "" : "s"} of `,
      element("b", {}, named(next_line[0])),
      " against ",
      element("b", {}, named(next_line[1])),
      " until the next line between clusters is certain.",
    );
  }
}
