/** Where the page begins: the fragment names a campaign, or all of them, and a view shows it. */

import { showConnection } from "./live/connection.js";
import { element } from "./shared/elements.js";
import { askForToken } from "./session.js";
import { offerThemes } from "./theme.js";
import { CampaignView } from "./views/campaign.js";
import { CampaignsView } from "./views/campaigns.js";

const main = document.getElementById("main");
const trail = document.getElementById("trail");
let shown = null;
let place = null;

/** Read `#/`, `#/campaign` or `#/campaign/panel`. */
function read(fragment) {
  const [, campaign = "", panel = ""] = fragment.replace(/^#/, "").split("/").map(unescaped);
  return { campaign, panel };
}

function unescaped(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function go() {
  const wanted = read(location.hash);
  if (place?.campaign !== wanted.campaign) show(wanted);
  if (wanted.panel) shown.turnTo?.(wanted.panel);
  place = wanted;
}

function show({ campaign }) {
  shown?.close();
  main.replaceChildren();
  showConnection("connecting");
  document.title = campaign ? `${campaign} · Judgestream` : "Judgestream";
  trail.replaceChildren(
    ...(campaign ? [element("span", { "aria-hidden": "true" }, "/"), element("b", {}, campaign)] : []),
  );
  shown = campaign ? new CampaignView(main, campaign) : new CampaignsView(main);
}

document.getElementById("skip").addEventListener("click", (event) => {
  event.preventDefault(); // the fragment is the campaign's
  main.focus();
  main.scrollIntoView();
});
document.addEventListener("locked", () => {
  shown?.close();
  askForToken(main, () => show(read(location.hash)));
});
addEventListener("hashchange", go);
offerThemes();
go();
