"""Take the screenshots of the live page for the docs, while the demo runs: python docs/pictures/photograph.py."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from playwright.sync_api import sync_playwright

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

HERE = Path(__file__).parent
JUDGESTREAM = Path(sys.executable).with_name("judgestream")
CAMPAIGN = "wmt13.fr-en"
ENOUGH = 7000  # judgments of 10,000: there are several clusters, and the next line is still to come
ENOUGH_SEEN = "enough => Number(document.querySelector('.figures .value')?.textContent.replace(',', '')) >= enough"


@dataclass(frozen=True)
class Picture:
    """One screenshot of the page."""

    name: str
    fragment: str
    width: int
    height: int
    theme: Literal["light", "dark"] = "light"
    scale: int = 1


PICTURES = (
    Picture("page.png", CAMPAIGN, 1440, 900),
    Picture("page-dark.png", CAMPAIGN, 1440, 900, theme="dark"),
    Picture("page-phone.png", CAMPAIGN, 390, 844, scale=2),
    Picture("page-pairs.png", f"{CAMPAIGN}/pairs", 1440, 900),
    Picture("page-campaigns.png", "", 1440, 300),
)


def main() -> None:
    """Start the demo, wait for enough judgments, and take the screenshots."""
    demo = subprocess.Popen(  # noqa: S603
        [JUDGESTREAM, "demo", "--serve", "--port", "0", "--seconds", "60"], stdout=subprocess.PIPE, text=True
    )
    try:
        assert demo.stdout is not None
        url = demo.stdout.readline().split("is at ")[1].split()[0]
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=shutil.which("chromium") or shutil.which("google-chrome"), args=["--no-sandbox"]
            )
            pages = [open_page(browser, url, picture) for picture in PICTURES]
            pages[0].wait_for_function(ENOUGH_SEEN, arg=ENOUGH, timeout=120_000)
            for picture, page in zip(PICTURES, pages, strict=True):
                page.screenshot(path=HERE / picture.name)
            browser.close()
    finally:
        demo.terminate()
        demo.wait()


def open_page(browser: Browser, url: str, picture: Picture) -> Page:
    """Open the page with the size and colours of a picture."""
    page = browser.new_page(
        viewport={"width": picture.width, "height": picture.height},
        color_scheme=picture.theme,
        device_scale_factor=picture.scale,
        reduced_motion="reduce",
    )
    page.goto(f"{url}/#/{picture.fragment}")
    return page


if __name__ == "__main__":
    main()
