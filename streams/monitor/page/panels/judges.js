/** The judges, by pseudonym: agreement with the others, and who is suspicious. */

/** @import { Column, Judge, JudgesPayload } from "../types.ts" */
/** @import { CampaignView } from "../views/campaign.js" */

import { Chart } from "../charts/chart.js";
import { judgesChart } from "../charts/judges.js";
import { element, isBeingSelected, nameElement } from "../shared/elements.js";
import { NOTHING, count, counted, decimal, percent } from "../shared/format.js";
import { Table } from "../shared/table.js";
import { Panel } from "./panel.js";

/** @type {Column<Judge>[]} */
const COLUMNS = [
  { title: "Judge", value: ({ judge }) => judge, cell: ({ judge }) => nameElement(judge) },
  { title: "Flags", value: flags, cell: (judge) => element("span", { class: "flags" }, flags(judge)) },
  { title: "Judgments", numeric: true, value: ({ judgments }) => judgments, text: ({ judgments }) => count(judgments) },
  {
    title: "Agreement",
    optional: true,
    numeric: true,
    about: "Share of preferences that agree with the majority before them",
    value: ({ agreement }) => agreement,
    text: ({ agreement }) => percent(agreement),
  },
  {
    title: "Compared",
    optional: true,
    numeric: true,
    minor: true,
    about: "Preferences that could be compared with a majority",
    value: ({ agreement, compared }) => (agreement === null ? null : compared),
    text: ({ compared }) => count(compared),
  },
  {
    title: "Sensitivity",
    optional: true,
    numeric: true,
    about: "How well the judge tells systems apart, if the model estimates it",
    value: ({ sensitivity }) => sensitivity,
    text: ({ sensitivity }) => decimal(sensitivity),
  },
  {
    title: "Reliability",
    optional: true,
    numeric: true,
    about: "Share of verdicts that are not random, if the model estimates it",
    value: ({ reliability }) => reliability,
    text: ({ reliability }) => decimal(reliability),
  },
  {
    title: "Gold",
    optional: true,
    numeric: true,
    about: "Share of gold items that the judge passed, with its range at 95 %",
    value: goldRate,
    text: goldText,
  },
  {
    title: "Seconds",
    numeric: true,
    about: "Average time per judgment",
    value: ({ seconds }) => seconds,
    text: ({ seconds }) => decimal(seconds, 1),
  },
  {
    title: "Too fast",
    numeric: true,
    minor: true,
    about: "Judgments above the limit per minute",
    value: ({ too_fast }) => too_fast,
    text: ({ too_fast }) => count(too_fast),
  },
];

const MOST_NAMED = 20; // judges in one command

const ABOUT = "Triangles are flagged judges. The dashed line is the agreement of all judges together.";

/**
 * Return the share of gold items that a judge has passed, or null if they have judged none.
 * @param {Judge} judge
 */
function goldRate({ gold_passed: passed = 0, gold_failed: failed = 0 }) {
  return passed + failed ? passed / (passed + failed) : null;
}

/** @param {Judge} judge */
function goldText(judge) {
  const rate = goldRate(judge);
  const { gold_low: low, gold_high: high } = judge;
  return rate === null ? NOTHING : `${percent(rate)} (${percent(low).replace(" %", "")}–${percent(high)})`;
}

/** @param {Judge} judge */
function flags({ excluded, suspicious }) {
  return [...(excluded ? ["excluded"] : []), ...suspicious].join(", ");
}

/**
 * Return a command on judges that an operator can copy.
 * @param {string} action
 * @param {string} campaign
 * @param {string[]} judges
 */
function command(action, campaign, judges) {
  const named = judges.slice(0, MOST_NAMED).map((judge) => ` --judge ${quoted(judge)}`);
  return element("code", { class: "command" }, `judgestream campaign ${action} ${campaign}${named.join("")}`);
}

/**
 * Return a name as one word of a shell.
 * @param {string} name
 */
const quoted = (name) => (/^[\w.~@%+=:,/-]+$/.test(name) && !name.startsWith("~") ? name : `'${name.replaceAll("'", "'\\''")}'`);

export class JudgesPanel extends Panel {
  /** @param {CampaignView} campaign */
  constructor(campaign) {
    super(campaign, {
      id: "judges",
      room: 700,
      title: "Judges",
      about: ABOUT,
    });
    this.chart = new Chart();
    this.flaggedOnly = element("input", { type: "checkbox", change: () => this.redraw() });
    this.tools.append(element("label", { class: "check" }, this.flaggedOnly, "flagged only"));
    this.addChart(this.chart);
    this.table = new Table({ caption: "Judges, by pseudonym", columns: COLUMNS, sort: "Judgments", cards: true });
    this.addTable(this.table);
    this.commands = element("div", { class: "commands" });
    this.commandsKey = "";
    this.body.append(this.commands);
  }

  /** @returns {Promise<JudgesPayload>} */
  load() {
    return this.campaign.fetch("/judges?order=suspicious&limit=1000");
  }

  /** @param {JudgesPayload} payload */
  async show({ judges, total, suspended, power }) {
    this.note.textContent = [
      ABOUT,
      judges.length < total && `Shown are ${count(judges.length)} of ${count(total)} judges: flagged ones first, then by judgments.`,
      power?.message,
    ]
      .filter(Boolean)
      .join(" ");
    const flagged = judges.filter((judge) => flags(judge));
    this.showCommands(
      flagged.filter(({ excluded }) => !excluded).map(({ judge }) => judge),
      suspended,
    );
    this.table.show(this.flaggedOnly.checked ? flagged : judges);
    if (!judges.some(({ agreement }) => agreement !== null))
      return this.chart.empty(
        this.campaign.isScored ? "Scores are not compared with a majority." : "No judge can be compared with a majority yet.",
      );
    await this.chart.draw(
      `${counted(judges.length, "judge")} by judgments and agreement, ${flagged.length} flagged; the table below has the numbers`,
      judgesChart(judges),
    );
  }

  /**
   * Show what an operator can do about flagged and suspended judges. The page itself changes nothing.
   * @param {string[]} flagged
   * @param {string[]} suspended
   */
  showCommands(flagged, suspended) {
    const key = JSON.stringify([flagged, suspended]);
    if (key === this.commandsKey || isBeingSelected(this.commands)) return;
    this.commandsKey = key;
    const { name } = this.campaign;
    this.commands.replaceChildren(
      ...(suspended.length
        ? [
            element(
              "p",
              {},
              `Suspended, so that their judgments do not count: ${counted(suspended.length, "judge")}. To count them again:`,
            ),
            command("reinstate", name, suspended),
          ]
        : []),
      ...(flagged.length
        ? [
            element(
              "p",
              {},
              "A flag is a reason to look at a judge, not a proof. To leave out the judgments of flagged judges, past and future:",
            ),
            command("suspend", name, flagged),
          ]
        : []),
    );
  }
}
