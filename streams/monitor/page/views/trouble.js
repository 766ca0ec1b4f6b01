/** The state of a campaign in one word, and what to do if a campaign or a partition of the log is in trouble. */

/** @import { Overview, Status } from "../types.ts" */

/** @param {Overview} overview */
export function stateOf(overview) {
  if (overview.quarantine) return "quarantined";
  return overview.problem ? "unreadable" : overview.state;
}

/** @param {Overview} overview */
export function troubleOf(overview) {
  const { campaign, held, problem, quarantine } = overview;
  if (quarantine) {
    return (
      `This campaign is quarantined after an unexpected error (${quarantine.error}). ` +
      `${held} records from offset ${quarantine.offset} on wait in the log. ` +
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
