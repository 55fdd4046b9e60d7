"""A real Chromium for the page; where there is none, its tests are skipped and say so."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from jetproof_reports import page

from . import samples

FLAGS = (
    "--no-sandbox", "--headless", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip
NAMES = ("chromium", "chromium-browser", "google-chrome")


def chromium() -> str | None:
    """The browser that JETPROOF_CHROMIUM names, else one on the path."""
    given = os.environ.get("JETPROOF_CHROMIUM")
    return given or next((path for path in map(shutil.which, NAMES) if path), None)


# One browser a module: Playwright's loop must not be running while other modules run theirs.
@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    sync_api = pytest.importorskip(
        "playwright.sync_api", reason="the report page is not covered: playwright is not installed"
    )
    path = chromium()
    if path is None:
        pytest.skip("the report page is not covered: no Chromium on this machine")
    with sync_api.sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        yield launched
        launched.close()


class Shown:
    """A page in the browser, with everything it complained about and asked for."""

    def __init__(self, browser: Any, **options: Any) -> None:
        size = options.pop("size", (1280, 800))
        viewport = {"width": size[0], "height": size[1]}
        self.context = browser.new_context(viewport=viewport, **options)
        self.context.set_default_timeout(20_000)
        self.page = self.context.new_page()
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("dialog", lambda dialog: self.complaints.append(dialog.message))
        self.page.on("request", lambda request: self.requests.append(request.url))

    def open(self, file: Path, address: str = "") -> Any:
        self.page.goto(f"{file.as_uri()}#{address}")
        self.page.locator("#main :is(.grid, .view, .wait)").first.wait_for()
        return self.page


Open = Callable[..., Any]


@pytest.fixture
def shown(browser: Any) -> Iterator[Callable[..., Shown]]:
    """Makes pages; what a page complains about fails the test that made it."""
    made: list[Shown] = []

    def make(**options: Any) -> Shown:
        made.append(Shown(browser, **options))
        return made[-1]

    yield make
    for one in made:
        one.context.close()
        assert one.complaints == []
        assert [url for url in one.requests if not url.startswith("file:")] == []


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Reports by name, each rendered once a module."""
    folder = tmp_path_factory.mktemp("reports")
    tables = {
        "few": lambda: samples.tables(57, 8),
        "many": lambda: samples.tables(600, 32),
        "hostile": samples.hostile,
        "bare": lambda: {"matrix": samples.tables(3, 8)["matrix"]},
        "empty": lambda: {"matrix": []},
    }

    def file(name: str) -> Path:
        path = folder / f"{name}.html"
        if not path.exists():
            path.write_text(page.render(page.document(tables[name]())), encoding="utf-8")
        return path

    return file
