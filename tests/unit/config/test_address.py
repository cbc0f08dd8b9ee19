"""Login targets as people write them; nothing that ssh could take for an option."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsv41_tui.core.address import Target, is_host, is_user, parse_target
from dsv41_tui.core.errors import ParseError


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("spark1", Target(host="spark1")),
        (" me@10.0.0.2 ", Target(host="10.0.0.2", user="me")),
        ("me@spark2.lan:2222", Target(host="spark2.lan", user="me", port=2222)),
        ("[fe80::1%eth0]:22", Target(host="fe80::1%eth0", port=22)),
        ("me@[::1]", Target(host="::1", user="me")),
        ("fd00::2", Target(host="fd00::2")),
        ("me@lab@spark1", Target(host="spark1", user="me@lab")),
    ],
)
def test_forms(text: str, target: Target) -> None:
    assert parse_target(text) == target


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("", "empty"), ("  ", "empty"), ("@x", "user"), ("-l@x", "user"), ("a b@x", "user"), ("me@", "host"),
        ("-oProxyCommand=x", "host"), ("a b", "host"), ("x:0", "port"), ("x:70000", "port"), ("x:", "port"),
        ("x:٣", "port"), ("[::1", "host"), ("[::1]22", "host"), ("[spark]:22", "host"), ("a;b", "host"),
        ("$(id)", "host"), ("10.0.0.1/24", "host"), ("x" * 300, "host"),
    ],
)  # fmt: skip
def test_refused(text: str, word: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse_target(text)
    assert caught.value.message == word


@given(st.text(max_size=40))
def test_any_text_is_a_target_or_refused(text: str) -> None:
    try:
        target = parse_target(text)
    except ParseError as error:
        assert error.message in ("empty", "user", "port", "host")
        return
    for word in (target.host, target.user or "x"):
        assert not word.startswith("-") and word == "".join(word.split()) and word.isprintable()
    assert is_host(target.host) and (target.user is None or is_user(target.user))
