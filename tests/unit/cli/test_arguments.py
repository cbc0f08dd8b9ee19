"""Global flags stand anywhere; `--demo` takes a scenario only after `=`."""

from __future__ import annotations

import pytest

from dsv41_tui.__main__ import main
from dsv41_tui.cli.arguments import build_parser, take_globals
from dsv41_tui.core.errors import ConfigError


@pytest.mark.parametrize(
    ("words", "demo", "rest"),
    [
        (["--demo", "status", "--json"], "healthy", ["status", "--json"]),
        (["--demo=kho", "check", "--json"], "kho", ["check", "--json"]),
        (["status", "--json", "--demo=nas-down"], "nas-down", ["status", "--json"]),
        (["status"], None, ["status"]),
        (["status", "--", "--demo"], None, ["status", "--", "--demo"]),
    ],
)
def test_demo(words: list[str], demo: str | None, rest: list[str]) -> None:
    found = take_globals(words)
    assert (found.demo, found.rest) == (demo, rest)


@pytest.mark.parametrize("words", [["--config", "a.toml", "status"], ["status", "--config=a.toml"]])
def test_config_before_and_after_the_verb(words: list[str]) -> None:
    assert take_globals(words).config == "a.toml"


@pytest.mark.parametrize("words", [["--config"], ["status", "--config="], ["--language", "fr"]])
def test_a_flag_without_its_value_is_one_line(words: list[str]) -> None:
    with pytest.raises(ConfigError) as caught:
        take_globals(words)
    assert "\n" not in caught.value.message


def test_an_unknown_verb_is_one_line_and_exit_code_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["frobnicate"]) == 2
    out = capsys.readouterr()
    assert out.out == ""
    assert out.err.count("\n") == 1
    assert "frobnicate" in out.err


def test_no_configuration_says_what_to_do(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    monkeypatch.chdir(str(tmp_path))
    assert main(["status"]) == 2
    assert "init --from" in capsys.readouterr().err


def test_a_panel_without_a_terminal_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--demo"]) == 2
    assert "dsv41-tui status" in capsys.readouterr().err


def test_help_names_every_verb() -> None:
    text = build_parser().format_help()
    assert all(word in text for word in ("status", "check", "init", "--demo", "--config", "--read-only"))
