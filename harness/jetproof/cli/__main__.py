"""`python -m jetproof.cli`."""

from __future__ import annotations

import sys

from jetproof.cli import main

sys.exit(main())
