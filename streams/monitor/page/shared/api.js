/** Requests to the monitor. */

const CAMPAIGN = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;

/** A request that the monitor answered with an error. */
export class RequestError extends Error {
  /**
   * @param {number} status
   * @param {string} message
   */
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/**
 * Return the path of a campaign's resource. A text that is not a valid name never becomes part of a URL.
 * @param {string} campaign
 */
export function campaignPath(campaign, rest = "") {
  if (!CAMPAIGN.test(campaign)) throw new RequestError(404, `there is no campaign ${JSON.stringify(campaign)}`);
  return `campaigns/${campaign}${rest}`;
}

/**
 * Return the JSON at a path. If a token is needed, the document gets the event `locked`.
 * @param {string} path
 * @returns {Promise<any>}
 */
export async function fetchJson(path) {
  const response = await fetch(path, { headers: { Accept: "application/json" }, credentials: "same-origin" });
  if (response.ok) return response.json();
  const payload = await response.json().catch(() => ({}));
  if (response.status === 401) document.dispatchEvent(new CustomEvent("locked"));
  throw new RequestError(
    response.status,
    payload.error?.message ?? `the monitor answered with status ${response.status}`,
  );
}

/** @param {unknown} error */
export const messageOf = (error) => (error instanceof Error ? error.message : String(error));
