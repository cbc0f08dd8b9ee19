"""Every form in which a log comes gives the same lines; what is broken gives one line about it."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import os
import shutil
import subprocess
import threading
from pathlib import Path

import pytest

from dsv41_tui.core.errors import ConfigError
from dsv41_tui.runtime import unpack
from dsv41_tui.runtime.log_input import read_log
from dsv41_tui.runtime.log_lines import LINE_LIMIT

PLAIN = "one MemFree\nzwei größer 一\nthree\n" * 20_000
LINES = PLAIN.splitlines()


def read(path: Path | str) -> tuple[list[str], list[float | None], list[str]]:
    lines: list[str] = []
    times: list[float | None] = []
    notes: list[str] = []
    for batch in read_log(str(path), notes.append, 2026):
        assert len(batch.lines) == len(batch.at)
        lines += batch.lines
        times += batch.at
    return lines, times, notes


def written(folder: Path, data: bytes) -> Path:
    path = folder / "log"
    path.write_bytes(data)
    return path


FORMS = {
    "plain": PLAIN.encode(),
    "bom": b"\xef\xbb\xbf" + PLAIN.encode(),
    "crlf": PLAIN.replace("\n", "\r\n").encode(),
    "gzip": gzip.compress(PLAIN.encode()),
    "gzip members": gzip.compress(PLAIN[:90_000].encode()) + gzip.compress(PLAIN[90_000:].encode()),
    "gzip then zeros": gzip.compress(PLAIN.encode()) + b"\0" * 700,
    "bzip2": bz2.compress(PLAIN.encode()),
    "xz": lzma.compress(PLAIN.encode()),
    "utf-16 with mark": PLAIN.encode("utf-16"),
    "utf-16-le": PLAIN.encode("utf-16-le"),
    "utf-16-be": PLAIN.encode("utf-16-be"),
    "utf-16 in gzip": gzip.compress(PLAIN.encode("utf-16")),
    "colours": PLAIN.replace("one", "\x1b[1;36mone\x1b[0m").encode(),
    "nul": PLAIN.replace("one", "o\0ne").encode(),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same_lines(form: str, tmp_path: Path) -> None:
    lines, _, notes = read(written(tmp_path, FORMS[form]))
    assert lines == LINES
    assert notes == []


@pytest.mark.parametrize("damage", [b"\xff\xfe", b"\xfe\xff", b"\xff\xfe\xfd\x80"])
def test_damaged_bytes_at_the_start_are_no_mark(damage: bytes, tmp_path: Path) -> None:
    lines, _, _ = read(written(tmp_path, damage + b"\n" + PLAIN.encode()))
    assert lines[1:] == LINES


def test_a_fifo(tmp_path: Path) -> None:
    path = tmp_path / "fifo"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(PLAIN.encode(),))
    writer.start()
    assert read(path)[0] == LINES
    writer.join()


def test_standard_input(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with written(tmp_path, FORMS["gzip"]).open() as handle:
        monkeypatch.setattr("sys.stdin", handle)
        assert read("-")[0] == LINES


def test_zstd_by_the_program_or_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    packed = b"\x28\xb5\x2f\xfd" + b"rubbish"
    program = shutil.which("zstd")
    if program:
        packed = subprocess.run([program, "-qc"], input=PLAIN.encode(), stdout=subprocess.PIPE, check=True).stdout
        assert read(written(tmp_path, packed))[0] == LINES
        assert read(written(tmp_path, packed[: len(packed) // 2]))[2]
    monkeypatch.setattr(unpack.shutil, "which", lambda name: None)
    monkeypatch.setattr(unpack.importlib, "import_module", lambda name: (_ for _ in ()).throw(ImportError(name)))
    with pytest.raises(ConfigError) as caught:
        read(written(tmp_path, packed))
    assert "zstd" in caught.value.message and "\n" not in caught.value.message and caught.value.fix


@pytest.mark.parametrize("form", ["gzip", "bzip2", "xz"])
def test_packed_data_that_ends_early(form: str, tmp_path: Path) -> None:
    packed = FORMS[form]
    lines, _, notes = read(written(tmp_path, packed[:-6]))
    assert len(notes) == 1 and "\n" not in notes[0]
    assert lines == LINES[: len(lines)] or form != "gzip"


def test_damaged_gzip_gives_a_note(tmp_path: Path) -> None:
    packed = bytearray(gzip.compress(os.urandom(60_000)))
    packed[20_000:20_100] = b"\xff" * 100
    assert len(read(written(tmp_path, bytes(packed)))[2]) == 1


@pytest.mark.parametrize("word", ["", "missing", "a\0b"])
def test_nothing_to_read_is_one_line(word: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        read(f"{tmp_path}/{word}")
    assert "\n" not in caught.value.message and str(tmp_path) in caught.value.message


def test_progress_bars_keep_their_last_state_and_their_stamp(tmp_path: Path) -> None:
    data = b"2026-11-30T16:17:59.141469239Z p 10%\rp 50%\rp 100%\n\rfirst\rlast\r\nend\r"
    lines, times, _ = read(written(tmp_path, data))
    assert lines == ["2026-11-30T16:17:59.141469239Z p 100%", "last", "end"]
    assert times[0] == pytest.approx(1796055479.141469)


def test_a_long_line_keeps_head_and_tail_and_is_said(tmp_path: Path) -> None:
    data = b"before\nHEAD" + b"x" * 10_000_000 + b"TAIL\nafter\n" + b"y" * (LINE_LIMIT + 1) + b"\nlast"
    lines, _, notes = read(written(tmp_path, data))
    assert [lines[0], lines[2], lines[4]] == ["before", "after", "last"]
    assert lines[1].startswith("HEADx") and lines[1].endswith("xTAIL") and len(lines[1]) < LINE_LIMIT
    assert "y" * 100 in lines[3] and len(lines[3]) < LINE_LIMIT
    assert len(notes) == 1 and "10000008" in notes[0]


def test_escapes_without_an_end_do_not_eat_the_next_line(tmp_path: Path) -> None:
    data = b"a\x1b]0;title\nb\x1b[31\nc\x1bPq\nd\xff\xfe\x80\n"
    assert read(written(tmp_path, data))[0][:3] == ["a", "b", "c"]


def test_no_escape_of_any_kind_comes_through(tmp_path: Path) -> None:
    record = b'{"log":"x\\u001b]52;c;aGk=\\u0007y\\n","stream":"stdout","time":"2026-11-30T16:17:58Z"}'
    data = record + b"\n\x9b31mz\xc2\x9b31m\n"
    lines, _, _ = read(written(tmp_path, data))
    assert lines[0] == "xy" and all("\x1b" not in line and "\x9b" not in line for line in lines)


def test_records_of_docker(tmp_path: Path) -> None:
    stamp = "2026-11-30T16:17:58.5Z"
    records = [
        {"log": "a\n", "stream": "stdout", "time": stamp},
        {"log": "x" * 100, "stream": "stdout", "time": stamp},
        {"log": "err\n", "stream": "stderr", "time": stamp},
        {"log": "y\n", "stream": "stdout", "time": stamp},
        {"log": "p 1\rp 2\n", "stream": "stdout", "time": stamp},
        {"log": "no end", "stream": "stdout", "time": stamp},
    ]
    data = "\n".join(map(json.dumps, records)) + '\n{"log": torn\n{"other": 1}\n'
    lines, times, _ = read(written(tmp_path, data.encode()))
    assert lines == ["a", "err", "x" * 100 + "y", "p 2", '{"log": torn', '{"other": 1}', "no end"]
    assert times[:4] == [pytest.approx(1796055478.5)] * 4


def test_records_of_the_journal(tmp_path: Path) -> None:
    data = (
        '{"__REALTIME_TIMESTAMP":"1796054399120331","_HOSTNAME":"spark-01",'
        '"SYSLOG_IDENTIFIER":"kernel","MESSAGE":"NVRM: x"}\n'
        '{"__REALTIME_TIMESTAMP":"oops","MESSAGE":[78,86,82,77,10,255,300,"x"]}\n{"MESSAGE":null}\n'
    )
    lines, times, _ = read(written(tmp_path, data.encode()))
    assert lines == ["spark-01 kernel: NVRM: x", "NVRM", "\ufffd", ""]
    assert times[0] == pytest.approx(1796054399.120331) and times[1] is None


def test_lines_of_a_packed_bomb_stay_bounded(tmp_path: Path) -> None:
    lines, _, notes = read(written(tmp_path, gzip.compress(b"z" * 30_000_000)))
    assert len(lines) == 1 and len(lines[0]) < LINE_LIMIT and len(notes) == 1
