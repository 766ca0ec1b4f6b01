/** Entry point of the page: the fragment of the URL chooses a campaign, or the list of all campaigns. */

import { showConnection } from "./live/connection.js";
import { byId, element } from "./shared/elements.js";
import { askForToken } from "./session.js";
import { setUpThemes } from "./theme.js";
import { CampaignView } from "./views/campaign.js";
import { CampaignsView } from "./views/campaigns.js";
import { hideFindings } from "./views/findings.js";

const main = byId("main");
const trail = byId("trail");
/** @type {CampaignView | CampaignsView | null} */
let view = null;
/** @type {string | null} */
let current = null;

/**
 * Read `#/`, `#/campaign` or `#/campaign/panel`.
 * @param {string} fragment
 */
function read(fragment) {
  const [, campaign = "", panel = ""] = fragment.replace(/^#/, "").split("/").map(decode);
  return { campaign, panel };
}

/** @param {string} part */
function decode(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function navigate() {
  const { campaign, panel } = read(location.hash);
  if (current !== campaign) show(campaign);
  if (panel && view instanceof CampaignView) view.scrollToPanel(panel);
  current = campaign;
}

/** @param {string} campaign */
function show(campaign) {
  view?.close();
  main.replaceChildren();
  showConnection("connecting");
  document.title = campaign ? `${campaign} · Judgestream` : "Judgestream";
  trail.replaceChildren(
    ...(campaign ? [element("span", { "aria-hidden": "true" }, "/"), element("b", {}, campaign)] : []),
  );
  view = campaign ? new CampaignView(main, campaign) : new CampaignsView(main);
}

byId("skip").addEventListener("click", (event) => {
  event.preventDefault(); // the fragment names the campaign and must stay
  main.focus();
  main.scrollIntoView();
});
document.addEventListener("locked", () => {
  view?.close();
  hideFindings();
  askForToken(main, () => show(read(location.hash).campaign));
});
addEventListener("hashchange", navigate);
setUpThemes();
navigate();
