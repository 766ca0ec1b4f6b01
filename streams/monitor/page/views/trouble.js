/** The state of a campaign in one word, and what to do if a campaign or a partition of the log is in trouble. */

/** @import { Overview, Status } from "../types.ts" */

const WORDS = { fault: "quarantined", corrupt: "corrupt", retraction: "rated again" };

/** @param {Overview} overview */
export function stateOf(overview) {
  if (overview.quarantine) return WORDS[overview.quarantine.cause];
  return overview.problem ? "unreadable" : overview.state;
}

/** @param {Overview} overview */
export function troubleOf(overview) {
  const { campaign, held, problem, quarantine } = overview;
  if (quarantine) {
    const waiting = `${held} records from offset ${quarantine.offset} on wait in the log`;
    if (quarantine.cause === "retraction") {
      return `This campaign is being rated again without what was retracted. ${waiting} until that is done.`;
    }
    if (quarantine.cause === "corrupt") {
      return (
        `The stored state of this campaign is corrupt (${quarantine.error}). A worker rates it again from its log. ` +
        `${waiting} until that is done. If it does not end, run: judgestream rebuild ${campaign}`
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

/** @param {Status} status */
export function stoppedPartitions({ partitions }) {
  const stopped = partitions.filter((partition) => partition.stopped);
  if (!stopped.length) return "";
  const numbers = stopped.map(({ partition }) => partition).join(", ");
  const subject = stopped.length === 1 ? `Partition ${numbers} is` : `Partitions ${numbers} are`;
  return `${subject} stopped: ${stopped.map((each) => each.stopped).join(". ")}`;
}
