/** The choice between the leaderboard of all judgments and those by category. */

/** @import { CategoriesPayload, LeaderboardPayload } from "../types.ts" */
/** @import { CampaignView } from "./campaign.js" */

import { Board } from "../live/board.js";
import { RequestError } from "../shared/api.js";
import { element } from "../shared/elements.js";

const EVERY = 2000; // milliseconds between two requests, at least

export class CategoryChoice {
  /**
   * @param {CampaignView} campaign
   * @param {{ onChoice: () => void, onBoard: () => void }} listeners another category was chosen; its board is new
   */
  constructor(campaign, { onChoice, onBoard }) {
    this.campaign = campaign;
    this.onChoice = onChoice;
    this.onBoard = onBoard;
    /** @type {Board | null} */
    this.board = null; // of the chosen category
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    this.isNone = false; // whether the campaign has no leaderboards by category
    this.key = "";
    /** @type {{ tag: string, value: string }[]} */
    this.categories = [];
    this.root = element("select", { "aria-label": "Judgments that are ranked", hidden: true, change: () => this.choose() });
    this.note = element("p", { class: "note below" });
    this.refresh();
  }

  get chosen() {
    return this.categories[Number(this.root.value) - 1];
  }

  /** The name of the chosen category, for files. */
  get suffix() {
    return this.chosen ? `-${this.chosen.tag}-${this.chosen.value}` : "";
  }

  /** Ask for the newest state soon, because the campaign has new judgments. */
  changed() {
    if (!this.isNone) this.timer ??= setTimeout(() => this.refresh(), EVERY);
  }

  choose() {
    this.board = null;
    this.onChoice();
    this.refresh();
  }

  async refresh() {
    clearTimeout(this.timer);
    this.timer = undefined;
    const { chosen } = this;
    try {
      this.showOptions(await this.campaign.fetch("/categories"));
      if (!chosen) return;
      const query = new URLSearchParams({ tag: chosen.tag, value: chosen.value });
      /** @type {LeaderboardPayload} */
      const found = await this.campaign.fetch(`/leaderboard?${query}`);
      if (chosen.tag !== this.chosen?.tag || chosen.value !== this.chosen.value) return; // another one was chosen meanwhile
      this.board = new Board();
      this.board.replace(found);
      this.onBoard();
    } catch (error) {
      const isGone = error instanceof RequestError && error.status === 404;
      if (!isGone) this.changed(); // the connection is shown elsewhere
    }
  }

  /** @param {CategoriesPayload} payload */
  showOptions({ tags }) {
    this.isNone = tags.length === 0;
    this.root.hidden = tags.every(({ values }) => values.length === 0);
    const key = JSON.stringify(tags);
    if (key === this.key) return;
    this.key = key;
    const { chosen } = this;
    this.categories = tags.flatMap(({ tag, values }) => values.map(({ value }) => ({ tag, value })));
    let number = 0;
    this.root.replaceChildren(
      element("option", { value: "0" }, "All judgments"),
      ...tags.map(({ tag, values }) =>
        element(
          "optgroup",
          { label: tag },
          ...values.map(({ value, judgments }) =>
            element("option", { value: String(++number) }, `${value} (${judgments.toLocaleString("en")})`),
          ),
        ),
      ),
    );
    const place = this.categories.findIndex(({ tag, value }) => tag === chosen?.tag && value === chosen.value);
    this.root.value = String(place + 1);
    if (chosen && place < 0) this.choose(); // its judgments were retracted
    const absent = tags.filter(({ without, other }) => without || other);
    this.note.textContent = absent
      .map(({ tag, without, other }) => `${without.toLocaleString("en")} without ${tag}${other ? `, ${other.toLocaleString("en")} of other values` : ""}`)
      .join("; ");
    if (this.note.textContent) this.note.textContent = `Judgments on no leaderboard by category: ${this.note.textContent}.`;
  }

  close() {
    clearTimeout(this.timer);
    this.isNone = true;
  }
}
