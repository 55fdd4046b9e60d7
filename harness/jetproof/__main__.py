"""`python -m jetproof` is `jetproof`."""

import sys

from jetproof.cli import main

sys.exit(main())
