"""A clause keeps the place and the fingerprint of its sentence, and both can be checked."""

from __future__ import annotations

import hashlib

import pytest

from jetproof.load.sentences import (
    AnchorError,
    elements,
    normalise,
    plain,
    sentence_at,
    sentence_hash,
    sentences,
)

TEXT = """\
# A Specification

| Revision | Date       | Info    |
|----------|------------|---------|
| 1        | 2020-01-01 | Initial |
| 2        | 2020-02-02 | Second  |

## Sending

### Client Design

The client will  *send*
messages. It may wait.

 * The first message has `Seq:1`. Its id is at most 64 characters.
 * Later ones count up,
   one by one
1. A numbered item. `Code` starts this sentence.

### Server Errors

| ErrCode | Code | Description |
|---------|------|-------------|
| 10174   | 400  | Not enabled |

## Acks

```go
type Ack struct {
	Batch string `json:"batch"`
}
```

### Client Design

Another section of the same name.
"""


class TestHash:
    def test_white_space_and_line_breaks_do_not_matter(self) -> None:
        assert normalise("  a\n\tb  c ") == "a b c"
        assert sentence_hash("The server\n   replies.") == sentence_hash("The server replies.")

    def test_every_other_change_does(self) -> None:
        assert sentence_hash("The server replies.") != sentence_hash("The server Replies.")
        assert sentence_hash("The server replies.") != sentence_hash("The server replies")

    @pytest.mark.parametrize(
        ("marked", "bare"),
        [
            ("The *server* _replies_.", "The server replies."),
            ("**Read-after-write** is __kept__.", "Read-after-write is kept."),
            ("Set `max_msgs` to ``a`b``.", "Set max_msgs to a`b."),
            ("As [ADR-8 `KV`](ADR-8.md) says.", "As ADR-8 KV says."),
            (r"Not \*this\* and a\_b.", "Not *this* and a_b."),
            ("`*` and `_x_` stay.", "* and _x_ stay."),
        ],
    )
    def test_inline_markup_does_not_matter(self, marked: str, bare: str) -> None:
        assert plain(marked) == bare
        assert sentence_hash(marked) == hashlib.sha256(bare.encode()).hexdigest()[:16]

    @pytest.mark.parametrize(
        "text",
        [
            "Subjects like foo.* and *.bar, and foo.>.",
            "max_msgs_per_subject and _INBOX.x_y",
            "2 * 3 * 4 is 24.",
            "$JS.API.DIRECT.GET.<stream>",
        ],
    )
    def test_what_only_looks_like_markup_stays(self, text: str) -> None:
        assert plain(text) == text

    def test_it_is_the_beginning_of_a_sha_256(self) -> None:
        # printf 'The server replies.' | sha256sum | cut -c 1-16
        assert sentence_hash("The server replies.") == "cc49a5c503ee4362"


class TestAnchors:
    @pytest.mark.parametrize(
        ("anchor", "sentence"),
        [
            (
                "Sending > Client Design: paragraph 1, sentence 1",
                "The client will *send* messages.",
            ),
            ("Sending > Client Design: paragraph 1, sentence 2", "It may wait."),
            ("Sending > Client Design: bullet 1, sentence 2", "Its id is at most 64 characters."),
            ("Sending > Client Design: bullet 2", "Later ones count up, one by one"),
            ("Sending > Client Design: bullet 3, sentence 2", "`Code` starts this sentence."),
            ("Sending > Server Errors: row 10174", "10174 | 400 | Not enabled"),
            ("Acks: code 1, line 2", 'Batch string `json:"batch"`'),
            ("Acks: code 1", 'type Ack struct { Batch string `json:"batch"` }'),
            ("Acks > Client Design: paragraph 1", "Another section of the same name."),
            ("A Specification: row 2", "2 | 2020-02-02 | Second"),
        ],
    )
    def test_an_anchor_finds_its_sentence(self, anchor: str, sentence: str) -> None:
        assert sentence_at(TEXT, anchor) == sentence

    @pytest.mark.parametrize(
        ("anchor", "told"),
        [
            ("Client Design", "is not an anchor"),
            ("Sending > Nothing: bullet 1", "no section 'Sending > Nothing'"),
            ("Sending > Client Design: bullet 9", "has no bullet 9"),
            ("Sending > Client Design: bullet 0", "has no bullet 0"),
            ("Sending > Client Design: bullet one", "has no bullet one"),
            ("Sending > Server Errors: row 10175", "has no row 10175"),
            ("Sending > Client Design: bullet 1, sentence 3", "asks for sentence 3 of 2"),
            ("Acks: code 1, line 0", "asks for line 0 of 3"),
        ],
    )
    def test_an_anchor_that_finds_nothing_says_why(self, anchor: str, told: str) -> None:
        with pytest.raises(AnchorError, match=told):
            sentence_at(TEXT, anchor)

    def test_abbreviations_and_numbers_do_not_end_a_sentence(self) -> None:
        assert sentences("From 2.12.1 on it works, e.g. here. Then it stops.") == [
            "From 2.12.1 on it works, e.g. here.",
            "Then it stops.",
        ]

    def test_every_place_of_a_text_is_what_its_anchor_finds(self) -> None:
        places = [place for element in elements(TEXT) for place in element.places()]
        assert ("Acks: code 1, line 2", 'Batch string `json:"batch"`') in places
        for anchor, text in places:
            if " row -" not in anchor:  # the line under the head of a table
                assert sentence_at(TEXT, anchor) == text

    def test_a_block_quote_is_read_as_if_it_were_none(self) -> None:
        quoted = "# A\n\n## B\n\n> One. Two\n> three.\n"
        assert sentence_at(quoted, "B: paragraph 1, sentence 2") == "Two three."
