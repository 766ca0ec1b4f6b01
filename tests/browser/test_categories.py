"""The reader chooses between the leaderboard of all judgments and those by category."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from streams.wire.events import CampaignSettings, Create, encode
from tests.browser.site import contests
from tests.builders import NOON

if TYPE_CHECKING:
    from tests.browser.site import Site
    from tests.browser.tab import Tab

pytestmark = pytest.mark.integration
CHOICE = "[aria-label='Judgments that are ranked']"
HOSTILE = "<img src=x onerror=alert(1)>"


def test_the_reader_chooses_a_category_and_it_stays_up_to_date(site: Site, tab: Tab) -> None:
    campaign = site.campaign()
    create = Create(id="create", campaign=campaign, at=NOON, settings=CampaignSettings(boards=("language",)))
    german = [replace(each, tags={"language": "de"}) for each in contests(campaign, ("a", "b", "c"), 90)]
    french = [replace(each, tags={"language": HOSTILE}) for each in contests(campaign, ("c", "b", "a"), 30, start=90)]
    plain = contests(campaign, ("a", "b", "c"), 3, start=120)
    site.publish_records([(campaign.encode(), encode(each)) for each in (create, *german, *french, *plain)])
    tab.show(site.url, campaign, judgments=123)
    tab.wait_until(f"""() => document.querySelector("{CHOICE}")?.options.length === 3""")
    assert tab.find(f"{CHOICE} option").all_text_contents() == ["All judgments", f"{HOSTILE} (30)", "de (90)"]
    assert "3 without language" in tab.find(".leaderboard .note").all_text_contents()[0]
    assert tab.order() == ["a", "b", "c"]

    tab.find(CHOICE).select_option(label=f"{HOSTILE} (30)")
    tab.wait_until("""() => document.querySelector(".board tbody tr").dataset.system === "c" """)
    assert tab.order() == ["c", "b", "a"]
    more = [replace(each, tags={"language": HOSTILE}) for each in contests(campaign, ("b", "a", "c"), 300, start=123)]
    site.publish(more)
    tab.wait_until("""() => document.querySelector(".board tbody tr").dataset.system === "b" """)
    tab.wait_until(f"""() => document.querySelector("{CHOICE}").selectedOptions[0].textContent.endsWith("(330)")""")
    tab.find(CHOICE).select_option(label="All judgments")
    tab.wait_for_judgments(423)
    rows = site.get(f"/campaigns/{campaign}/leaderboard")["rows"]
    tab.wait_until("""first => document.querySelector(".board tbody tr").dataset.system === first""", rows[0]["system"])
    assert tab.troubles == []


def test_a_campaign_without_categories_has_no_choice(site: Site, tab: Tab) -> None:
    tab.show(site.url, site.crowd.name, judgments=site.crowd.judgments)
    assert tab.find(CHOICE).is_hidden()
