"""What a person sees: on a terminal, in CI, and when a server wants to write there itself."""

from __future__ import annotations

import io
import re

import pytest

from jetproof.events import CaseFinished, CaseStarted, Event, Notice, SchemaJudged, TargetFailed
from jetproof.model.verdict import Verdict
from jetproof.sinks.console.campaign import Console
from jetproof.sinks.console.lines import Layout, bold, line, plain
from jetproof.sinks.console.progress import Progress
from jetproof.sinks.console.screen import Screen
from jetproof.sinks.console.summary import verdict_table
from jetproof.sinks.record import Outcome
from support.schema_results import schema_result

from .samples import (
    HOSTILE,
    every_verdict,
    hostile_cell,
    make_cell,
    make_check,
    make_frame,
    play,
    run_started,
    whole_run,
)

OWN_ESCAPES = re.compile(r"\x1b\[[0-9;]*m|\r?\x1b\[2K|\x1b\[1A|\x1b\[\?25[hl]|\r(?=\x1b|$)")
"""Colours and what erases the progress: all that may reach a terminal besides text."""


class Pipe(io.StringIO):
    encoding = "utf-8"  # type: ignore[assignment]


class Terminal(Pipe):
    def isatty(self) -> bool:
        return True


def printed(events: list[Event], **options: object) -> str:
    stream = Pipe()
    play(Console(stream, screen=piped(stream), **options), events)  # type: ignore[arg-type]
    return stream.getvalue()


def piped(stream: io.StringIO, columns: int | None = None) -> Screen:
    return Screen(stream, {"COLUMNS": str(columns)} if columns else {})


def on_terminal(stream: io.StringIO, columns: int = 80, **env: str) -> Screen:
    return Screen(stream, {"TERM": "xterm", "COLUMNS": str(columns), **env})


def shown(stream: io.StringIO) -> str:
    """What was printed and drawn, each drawing of the progress on lines of its own."""
    return OWN_ESCAPES.sub("", stream.getvalue().replace("\x1b[2K", "\n").replace("\r", ""))


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
    assert table[2].split() == ["adr-50/atomic/restart", *"····1····"]
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
    assert re.search(r"where +what +expected +actual", shown)
    assert re.search(r"^    step 2 +reply\.error +10176 +10175$", shown, re.MULTILINE)
    assert re.search(r"^    step 2 +json\.reason +10176 +absent$", shown, re.MULTILINE)
    assert "frames, 12 of 20" in shown
    assert "> HPUB  stream.20  reply=_INBOX.1" in shown
    assert "stream.8 " not in shown[: shown.index("replay it")]
    assert "{Nats-Batch-Id: b1, Nats-Batch-Sequence: 20}" in shown
    assert "jetproof replay adr-50/atomic/commit::fails --server 2.15.1" in shown


def test_frames_are_shown_up_to_the_step_that_failed() -> None:
    frames = [make_frame(number, step=str(number)) for number in range(1, 4)]
    frames += [make_frame(9, step="closing", subject="read.after.it")]
    events = whole_run(CaseFinished(make_cell(verdict=Verdict.FAIL), (make_check(),), frames))
    text = printed(events)
    assert "frames, 2 of 4" in text
    assert "stream.2" in text
    assert "stream.3" not in text
    assert "read.after.it" not in text
    late = make_check(step="closing", path="messages")
    assert "read.after.it" in printed(
        whole_run(CaseFinished(make_cell(verdict=Verdict.FAIL), (late,), frames))
    )


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
    assert screen[1:7] == [
        "  ✗ fail     adr-50/atomic/commit::fails @2.15.1 single",
        "      step 2: 10175",
        "      jetproof replay adr-50/atomic/commit::fails --server 2.15.1",
        "  ≠ stale    adr-50/atomic/commit::is-stale @2.15.1 single",
        "      D-8 says that this fails",
        "      jetproof replay adr-50/atomic/commit::is-stale --server 2.15.1",
    ]
    assert [line.split()[1] for line in screen[7:9]] == ["error", "unstable"]
    assert screen[9] == "  protocol 1 says 10175"
    assert screen[10] == "  1 position where the text is silent: jetproof positions out/r1"
    assert screen[11] == "  1 n/a: applies from 2.16"
    assert screen[12] == "results: out/r1"
    assert len(screen) == 14


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
    stream = Pipe()
    events = whole_run(*known, *reasons)
    play(Console(stream, screen=piped(stream, 80), results="out/r1"), events)
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
    assert "✓ 2.15.1, so far: conforms" in lines
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
    stream = Pipe()
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
    long = CaseFinished(make_cell("long", Verdict.FAIL, reason="word " * 100))
    play(Console(stream), whole_run(*every_verdict(), long))
    text = raw.getvalue().decode("ascii")
    assert "x fail" in text
    assert "wor..." in text or "word..." in text
    assert "E no verdict for 1 cell - 1 pass" in text
    assert "\\u" not in text


# At every width


@pytest.mark.parametrize("columns", [40, 80, 200])
@pytest.mark.parametrize("terminal", [False, True])
def test_lines_stay_within_the_width(columns: int, terminal: bool) -> None:
    stream = Terminal() if terminal else Pipe()
    screen = on_terminal(stream, columns) if terminal else piped(stream, columns)
    checks = (make_check(), make_check(path="json.reason", actual="x" * 300))
    frames = tuple(make_frame(number, payload=b"y" * 300) for number in range(3))
    cell = make_cell("fails", Verdict.FAIL, reason="word " * 60)
    play(Console(stream, screen=screen), whole_run(CaseFinished(cell, checks, frames)))
    text = shown(stream)
    assert "A50-ATOMIC-042 must" in text
    assert "step 2" in text
    for one in text.splitlines():
        # Names and commands are copied: they are never cut. Values in a file are one line each.
        whole = "adr-50/atomic" in one or "HPUB" in one or "xxx" in one
        assert len(one) <= columns or whole, one


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_a_table_fits_every_width_and_names_every_suite(columns: int) -> None:
    outcomes = [Outcome(event.cell) for event in every_verdict()]
    layout = Layout.of(columns, unicode=True, terminal=True)
    lines = plain(verdict_table(outcomes, layout))
    text = "\n".join(lines)
    assert "adr-50/atomic/restart" in text
    assert all(len(line) <= columns for line in lines)
    if columns == 40:
        assert lines[-4:] == [
            "total",
            "  1 pass · 1 fail · 1 stale · 1 unstable",
            "  1 error · 1 warn · 1 known",
            "  1 position · 1 n/a",
        ]
    elif columns == 200:
        assert lines[-1].split() == ["total", *["1"] * 9]


# On a terminal


def drawn(stream: io.StringIO) -> list[str]:
    """The progress as it was drawn last: rich erases its lines from the last one upwards."""
    after = re.split(r"\x1b\[2K", stream.getvalue())[-1]
    return [OWN_ESCAPES.sub("", line) for line in after.split("\n")]


def test_progress_shows_counts_time_left_and_the_oldest_case() -> None:
    stream, now = Terminal(), [0.0]
    console = Console(stream, screen=on_terminal(stream, 100), clock=lambda: now[0])
    console.handle(run_started(30))
    for number in range(10):
        console.handle(CaseStarted(f"adr-50/atomic/commit::c{number}", "2.15.1"))
    console.handle(CaseStarted("adr-50/atomic/commit::slow", "2.15.1"))
    for number in range(10):
        now[0] += 1.0
        console.handle(CaseFinished(make_cell(f"c{number}")))
    first, second = drawn(stream)
    assert "10/30 cells  10 s, about 20 s left  ✓ 10" in first
    assert "━" in first
    assert second.strip() == "adr-50/atomic/commit::slow @2.15.1 10 s"
    console.close()
    after = stream.getvalue().rpartition("interrupted")[2]
    assert "━" not in after
    assert stream.getvalue().endswith("\n")


def test_time_left_is_shown_only_when_it_can_be_known() -> None:
    progress = Progress()
    progress.begin(100, 0.0)
    for _ in range(50):  # they do not apply, and take no time
        progress.advance(0.5, played=False)
    assert progress.seconds_left(60.0) is None
    for second in range(1, 11):
        progress.advance(float(second))
    assert progress.seconds_left(10.0) == 40.0
    for _ in range(40):
        progress.advance(11.0)
    assert progress.seconds_left(11.0) is None


def test_time_left_follows_a_higher_speed_of_late() -> None:
    progress = Progress()
    progress.begin(400, 0.0)
    for second in range(1, 101):
        progress.advance(float(second))
    for tick in range(200):
        progress.advance(100 + tick / 10)
    assert progress.seconds_left(120.0) == pytest.approx(10, abs=1)


@pytest.mark.parametrize("scored", [True, False])
def test_a_further_attempt_is_not_another_cell(scored: bool) -> None:
    progress = Progress()
    progress.begin(2, 0.0)
    for attempt, verdict in enumerate((Verdict.ERROR, Verdict.PASS), 1):
        progress.handle(CaseStarted("adr-50/atomic/commit::c", "2.15.1"), 1.0)
        cell = make_cell("c", verdict, attempt=attempt, scored=scored)
        progress.handle(CaseFinished(cell), 2.0)
    assert progress.done == 1
    assert +progress.verdicts == ({Verdict.PASS: 1} if scored else {})


def test_the_cursor_stays_visible() -> None:
    stream = Terminal()
    console = Console(stream, screen=on_terminal(stream))
    console.handle(run_started(3))
    assert stream.getvalue().rfind("\x1b[?25h") > stream.getvalue().rfind("\x1b[?25l")


def test_progress_is_drawn_not_faster_than_an_eye_can_follow() -> None:
    stream, now = Terminal(), [10.0]
    console = Console(stream, screen=on_terminal(stream), clock=lambda: now[0])
    console.handle(run_started(3))
    size = len(stream.getvalue())
    console.tick()
    assert len(stream.getvalue()) == size
    now[0] = 11.0
    console.tick()
    assert len(stream.getvalue()) > size


@pytest.mark.parametrize("columns", [1, 8, 20, 40, 60, 100, 200])
@pytest.mark.parametrize("unicode", [True, False])
def test_progress_never_wraps(columns: int, unicode: bool) -> None:
    progress = Progress()
    progress.begin(100, 0.0)
    cells = every_verdict()
    assert cells
    for number, finished in enumerate(cells):
        progress.handle(CaseStarted(f"{'long-name-' * 20}{number}", "2.15.1"), 1.0)
        progress.handle(finished, 1.0)
        layout = Layout.of(columns, unicode=unicode, terminal=True)
        for one in progress.lines(layout, columns, 9.0, "2.15.1 12/100, 2.14.6 3/100 " * 5):
            assert one.cell_len <= max(0, columns - 1)


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
def test_colour_and_progress_follow_the_environment(
    env: dict[str, str], colour: bool, live: bool
) -> None:
    stream = Terminal()
    screen = Screen(stream, env)
    screen.print([line(bold("text"))])
    assert ("\x1b[1m" in stream.getvalue()) is colour
    assert screen.interactive is live


def test_a_pipe_is_no_terminal() -> None:
    stream = Pipe()
    screen = Screen(stream, {"TERM": "xterm"})
    screen.print([line(bold("text"))])
    screen.show([line("progress")])
    assert stream.getvalue() == "text\n"
    assert not screen.interactive


# A server that wants to write there itself


@pytest.mark.parametrize("verdict", list(Verdict))
@pytest.mark.parametrize("verbose", [False, True])
def test_nothing_off_the_wire_reaches_the_terminal_raw(verdict: Verdict, verbose: bool) -> None:
    stream = Terminal()
    console = Console(stream, screen=on_terminal(stream), verbose=verbose)
    started, ready, *rest = whole_run(hostile_cell(verdict))
    failed = TargetFailed(HOSTILE, HOSTILE, HOSTILE, HOSTILE, (HOSTILE,))
    case = CaseStarted(HOSTILE, HOSTILE)
    events = [started, Notice(HOSTILE), case, ready, failed, *rest]
    play(console, events)
    text = OWN_ESCAPES.sub("", stream.getvalue())
    for one in text.split("\n"):
        assert one.isprintable(), ascii(one)
    assert "\nforged line" not in text
    assert len(text) < 60_000


MARKUP = "[bold red]x[/] [link=https://example.com]y[/link] :warning: [/nothing] \\[z]"


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_markup_in_data_is_printed_as_it_is(columns: int) -> None:
    """In a payload, a case's name, an error text and the version of a library."""
    stream = Terminal()
    frame = make_frame(payload=MARKUP.encode(), note=MARKUP, headers=((MARKUP, MARKUP),))
    cell = make_cell(
        MARKUP, Verdict.FAIL, reason=MARKUP, client=f"go:nats.go@{MARKUP}", server=MARKUP
    )
    check = make_check(actual=MARKUP, path=MARKUP)
    console = Console(stream, screen=on_terminal(stream, columns), verbose=True)
    play(console, [*whole_run(CaseFinished(cell, (check,), (frame,)))[:-1], Notice(MARKUP)])
    text = OWN_ESCAPES.sub("", stream.getvalue())
    assert "⚠" not in text
    assert "\x1b]8" not in stream.getvalue()
    assert "note" + "".join(MARKUP.split()) in "".join(text.split())
    assert f"adr-50/atomic/commit::{MARKUP}" in text
    assert text.count("[bold red]x[/]") >= 5


def test_a_megabyte_payload_takes_one_short_line() -> None:
    frame = make_frame(payload=b"A" * 5_000_000)
    text = printed(whole_run(CaseFinished(make_cell(verdict=Verdict.FAIL), (), (frame,))))
    assert "… (5,000,000 bytes)" in text
    assert len(text) < 4000


def test_a_reader_that_has_gone_ends_the_printing_and_not_the_run() -> None:
    class Gone(Pipe):
        writes = 0

        def write(self, text: str) -> int:
            self.writes += 1
            raise BrokenPipeError

    stream = Gone()
    play(Console(stream), whole_run(*every_verdict()))
    assert stream.writes == 1
