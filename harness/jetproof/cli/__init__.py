"""The command line. Exit codes are part of the interface:

0 conforms, 1 does not conform, 2 the request or a case file is wrong (or results could not be
written), 3 no verdict could be given for some cell, 130 interrupted.

Each command is a module with `add_parser(commands)` and `run(args)`. Their heavy imports are inside
`run`, so that `--help` answers at once.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Literal

from jetproof.errors import JetproofError, Phase

INTERRUPTED = 130
_BROKEN_PIPE = 141
_CODES: dict[Phase, Literal[2, 3]] = {
    "load": 2,
    "plan": 2,
    "write": 2,
    "start": 3,
    "play": 3,
    "adapter": 3,
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and say how it ended."""
    from jetproof.cli.parser import build_parser

    arguments = list(sys.argv[1:] if argv is None else argv)
    args = build_parser().parse_args(arguments)
    args.command_line = ("jetproof", *arguments)
    try:
        code: int = args.run(args)
        sys.stdout.flush()
        return code
    except JetproofError as error:
        return _report_error(error, as_json=args.json)
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        return INTERRUPTED
    except BrokenPipeError:
        _forget_stdout()
        return _BROKEN_PIPE
    except Exception as error:
        return _bug(error, verbose=bool(getattr(args, "verbose", False)))


def _report_error(error: JetproofError, *, as_json: bool) -> int:
    from jetproof.cli.common import error_document, write_json
    from jetproof.model.wording import plural
    from jetproof.sinks.console.lines import ALARM, line
    from jetproof.sinks.console.screen import Screen

    code = _CODES[error.phase]
    if as_json:
        write_json(error_document(error, code))
    mistakes = len(getattr(error, "mistakes", ()))
    first, *more = error.message.split("\n")
    if mistakes:
        first, more = f"{plural(mistakes, 'mistake')}:", [first, *more]
    lines = [line(("jetproof:", ALARM), f" {first}"), *map(line, more)]
    if error.hint:
        head, *rest = error.hint.split("\n")
        lines += [line(f"  {head}"), *map(line, rest)]
    Screen(sys.stderr).print(lines)
    return code


def _bug(error: Exception, *, verbose: bool) -> int:
    from jetproof.sinks.text import visible

    if verbose or os.environ.get("JETPROOF_DEBUG"):
        import traceback

        traceback.print_exception(error)
    what = visible(f"{type(error).__name__}: {error}", 1000)
    sys.stderr.write(
        f"jetproof: {what}\n  this is a bug in jetproof; -v or JETPROOF_DEBUG=1 shows where\n"
    )
    return 3


def _forget_stdout() -> None:
    """Whoever read our output has gone: the interpreter must not complain about it at its end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
