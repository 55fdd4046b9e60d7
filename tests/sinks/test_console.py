"""What a person sees: on a terminal, in CI, and when a server wants to write there itself."""

from __future__ import annotations

import io
import re

import pytest

from jetproof.events import CaseFinished, CaseStarted, Event, Notice, SchemaJudged, TargetFailed
from jetproof.model.verdict import Verdict
from jetproof.sinks.console import Console
from jetproof.sinks.paint import Paint, is_terminal, paint_for
from support.schema_results import schema_result

from .samples import (
    every_verdict,
    hostile_cell,
    make_cell,
    make_check,
    make_frame,
    play,
    run_started,
    whole_run,
)

OWN_ESCAPES = re.compile(r"\x1b\[[0-9;]*m|\r\x1b\[2K")


class Terminal(io.StringIO):
    encoding = "utf-8"  # type: ignore[assignment]

    def isatty(self) -> bool:
        return True


def printed(events: list[Event], **options: object) -> str:
    stream = io.StringIO()
    play(Console(stream, paint=Paint(width=110), live=False, **options), events)  # type: ignore[arg-type]
    return stream.getvalue()


def block(text: str, name: str) -> str:
    """The explanation of one cell."""
    return text.rpartition(f" {name} @2.15.1 single")[2] or text


def test_every_verdict_is_counted_in_a_table_by_suite() -> None:
    lines = printed(whole_run(*every_verdict()), verbose=True).splitlines()
    start = next(n for n, line in enumerate(lines) if line.startswith("suite "))
    table = lines[start : start + 4]
    heads = re.findall(r"[a-z/]+", table[0])
    assert heads == [
        "suite", "pass", "fail", "stale", "unstable", "error", "warn", "known", "position", "n/a"
    ]  # fmt: skip
    commit = ["adr-50/atomic/commit", "1", "1", "1", "1", "·", "1", "1", "1", "1"]
    assert table[1].split() == commit
    assert table[2].split() == ["adr-50/atomic/resta…", *"····1····"]
    assert table[3].split() == ["total", *["1"] * 9]


def test_columns_without_a_cell_are_left_out() -> None:
    events = whole_run(CaseFinished(make_cell("a")), CaseFinished(make_cell("b")))
    text = printed(events, verbose=True)
    assert re.search(r"^suite\s+✓ pass$", text, re.MULTILINE)


def test_several_targets_have_rows_of_their_own() -> None:
    text = printed(
        whole_run(
            CaseFinished(make_cell("a")),
            CaseFinished(make_cell("a", Verdict.FAIL, target="2.14.6", server="2.14.6")),
        ),
        verbose=True,
    )
    assert "2.14.6: 1 new failure" in text
    assert "2.15.1: conforms" in text
    assert "adr-50/atomic/commit @2.14.6" in text
    assert "adr-50/atomic/commit @2.15.1" in text


def test_a_failure_shows_clause_expected_actual_frames_and_how_to_replay_it() -> None:
    text = printed(whole_run(*every_verdict()))
    shown = text[text.rindex("✗ fail     adr-50/atomic/commit::fails @2.15.1 single  12 ms") :]
    assert "A50-ATOMIC-042 must  A gap in the batch's sequence makes the server reject" in shown
    assert re.search(r"step +what +expected +actual", shown)
    assert re.search(r"^    2 +reply\.error +10176 +10175$", shown, re.MULTILINE)
    assert re.search(r"^    2 +json\.reason +10176 +absent$", shown, re.MULTILINE)
    assert "frames, the last 12 of 20" in shown
    assert "> HPUB  stream.20  reply=_INBOX.1" in shown
    assert "stream.8 " not in shown[: shown.index("replay it")]
    assert "{Nats-Batch-Id: b1, Nats-Batch-Sequence: 20}" in shown
    assert "jetproof replay adr-50/atomic/commit::fails --server 2.15.1" in shown


def test_checks_that_hold_are_not_shown() -> None:
    held = make_check(ok=True, path="reply.stream")
    text = printed(whole_run(CaseFinished(make_cell(verdict=Verdict.FAIL), (held, make_check()))))
    assert "reply.stream" not in text
    assert "reply.error" in text


def test_an_error_shows_the_end_of_the_server_log() -> None:
    text = printed(whole_run(*every_verdict()))
    shown = text[text.rindex("has-no-verdict @2.15.1 single  12 ms") :]
    assert "the server died" in shown
    assert "[FTL] out of luck" in shown


def test_the_first_screen_says_what_is_new_what_is_known_and_where_the_rest_is() -> None:
    text = printed(whole_run(*every_verdict()), results="out/r1")
    screen = text[text.index("‼ 2.15.1: ") :].splitlines()
    assert screen[0] == (
        "‼ 2.15.1: no verdict for 1 cell, 1 new failure, 1 cell not as the ledger says, 1 unstable; "
        "1 known bug"
    )
    assert [line.split()[1] for line in screen[1:5]] == ["unstable", "fail", "stale", "error"]
    assert screen[5] == "  protocol 1 says 10175"
    assert screen[6] == "  1 position where the text is silent: jetproof positions out/r1"
    assert screen[7] == "  1 n/a: applies from 2.16"
    assert screen[8] == "results: out/r1"
    assert len(screen) == 10


def test_everything_that_matters_fits_on_80x24() -> None:
    severities = ["loss", "crash", *["protocol"] * 50, *["cosmetic"] * 9]
    known = [
        CaseFinished(
            make_cell(
                f"k{n}", Verdict.KNOWN, reason=f"d-{n}: {'Long words. ' * 20}", deviation=f"d-{n}",
                kind="bug", severity=severity,
            )
        )
        for n, severity in enumerate(severities)
    ]  # fmt: skip
    reasons = [
        CaseFinished(make_cell(f"n{n}", Verdict.NOT_APPLICABLE, reason=f"reason {n}"))
        for n in range(9)
    ]
    stream = io.StringIO()
    events = whole_run(*known, *reasons)
    play(Console(stream, paint=Paint(width=80), live=False, results="out/r1"), events)
    lines = stream.getvalue().splitlines()
    screen = lines[lines.index("≈ 2.15.1: nothing new; 61 known bugs (1 loss, 1 crash)") :]
    assert len(screen) <= 23
    assert max(map(len, screen)) <= 80
    assert [line.split()[0] for line in screen[1:4]] == ["loss", "crash", "protocol"]
    assert re.search(
        r"and \d+ more known causes \(\d+ protocol, 9 cosmetic\): -v lists", screen[-6]
    )


def test_conforms_is_printed_only_where_no_known_bug_applies() -> None:
    def last(kind: str | None) -> str:
        cell = make_cell("k", Verdict.KNOWN, deviation="d", kind=kind, severity="protocol")
        return printed(whole_run(CaseFinished(make_cell("p")), CaseFinished(cell)))

    assert "2.15.1: conforms; 1 where the text is behind" in last("text-behind")
    assert "2.15.1: conforms; 1 feature not implemented" in last("not-implemented")
    assert "2.15.1: conforms; 1 other reading of the text" in last("reading")
    assert "conforms" not in last("bug")
    assert "conforms" not in last(None)  # a run of an older version


def test_an_unstable_cell_is_shown_with_all_its_plays() -> None:
    frames = tuple(make_frame(number) for number in range(1, 21))
    plays = ("fail", "pass", "pass")
    cell = make_cell("u", Verdict.UNSTABLE, reason="failed in 1 of 3 plays: late", plays=plays)
    text = printed(whole_run(CaseFinished(cell, (make_check(),), frames)))
    assert "    plays: fail, pass, pass\n" in text
    assert "frames, all 20" in text
    assert text.splitlines()[-1].startswith("✓ conforms · 1 unstable")


@pytest.mark.parametrize(
    ("verdicts", "last"),
    [
        ([Verdict.PASS, Verdict.WARN, Verdict.POSITION], "✓ conforms · 1 pass"),
        ([Verdict.PASS, Verdict.FAIL], "✗ does not conform · 1 pass · 1 fail"),
        ([Verdict.STALE], "✗ does not conform · 1 stale"),
        ([Verdict.FAIL, Verdict.ERROR], "‼ no verdict for 1 cell · 1 fail · 1 error"),
        ([], "– nothing was played"),  # noqa: RUF001
    ],
)
def test_the_last_line_says_how_it_ended(verdicts: list[Verdict], last: str) -> None:
    cells = [CaseFinished(make_cell(f"c{n}", verdict)) for n, verdict in enumerate(verdicts)]
    assert printed(whole_run(*cells)).splitlines()[-1].startswith(last)


def test_an_interrupted_run_says_so_and_how_to_finish_it() -> None:
    events = whole_run(CaseFinished(make_cell()), interrupted=True)
    events[0] = run_started(30)
    lines = printed(events, results="out/r1").splitlines()
    assert lines[-1].startswith("‼ interrupted after 1 of 30 cells")
    assert lines[-2] == "finish it: jetproof run --resume out/r1"


def test_schemas_do_not_count_as_planned_cells() -> None:
    events = whole_run(CaseFinished(make_cell()), interrupted=True)
    events[0] = run_started(2)
    events.insert(-1, SchemaJudged(schema_result()))
    assert "interrupted after 1 of 2 cells" in printed(events)


def test_a_run_that_was_told_to_stop_says_why_and_what_it_found() -> None:
    events = whole_run(CaseFinished(make_cell(verdict=Verdict.FAIL)), interrupted=True)
    text = printed(events, stopped=lambda: "the first failure was enough")
    assert "stopped after 1 of 1 cells: the first failure was enough" in text
    assert text.splitlines()[-1].startswith("✗ does not conform · 1 fail")


def test_a_run_that_ends_without_a_word_is_still_summed_up() -> None:
    text = printed(whole_run(CaseFinished(make_cell(verdict=Verdict.FAIL), (make_check(),)))[:-1])
    assert "reply.error" in text
    assert "interrupted after 1 of 1 cells" in text


def test_a_retry_replaces_the_attempt_before_it() -> None:
    first, second = make_cell(verdict=Verdict.ERROR), make_cell(attempt=2)
    text = printed(whole_run(CaseFinished(first), CaseFinished(second)))
    assert text.splitlines()[-1].startswith("✓ conforms · 1 pass")


def test_a_partial_run_a_notice_and_a_lost_target_are_told_at_once() -> None:
    events: list[Event] = [
        run_started(partial="shard 1/2"),
        Notice("Docker: not available, container lane not covered"),
        TargetFailed("2.14.6", "single", "default", "it exited with 1", ("[FTL] bad option",)),
    ]
    text = printed(events)
    assert "a partial run: shard 1/2" in text
    assert "note Docker: not available" in text
    assert "‼ 2.14.6 single (default): it exited with 1\n    [FTL] bad option" in text


def test_many_failures_are_explained_up_to_a_limit_and_all_are_named() -> None:
    failed = [
        CaseFinished(make_cell(f"c{number:03}", Verdict.FAIL), (make_check(),))
        for number in range(50)
    ]
    text = printed(whole_run(*failed))
    after = text[text.rindex("c049 @2.15.1 single  12 ms\n    A50") :]
    assert text.count("replay it:") == 20
    assert all(f"c{number:03} " in text for number in range(50))
    assert after.count("replay it:") == 1
    assert printed(whole_run(*failed), verbose=True).count("replay it:") == 50


def test_verbose_shows_every_cell_and_whole_transcripts() -> None:
    text = printed(whole_run(*every_verdict()), verbose=True)
    assert "✓ pass     adr-50/atomic/commit::passes @2.15.1 single" in text
    assert "2.15.1 embedded single (default) is ready after 31 ms: 9 cases" in text
    assert "frames, all 20" in text


# In CI


def test_without_a_terminal_only_plain_lines_are_written_and_at_once() -> None:
    stream = io.StringIO()
    console = Console(stream, verbose=False)
    console.handle(run_started(2))
    console.handle(CaseStarted("a", "2.15.1"))
    console.handle(CaseFinished(make_cell("fine")))
    assert "fine" not in stream.getvalue()
    console.handle(CaseFinished(make_cell("bad", Verdict.FAIL, reason="step 2: 10175")))
    assert "bad @2.15.1 single" in stream.getvalue()
    assert "step 2: 10175" in stream.getvalue()
    console.close()
    assert "\x1b" not in stream.getvalue()
    assert "\r" not in stream.getvalue()


def test_an_ascii_stream_gets_ascii_symbols() -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    play(Console(stream), whole_run(*every_verdict()))
    text = raw.getvalue().decode("ascii")
    assert "x fail" in text
    assert "E no verdict for 1 cell - 1 pass" in text


# On a terminal


def test_a_terminal_has_one_live_line_that_is_drawn_anew_and_erased() -> None:
    stream, now = Terminal(), [0.0]
    console = Console(stream, paint=Paint(columns=100), live=True, clock=lambda: now[0])
    console.handle(run_started(3))
    console.handle(CaseStarted("adr-50/atomic/commit::slow", "2.15.1"))
    console.handle(CaseStarted("adr-50/atomic/commit::quick", "2.15.1"))
    now[0] = 2.0
    console.handle(CaseFinished(make_cell("quick")))
    line = stream.getvalue().rpartition("\r\x1b[2K")[2]
    assert "1/3" in line
    assert "✓ 1" in line
    assert "commit::slow @2.15.1 2.0 s" in line
    assert "\n" not in line
    console.close()
    assert "\r\x1b[2K" in stream.getvalue()
    assert stream.getvalue().endswith("\n")


def test_the_live_line_moves_with_time_and_not_faster_than_an_eye() -> None:
    stream, now = Terminal(), [10.0]
    console = Console(stream, paint=Paint(), live=True, clock=lambda: now[0])
    console.handle(run_started(3))
    size = len(stream.getvalue())
    console.tick()
    assert len(stream.getvalue()) == size
    now[0] = 11.0
    console.tick()
    assert len(stream.getvalue()) > size


@pytest.mark.parametrize("columns", [1, 8, 20, 40, 60, 100])
def test_the_live_line_never_wraps(columns: int) -> None:
    stream = Terminal()
    paint = Paint(colour=True, width=60, columns=columns)
    console = Console(stream, paint=paint, live=True, clock=lambda: 0.0)
    for number, finished in enumerate(every_verdict()):
        console.handle(run_started(100))
        console.handle(CaseStarted(f"{'long-name-' * 20}{number}", "2.15.1"))
        console._drawn_at = -1.0
        console.handle(finished)
    drawn = stream.getvalue().split("\r\x1b[2K")
    lines = [OWN_ESCAPES.sub("", part) for part in drawn if "\n" not in part]
    assert lines
    assert all(len(line) <= max(0, columns - 1) for line in lines)


@pytest.mark.parametrize(
    ("env", "colour", "live"),
    [
        ({"TERM": "xterm"}, True, True),
        ({"TERM": "xterm", "NO_COLOR": "1"}, False, True),
        ({"TERM": "xterm", "NO_COLOR": ""}, True, True),
        ({"TERM": "dumb"}, False, False),
        ({}, False, False),
        ({"TERM": "dumb", "FORCE_COLOR": "1"}, True, False),
        ({"TERM": "xterm", "FORCE_COLOR": "1", "NO_COLOR": "1"}, False, True),
    ],
)
def test_colour_and_the_live_line_follow_the_environment(
    env: dict[str, str], colour: bool, live: bool
) -> None:
    assert paint_for(Terminal(), env).colour is colour
    assert is_terminal(Terminal(), env) is live


def test_a_pipe_is_no_terminal() -> None:
    assert not paint_for(io.StringIO(), {"TERM": "xterm"}).colour
    assert not is_terminal(io.StringIO(), {"TERM": "xterm"})


# A server that wants to write there itself


@pytest.mark.parametrize("verdict", list(Verdict))
@pytest.mark.parametrize("verbose", [False, True])
def test_nothing_off_the_wire_reaches_the_terminal_raw(verdict: Verdict, verbose: bool) -> None:
    stream = Terminal()
    console = Console(stream, paint=Paint(colour=True), live=True, verbose=verbose)
    events = whole_run(hostile_cell(verdict))
    play(console, events)
    text = OWN_ESCAPES.sub("", stream.getvalue())
    for line in text.split("\n"):
        assert line.isprintable(), ascii(line)
    assert "\nforged line" not in text
    assert len(text) < 60_000


def test_a_megabyte_payload_takes_one_short_line() -> None:
    frame = make_frame(payload=b"A" * 5_000_000)
    text = printed(whole_run(CaseFinished(make_cell(verdict=Verdict.FAIL), (), (frame,))))
    assert "… (5,000,000 bytes)" in text
    assert len(text) < 4000


def test_a_reader_that_has_gone_ends_the_printing_and_not_the_run() -> None:
    class Gone(io.StringIO):
        writes = 0

        def write(self, text: str) -> int:
            self.writes += 1
            raise BrokenPipeError

    stream = Gone()
    play(Console(stream, live=False), whole_run(*every_verdict()))
    assert stream.writes == 1
