"""What of a log line is shown in one row: its message, with the whole line asked for matches."""

from __future__ import annotations

import pytest

from dsv41_tui.core.log import LogKind
from dsv41_tui.ui.logs.lines import marked
from dsv41_tui.ui.logs.message import message
from dsv41_tui.ui.logs.query import parse

NCCL = (
    "[2026-11-30 22:44:07] spark2:268:268 [0] misc/ibvwrap.cc:210 (wrap_ibv_reg_mr_iova2) NCCL WARN Call to"
    " ibv_reg_mr_iova2 failed with error Cannot allocate memory"
)


def shown(text: str, label: str = "r1", kind: LogKind = "rank", typed: str = "") -> tuple[str, str]:
    """What is written, and what of it is marked."""
    parts = marked(message(text, kind, label), "text", parse(typed))
    return "".join(part for part, _ in parts), "|".join(part for part, style in parts if style == "primary+bold")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(Worker_TP1 pid=268) INFO 11-30 22:24:31 [dsv41_cache.py:88] dropped 3 GiB", "dropped 3 GiB"),
        (NCCL, "misc/ibvwrap.cc:210 Call to ibv_reg_mr_iova2 failed with error Cannot allocate memory"),
        ("spark1:268:391 [0] NCCL INFO NET/IB : Using [0]rocep1s0f1", "NET/IB : Using [0]rocep1s0f1"),
        ("(EngineCore_DP0 pid=12) ERROR 11-30 22:51:18 [core.py:7] boom", "EngineCore_DP0: boom"),
        ("(APIServer pid=1) INFO:     Started server process [1]", "APIServer: Started server process [1]"),
        ("(Worker_TP0 pid=268)     raise RuntimeError(", "Worker_TP0:     raise RuntimeError("),
        ("[rank1]: Traceback (most recent call last):", "Traceback (most recent call last):"),
        ("[rank1]:[E1130 22:00:00.1234 ProcessGroupNCCL.cpp:632] Watchdog", "ProcessGroupNCCL.cpp:632 Watchdog"),
        ("[2026-01-01 10:00:00 TP1] Load weight begin.", "Load weight begin."),
        ("[dsv41-mem] after init_device (11.9s) MemFree=1.1", "[dsv41-mem] after init_device (11.9s) MemFree=1.1"),
        ("plain words", "plain words"),
        ("", ""),
    ],
)
def test_the_message_stands_without_its_prefixes(text: str, expected: str) -> None:
    assert shown(text)[0] == expected


def test_a_match_is_marked_where_it_is_seen() -> None:
    assert shown(NCCL, typed="allocate")[1] == "allocate"
    assert shown(NCCL, typed="spark2")[1] == ""
    assert shown(NCCL, typed="NCCL WARN Call to")[1] == "Call to"
    assert shown("(APIServer pid=1) INFO:     up", typed="/^.api/")[1] == "API"
