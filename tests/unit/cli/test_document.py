"""The JSON of `status`: keys of the contract, null for what is unknown; and outputs that are not UTF-8."""

from __future__ import annotations

import io
import json
import sys
from datetime import UTC, datetime
from typing import Any

import pytest

from dsv41_tui.__main__ import main
from dsv41_tui.cli.document import json_text, nfs_document, node_document
from dsv41_tui.core.model import NfsMount, NodeState, Reading
from dsv41_tui.core.readings import Gpu, Host, Logind, Memory, NasServer, Pressure, ShmUse

SHAPES = {"host": Host, "memory": Memory, "pressure": Pressure, "gpu": Gpu, "shm": ShmUse, "logind": Logind}


def read(value: object) -> Reading[Any]:
    return Reading[Any](value=value, at=1.0)


@pytest.mark.parametrize("name", SHAPES)
def test_an_unread_part_has_the_keys_of_a_read_one_and_no_values(name: str) -> None:
    told = SHAPES[name](some_avg10=1.0) if name == "pressure" else SHAPES[name]()
    unread = node_document(NodeState(name="a"), 2.0)[name]
    assert set(unread) == set(node_document(NodeState(name="a", **{name: read(told)}), 2.0)[name])
    assert unread["read"] == "unknown"
    assert {value for key, value in unread.items() if key != "read"} == {None}


def test_derived_figures_of_unread_memory_are_null() -> None:
    memory = node_document(NodeState(name="a"), 2.0)["memory"]
    assert {memory[key] for key in ("total", "kernel", "driver", "page_cache", "cma_leaked", "low_free")} == {None}


def test_only_a_nas_has_a_server() -> None:
    assert node_document(NodeState(name="a"), 2.0)["nas"] is None
    unread = node_document(NodeState(name="a", role="nas"), 2.0)["nas"]
    assert set(NasServer.model_fields) <= set(unread) and unread["versions"] is None


def test_an_option_that_is_no_ascii_number_is_unknown() -> None:
    options = {"rsize": "²", "wsize": "٤", "nconnect": "8"}
    mount = NfsMount(mount_point="/m", source="nas:/m", fstype="nfs", got=options, asked=options)
    document = nfs_document(mount, NodeState(name="a"), 2.0)
    assert document["asked"] == {"rsize": None, "wsize": None, "nconnect": 8}
    assert (document["got"]["rsize"], document["got"]["wsize"]) == (None, None)


@pytest.mark.parametrize("encoding", ["utf-8", "UTF8", "latin-1", "ascii", None])
def test_json_loses_no_name_to_the_output(encoding: str | None) -> None:
    document = {"name": "節點", "at": datetime(2026, 1, 1, tzinfo=UTC).isoformat()}
    text = json_text(document, encoding)
    assert json.loads(text.encode(encoding or "ascii")) == document
    assert ("節點" in text) == (encoding in ("utf-8", "UTF8"))


def test_a_terminal_that_is_not_utf8_gets_no_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="ascii") for _ in range(2))
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)
    assert main(["--language", "zh-Hant", "節點"]) == 2
    err.flush()
    assert b"??" in err.buffer.getvalue()  # type: ignore[attr-defined]
