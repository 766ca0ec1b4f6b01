/** The state of a campaign in one word, and what to do if it is in trouble. */

/** @import { Overview } from "../types.ts" */

import { count, percent } from "../shared/format.js";

const WORDS = { fault: "quarantined", corrupt: "corrupt", outdated: "rated again", retraction: "rated again" };

/** @param {Overview} overview */
export function stateOf(overview) {
  if (overview.quarantine) return WORDS[overview.quarantine.cause];
  return overview.problem ? "unreadable" : overview.state;
}

/** @param {Overview} overview */
export function troubleOf(overview) {
  const { campaign, held, problem, quarantine, rerun_progress: progress } = overview;
  if (quarantine) {
    const records = held === 1 ? "1 record waits" : `${count(held)} records wait`;
    const waiting = `${records} in the log, from offset ${count(quarantine.offset)} on`;
    const done = progress === null ? "" : ` (${percent(progress)} done)`;
    if (quarantine.cause === "retraction") {
      return `This campaign is being rated again without what is left out now${done}. ${waiting}, until that is done.`;
    }
    if (quarantine.cause === "outdated") {
      return (
        `This campaign is being rated again from its log, because an earlier version stored it (${quarantine.error})${done}. ` +
        `${waiting}, until that is done.`
      );
    }
    if (quarantine.cause === "corrupt") {
      return (
        `The stored state of this campaign is corrupt (${quarantine.error}). A worker rates it again from its log${done}. ` +
        `${waiting}, until that is done. If it does not end, run: judgestream rebuild ${campaign}`
      );
    }
    return (
      `This campaign is quarantined after an unexpected error (${quarantine.error}). ` +
      `${waiting}. ` +
      `Update Judgestream, then run: judgestream rebuild ${campaign}`
    );
  }
  return problem ? `The monitor could not read this campaign: ${problem}. The figures are the last known ones.` : "";
}
