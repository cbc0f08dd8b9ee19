"""The folder of parsers is the list of parsers: each file keeps the house rules and survives any text."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import random
import re
from collections.abc import Callable
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from parser_samples import DATA, survives

import dsv41_tui.parsers as folder

MODULES = [
    importlib.import_module(f"{folder.__name__}.{found.name}")
    for found in pkgutil.iter_modules(folder.__path__)
    if not found.name.startswith("_")
]
SAMPLES = sorted(path for path in DATA.rglob("*") if path.is_file() and path.suffix in (".txt", ".json", ".env"))


def public_functions(module: ModuleType) -> list[Callable[..., object]]:
    return [
        function
        for name, function in inspect.getmembers(module, inspect.isfunction)
        if not name.startswith("_") and function.__module__ == module.__name__
    ]


def takes_one_text(function: Callable[..., object]) -> bool:
    first, *others = inspect.signature(function, eval_str=True).parameters.values()
    return first.annotation is str and all(other.default is not other.empty for other in others)


PARSERS = [function for module in MODULES for function in public_functions(module)]
TEXT_PARSERS = [parser for parser in PARSERS if takes_one_text(parser)]


def test_the_folder_is_found() -> None:
    assert len(MODULES) >= 14
    assert len(TEXT_PARSERS) >= 10
    assert len(SAMPLES) >= 20


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__.rpartition(".")[2])
def test_one_public_function_with_its_source_and_its_errors(module: ModuleType) -> None:
    (function,) = public_functions(module)
    assert function.__name__.startswith(("parse_", "split_"))
    assert module.__doc__ and re.search(r"`[^`]+`", module.__doc__), "the module's docstring names the source"
    assert function.__doc__, "the function's docstring gives shapes, units and errors"
    assert inspect.signature(function).return_annotation is not inspect.Signature.empty


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__.rpartition(".")[2])
def test_parsers_import_the_core_and_each_other_only(module: ModuleType) -> None:
    source = inspect.getsource(module)
    for name in re.findall(r"^from (dsv41_tui\S*) import|^import (dsv41_tui\S*)", source, re.MULTILINE):
        assert "".join(name).startswith(("dsv41_tui.core.", "dsv41_tui.parsers."))


TOKENS = [*"-:=[]{}'\"/.,+_U09\n\t", "device", "mounted on", "with fstype", "nfs4", "kB", "-1", "==>", "some", "b true"]
ANY = st.one_of(
    st.text(),
    st.text(st.characters(max_codepoint=127)),
    st.lists(st.sampled_from(TOKENS)).map(" ".join),
    st.lists(st.integers(0, 10**30).map(str)).map(" ".join),
)


@pytest.mark.parametrize("parser", TEXT_PARSERS, ids=lambda parser: parser.__name__)
@settings(max_examples=150, deadline=None)
@given(text=ANY)
def test_any_text_gives_a_value_or_one_clear_line(parser: Callable[[str], object], text: str) -> None:
    survives(parser, iter([text]))


@pytest.mark.parametrize("parser", TEXT_PARSERS, ids=lambda parser: parser.__name__)
def test_every_sample_of_every_source(parser: Callable[[str], object]) -> None:
    survives(parser, (path.read_bytes().decode() for path in SAMPLES))


@pytest.mark.parametrize("parser", TEXT_PARSERS, ids=lambda parser: parser.__name__)
def test_lines_of_samples_mixed_up(parser: Callable[[str], object]) -> None:
    chance = random.Random(7)
    lines = [line for path in SAMPLES for line in path.read_bytes().decode().splitlines(keepends=True)]
    survives(parser, ("".join(chance.sample(lines, chance.randrange(1, 30))) for _ in range(300)))


@pytest.mark.parametrize("parser", TEXT_PARSERS, ids=lambda parser: parser.__name__)
@pytest.mark.parametrize("piece", ["0", " ", "\n", "[", '"', "a=", "1 ", "==> x <==\n", "head: /: X\n", "device "])
def test_long_texts(parser: Callable[[str], object], piece: str) -> None:
    survives(parser, iter([piece * 20_000, piece * 20_000 + "\n"]))
