"""Which tests one worker of pytest-xdist plays together, and in which order the groups start.

The tests of a file stay on one worker, so that what they share is started once. xdist's own groups
(`--dist loadgroup`) put the group into the id of a test, which pytest 9.2 no longer allows: they are
without effect there. Here the group follows from the path.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from xdist.scheduler import LoadScopeScheduling

TOGETHER = ("reports/page", "reports", "packaging")
"""Folders whose files share something that takes long to start: a browser, Spark, built wheels."""

LONGEST = (
    "reports",
    "packaging",
    "reports/page",
    "docs/test_examples.py",
    "targets/test_container.py",
    "matrix/test_bisect_commits.py",
    "matrix/test_matrix.py",
    "cli/test_server_code.py",
    "reference_client/test_scenarios.py",
    "gate/test_controls.py",
    "gate/test_adapters.py",
    "clients/test_smoke.py",
)
"""The groups that take longest, first. One that starts last leaves the other workers idle."""


def group_of(test: str) -> str:
    """The group of a test by its id."""
    file = test.partition("::")[0].removeprefix("tests/")
    return next((folder for folder in TOGETHER if file.startswith(f"{folder}/")), file)


def longest_first(groups: Iterable[str]) -> list[str]:
    """The order in which groups are given to workers; those that are not listed keep theirs."""
    rank = {group: number for number, group in enumerate(LONGEST)}
    return sorted(groups, key=lambda group: rank.get(group, len(rank)))


class Groups(LoadScopeScheduling):  # type: ignore[misc]
    """Hands groups to the workers, the longest first."""

    def _split_scope(self, nodeid: str) -> str:
        return group_of(nodeid)

    def _assign_work_unit(self, node: Any) -> None:
        self.workqueue.move_to_end(longest_first(self.workqueue)[0], last=False)
        super()._assign_work_unit(node)
