/** The judges, under pseudonyms: how they compare with the rest, and whom to look at. */

import { Chart } from "../charts/chart.js";
import { judgesChart } from "../charts/judges.js";
import { element, named } from "../shared/elements.js";
import { count, counted, decimal, percent } from "../shared/format.js";
import { Table } from "../shared/table.js";
import { Panel } from "./panel.js";

const COLUMNS = [
  { title: "Judge", value: ({ judge }) => judge, cell: ({ judge }) => named(judge) },
  { title: "Judgments", numeric: true, value: ({ judgments }) => judgments, text: ({ judgments }) => count(judgments) },
  {
    title: "Agreement",
    numeric: true,
    about: "With the majority before them",
    value: ({ agreement }) => agreement,
    text: ({ agreement }) => percent(agreement),
  },
  {
    title: "Compared",
    numeric: true,
    minor: true,
    about: "Preferences that could be compared with a majority",
    value: ({ compared }) => compared,
    text: ({ compared }) => count(compared),
  },
  {
    title: "Sensitivity",
    optional: true,
    numeric: true,
    about: "How finely the judge tells systems apart, where the model knows",
    value: ({ sensitivity }) => sensitivity,
    text: ({ sensitivity }) => decimal(sensitivity),
  },
  {
    title: "Reliability",
    optional: true,
    numeric: true,
    about: "The share of verdicts that are no coin's, where the model knows",
    value: ({ reliability }) => reliability,
    text: ({ reliability }) => decimal(reliability),
  },
  {
    title: "Seconds",
    numeric: true,
    about: "A judgment takes, on average",
    value: ({ seconds }) => seconds,
    text: ({ seconds }) => decimal(seconds, 1),
  },
  {
    title: "Too fast",
    numeric: true,
    minor: true,
    about: "Judgments above the judge's limit a minute",
    value: ({ too_fast }) => too_fast,
    text: ({ too_fast }) => count(too_fast),
  },
  { title: "Look at", value: flags, cell: (judge) => marks(judge) },
];

function flags({ excluded, suspicious }) {
  return [...(excluded ? ["excluded"] : []), ...suspicious].join(", ");
}

function marks(judge) {
  return element("span", { class: "flags" }, flags(judge));
}

export class JudgesPanel extends Panel {
  constructor(campaign) {
    super(campaign, {
      id: "judges",
      room: 700,
      title: "Judges",
      about: "Triangles are judges to look at; the dashed line is the agreement of them all.",
    });
    this.chart = new Chart();
    this.flagged = element("input", { type: "checkbox", change: () => this.show(this.data) });
    this.tools.append(element("label", { class: "check" }, this.flagged, "only those to look at"));
    this.addChart(this.chart);
    this.table = new Table({ caption: "Judges, by pseudonym", columns: COLUMNS, sort: "Judgments", cards: true });
    this.addTable(this.table);
  }

  async load() {
    return (await this.campaign.ask("/judges")).judges;
  }

  async show(judges) {
    const flagged = judges.filter((judge) => flags(judge));
    this.table.show(this.flagged.checked ? flagged : judges);
    if (!judges.some(({ agreement }) => agreement !== null))
      return this.chart.empty("No judge can be compared with a majority yet.");
    await this.chart.draw(
      `${counted(judges.length, "judge")} by judgments and agreement, ${flagged.length} to look at; the numbers are in the table below`,
      judgesChart(judges),
    );
  }
}
