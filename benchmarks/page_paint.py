"""How large the report page is, and how soon it is there.

    python benchmarks/page_paint.py [--sizes 600x32,1500x32] [--rounds N] [FILE ...]

Makes pages of made-up matrices (the samples of the page's own tests), opens each in Chromium some
times, and prints its size, the CPU time to make it and, as medians: when the matrix was painted,
how long a typed letter takes to filter it, and how long until an opened cell shows its evidence.
Pages take turns with one of three cases, which shows what the browser itself takes on this machine
at this time. A FILE is a report that is there already. Asserts nothing; the targets are 3 MB and
1 s for 600 x 32.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT))

from tests.reports.page import samples  # noqa: E402
from tests.reports.page.conftest import FLAGS, chromium  # noqa: E402

from jetproof_reports import page  # noqa: E402

SMALL = "3x8"
PAINTED = "performance.getEntriesByName('jetproof-painted')"
FILTER = """async () => {
    const box = document.querySelector('input[name=q]');
    const began = performance.now();
    box.value = 'a';
    box.dispatchEvent(new Event('input'));
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    return performance.now() - began;
}"""
OPEN = """async () => {
    const cell = document.querySelector('.cell[aria-label]:not(.tally):not(.none)');
    const began = performance.now();
    cell.click();
    while (!document.querySelector('.panel .rest:not([aria-busy])'))
        await new Promise((done) => requestAnimationFrame(done));
    return performance.now() - began;
}"""


def main(sizes: list[str], rounds: int, given: list[Path]) -> str:
    """What went wrong, or nothing."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return "playwright is not installed: pip install playwright"
    path = chromium()
    if path is None:
        return "there is no Chromium on this machine: set JETPROOF_CHROMIUM to one"
    with tempfile.TemporaryDirectory() as scratch:
        files = {size: made(size, Path(scratch)) for size in dict.fromkeys([SMALL, *sizes])}
        files |= {file.name: file for file in given}
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
            times: dict[str, list[tuple[float, ...]]] = {name: [] for name in files}
            for _ in range(rounds):
                for name, file in files.items():
                    times[name].append(opened(browser, file))
            browser.close()
        report(files, times)
    return ""


def made(size: str, folder: Path) -> Path:
    cases, releases = map(int, size.split("x"))
    tables = samples.tables(cases, releases)
    began = time.process_time()
    text = page.render(page.document(tables))
    print(f"{size}: made in {time.process_time() - began:.2f} s of CPU")
    file = folder / f"{size}.html"
    file.write_text(text, encoding="utf-8")
    return file


def opened(browser: Any, file: Path) -> tuple[float, ...]:
    """Milliseconds: until the matrix was painted, to filter it, to show the evidence of a cell."""
    context = browser.new_context(viewport={"width": 1400, "height": 860})
    tab = context.new_page()
    tab.goto(file.as_uri())
    tab.wait_for_function(f"{PAINTED}.length")
    painted = tab.evaluate(f"{PAINTED}[0].startTime")
    filtered = tab.evaluate(FILTER)
    shown = tab.evaluate(OPEN)
    context.close()
    return painted, filtered, shown


def report(files: dict[str, Path], times: dict[str, list[tuple[float, ...]]]) -> None:
    heads = ("bytes", "painted", "filtered", "evidence", "painted / small page's")
    print(f"\n{'page':<18}{heads[0]:>12}{heads[1]:>12}{heads[2]:>12}{heads[3]:>12}  {heads[4]}")
    for name, file in files.items():
        painted, filtered, shown = (
            statistics.median(some) for some in zip(*times[name], strict=True)
        )
        rounds = zip(times[name], times[SMALL], strict=True)
        ratios = [mine[0] / small[0] for mine, small in rounds]
        print(
            f"{name:<18}{file.stat().st_size:>12,}{painted:>9.0f} ms{filtered:>9.0f} ms"
            f"{shown:>9.0f} ms  {statistics.median(ratios):.2f}"
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE")
    parser.add_argument("--sizes", default="600x32,1500x32", help="cases x releases")
    parser.add_argument("--rounds", type=int, default=7, metavar="N")
    asked = parser.parse_args()
    wrong = main(asked.sizes.split(","), asked.rounds, [file.resolve() for file in asked.files])
    sys.exit(wrong or 0)
