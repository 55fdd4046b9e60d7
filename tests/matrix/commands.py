"""The commands under test, as a program: `python commands.py matrix ...`."""

from __future__ import annotations

import argparse
import sys

from jetproof.cli import bisect, main, matrix, merge, parser, run


def build_parser() -> argparse.ArgumentParser:
    """A command line of these commands alone."""
    built = argparse.ArgumentParser(prog="jetproof")
    commands = built.add_subparsers(required=True)
    for command in (matrix, merge, bisect, run):
        command.add_parser(commands)
    return built


if __name__ == "__main__":
    parser.build_parser = build_parser
    sys.exit(main())
