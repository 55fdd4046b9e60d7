"""How much is read at the end of a case to judge promises: what `--laws` takes, in every command."""

from __future__ import annotations

from typing import Final

CLOSING_LAWS: Final = "closing"
FULL_LAWS: Final = "full"
NO_LAWS: Final = "off"
LAW_MODES: Final = (CLOSING_LAWS, FULL_LAWS, NO_LAWS)
DEFAULT_LAWS: Final = CLOSING_LAWS
ABOUT_LAWS: Final = (
    "what is read at the end of each case to judge promises: a little (closing, the default), "
    "every acknowledged message (full), or nothing (off)"
)
