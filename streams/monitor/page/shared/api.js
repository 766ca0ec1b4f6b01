/** The monitor's answers, as values or as errors that say what the monitor said. */

const CAMPAIGN = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;

export class Refused extends Error {
  constructor(status, reason, message) {
    super(message);
    this.status = status;
    this.reason = reason;
  }
}

/** The path of something of a campaign; what can't be a campaign's name never becomes a part of an address. */
export function pathOf(campaign, rest = "") {
  if (!CAMPAIGN.test(campaign)) throw new Refused(404, "unknown_campaign", `no campaign ${JSON.stringify(campaign)}`);
  return `campaigns/${campaign}${rest}`;
}

export async function ask(path, options = {}) {
  const response = await fetch(path, {
    headers: { Accept: "application/json" },
    credentials: "same-origin",
    ...options,
  });
  if (response.ok) return response.status === 204 ? null : response.json();
  const said = await response.json().catch(() => ({}));
  const { reason = "failed", message = `the monitor answered ${response.status}` } = said.error ?? {};
  const refused = new Refused(response.status, reason, message);
  if (response.status === 401) document.dispatchEvent(new CustomEvent("locked"));
  throw refused;
}
