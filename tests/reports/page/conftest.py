"""A real Chromium for the page; where there is none, its tests are skipped and say so."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from jetproof_reports import page

from . import libraries, samples, variants

FLAGS = (
    "--no-sandbox", "--headless", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip
NAMES = ("chromium", "chromium-browser", "google-chrome")


def chromium() -> str | None:
    """The browser that JETPROOF_CHROMIUM names, else one on the path."""
    given = os.environ.get("JETPROOF_CHROMIUM")
    return given or next((path for path in map(shutil.which, NAMES) if path), None)


# One browser for this folder, and not for longer: Playwright's loop must not be running while other
# tests run theirs.
@pytest.fixture(scope="package")
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

    def open(self, file: Path, address: str = "view=matrix") -> Any:
        self.page.goto(f"{file.as_uri()}#{address}")
        self.page.locator("#main :is(.grid, .view, .wait)").first.wait_for()
        return self.page

    def leave(self) -> tuple[list[str], list[str]]:
        """Empty again for the next test; what it complained about and what it fetched."""
        if self.page.url.startswith("file:"):
            self.page.evaluate("localStorage.clear()")
        self.page.emulate_media(media="screen")
        self.page.goto("about:blank")
        told = self.complaints[:], [url for url in self.requests if not url.startswith("file:")]
        self.complaints.clear()
        self.requests.clear()
        return told


def wait_until_painted(page: Any) -> None:
    """`wait_for_function` evaluates a text in the page where it has to wait, which the page's policy
    forbids."""
    for _ in range(400):
        if page.evaluate("performance.getEntriesByName('jetproof-painted').length"):
            return
        page.wait_for_timeout(50)
    raise AssertionError("the page is not painted")


@pytest.fixture(scope="package")
def pool(browser: Any) -> Iterator[dict[str, list[Shown]]]:
    """Pages that no test uses at the moment, by their options: a new one takes longer than most
    tests."""
    free: dict[str, list[Shown]] = {}
    yield free
    for shown in (one for some in free.values() for one in some):
        shown.context.close()


@pytest.fixture
def shown(browser: Any, pool: dict[str, list[Shown]]) -> Iterator[Callable[..., Shown]]:
    """Makes pages; what a page complains about fails the test that made it."""
    used: list[tuple[str, Shown]] = []

    def make(**options: Any) -> Shown:
        key = repr(sorted(options.items()))
        free = pool.setdefault(key, [])
        used.append((key, free.pop() if free else Shown(browser, **options)))
        return used[-1][1]

    yield make
    told = [(one.leave(), pool[key].append(one))[0] for key, one in used]
    assert [complaints for complaints, _ in told if complaints] == []
    assert [fetched for _, fetched in told if fetched] == []


@pytest.fixture(scope="package")
def files(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Reports by name, each rendered once."""
    folder = tmp_path_factory.mktemp("reports")
    tables = {
        "few": lambda: samples.tables(57, 8),
        "many": lambda: samples.tables(600, 32),
        "most": lambda: samples.tables(1500, 32),
        "several": variants.several,
        "hostile": variants.hostile,
        "unstable": variants.unstable,
        "libraries": libraries.libraries,
        "many libraries": libraries.many,
        "hostile libraries": libraries.hostile,
        "bare": lambda: {"matrix": samples.tables(3, 8)["matrix"]},
        "empty": lambda: {"matrix": []},
    }

    def file(name: str) -> Path:
        path = folder / f"{name}.html"
        if not path.exists():
            path.write_text(page.render(page.document(tables[name]())), encoding="utf-8")
        return path

    return file
