"""The report page: plain rows of the tables in, one self-contained HTML file out.

    document(tables)            what the page holds, as plain data
    render(document)            the page
    summary_markdown(document)  the same in short, for the page of a CI job
    badge(document)             the same in a word, for a badge

Nothing here needs Spark, Java or a network: rows are lists of dicts with the columns that
`jetproof_reports.schemas` names, wherever they come from.
"""

from __future__ import annotations

from jetproof_reports.page.document import document
from jetproof_reports.page.render import render
from jetproof_reports.page.summary import badge, summary_markdown

__all__ = ["badge", "document", "render", "summary_markdown"]
