"""Variables in texts: what is a variable, what is literal, what arithmetic can do."""

from __future__ import annotations

import pytest

from jetproof.model.template import (
    TemplateError,
    UnknownVariable,
    names,
    parse_text,
    parse_value,
    render,
    render_text,
)

ENV = {"stream": "S1", "batch": "b", "i": 7, "last": 41, "text": "12"}


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("$stream.a", "S1.a"),
        ("$batch-$i", "b-7"),
        ("$batch-1", "b-1"),
        ("$i", 7),
        ("${last + 1}", 42),
        ("${last - 2}", 39),
        ("${i * 3 + 1}", 22),
        ("${text + 1}", 13),
        ("seq ${last + 1}!", "seq 42!"),
        ("$JS.API.STREAM.INFO.$stream", "$JS.API.STREAM.INFO.S1"),
        ("$$stream", "$stream"),
        ("$KV.x", "$KV.x"),
        ("costs $5", "costs $5"),
        ("", ""),
    ],
)
def test_a_text_is_rendered(source: str, value: object) -> None:
    assert render(parse_text(source), ENV) == value


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("$last+1", "arithmetic needs braces: write ${last + 1}"),
        ("${last", "no closing brace"),
        ("${}", "is empty"),
        ("${last 1}", "is not a sum"),
        ("${+1}", "starts with an operator"),
        ("${last / 2}", "is not a sum"),
    ],
)
def test_a_text_that_cannot_be_read_says_why(source: str, message: str) -> None:
    with pytest.raises(TemplateError, match=message.replace("$", r"\$").replace("+", r"\+")):
        parse_text(source)


def test_values_keep_their_type_and_may_nest() -> None:
    value = parse_value({"seq": "$last", "subjects": ["$stream.>"], "on": True, "none": None})
    assert render(value, ENV) == {"seq": 41, "subjects": ["S1.>"], "on": True, "none": None}
    assert sorted(names(value)) == ["last", "stream"]


def test_a_text_can_be_repeated() -> None:
    assert render(parse_value({"text": "$batch", "times": 3}), ENV) == "bbb"
    assert render(parse_value({"text": "x", "times": "${i - 5}"}), ENV) == "xx"


def test_headers_get_text_as_the_wire_spells_it() -> None:
    assert render_text(True, ENV) == "true"
    assert render_text(1, ENV) == "1"


def test_a_variable_without_a_value_is_named() -> None:
    with pytest.raises(UnknownVariable) as caught:
        render(parse_text("$nobody"), ENV)
    assert str(caught.value) == "$nobody has no value"


def test_arithmetic_on_text_that_is_no_number_is_refused() -> None:
    with pytest.raises(TemplateError, match=r"\$stream is 'S1', and arithmetic needs"):
        render(parse_text("${stream + 1}"), ENV)
