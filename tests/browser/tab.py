"""A tab of the browser on the monitor's page, with what tests look for in it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from tests.waiting import wait_for

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser, ConsoleMessage, Dialog, Locator, Page

PHONE, DESK = 390, 1440
HEIGHTS = {PHONE: 844, DESK: 900}
PATIENCE = 120_000  # milliseconds
Theme = Literal["light", "dark"]


@dataclass
class Tab:
    """One page, and the troubles that it ran into."""

    page: Page
    troubles: list[str] = field(default_factory=list)
    offline: bool = False  # then it may complain of what it could not load

    @classmethod
    def open(cls, browser: Browser, *, width: int = DESK, theme: Theme = "light") -> Tab:
        size = {"width": width, "height": HEIGHTS[width]}
        context = browser.new_context(viewport=size, color_scheme=theme, reduced_motion="reduce")  # type: ignore[arg-type]
        context.set_default_timeout(PATIENCE)
        tab = cls(context.new_page())
        tab.page.on("console", tab._heard)
        tab.page.on("pageerror", lambda error: tab.troubles.append(f"error: {error}"))
        tab.page.on("dialog", tab._asked)
        return tab

    def _heard(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning") and not (self.offline and "Failed to load resource" in message.text):
            self.troubles.append(f"{message.type}: {message.text}")

    def _asked(self, dialog: Dialog) -> None:
        self.troubles.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def close(self) -> None:
        self.page.context.close()

    def find(self, selector: str) -> Locator:
        return self.page.locator(selector)

    def wait_until(self, script: str, argument: object = None) -> None:
        """Wait until an expression of the page holds."""
        self.page.wait_for_function(script, arg=argument)

    def show(self, url: str, campaign: str, *, judgments: int) -> None:
        """Wait until the monitor knows a campaign, show it, and wait until so many judgments are on its leaderboard."""
        address = f"{url}/campaigns/{campaign}"
        wait_for(lambda: self.page.request.get(address).status != 404, f"the monitor knows {campaign}")
        self.page.goto(f"{url}/#/{campaign}")
        self.wait_for_judgments(judgments)

    def wait_for_judgments(self, judgments: int) -> None:
        self.wait_until(
            """judgments => document.querySelector(".board tbody tr") &&
            [...document.querySelectorAll(".figures div")].some(figure =>
              figure.querySelector("dt").textContent === "Judgments" &&
              figure.querySelector(".value").textContent.replaceAll(",", "") === judgments)""",
            str(judgments),
        )

    def order(self) -> list[str]:
        """Return the systems in the order of the leaderboard."""
        return self.find(".board tbody tr:visible th bdi").all_text_contents()

    def walk(self) -> None:
        """Scroll through the page, so that every panel is seen and loaded."""
        for panel in self.find(".panels .panel").all():
            panel.scroll_into_view_if_needed()
        self.wait_until("""() => [...document.querySelectorAll(".panel-body")].every(body => !body.style.minHeight)""")
        self.page.evaluate("scrollTo(0, 0)")

    def download(self, button: Locator, folder: Path) -> str:
        """Click a button and read the file that it saves."""
        with self.page.expect_download() as started:
            button.click()
        saved = folder / started.value.suggested_filename
        started.value.save_as(saved)
        return saved.read_text(encoding="utf-8-sig")

    def evaluate(self, script: str, argument: object = None) -> Any:
        return self.page.evaluate(script, argument)
