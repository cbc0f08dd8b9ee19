"""The verb as a user calls it: contract, exit codes, pipes, several files, secrets, width."""

from __future__ import annotations

import gzip
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from dsv41_tui.__main__ import main
from dsv41_tui.cli.wrap import cells, command, wrapped
from dsv41_tui.core.messages import LANGUAGES
from dsv41_tui.runtime.language import load_language

REGISTRATION = (
    "spark-b:412:588 [0] misc/ibvwrap.cc:278 NCCL WARN "
    "Call to ibv_reg_mr_iova2 failed with error Cannot allocate memory"
)
PRESSURE = (
    "MemFree: 1.1 GiB, Cached: 109 GiB, MemAvailable: 108 GiB, CmaTotal: 0 kB, CmaFree: 0 kB, ulimit -l: unlimited"
)


def written(path: Path, text: str) -> str:
    path.write_text(text, "utf-8")
    return str(path)


def document(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict[str, object]]:
    code = main(["diagnose", "--json", *words])
    found = json.loads(capsys.readouterr().out)
    assert isinstance(found, dict)
    return code, found


def only(found: dict[str, object]) -> dict[str, object]:
    findings = found["findings"]
    assert isinstance(findings, list)
    (one,) = findings
    assert isinstance(one, dict)
    return one


def test_the_contract(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    log, context = written(tmp_path / "log", REGISTRATION + "\n"), written(tmp_path / "context", PRESSURE)
    code, found = document(capsys, log, "--context", context)
    assert code == 1
    assert {"schema", "taken_at", "findings", "lines"} == set(found)
    assert (found["schema"], found["lines"]) == (1, 1)
    one = only(found)
    assert set(one) == {
        "id", "severity", "title", "cause_id", "causes", "evidence", "fix", "node", "count", "first_line",
    }  # fmt: skip
    assert (one["severity"], one["cause_id"]) == ("error", "mem_page_cache_pressure")
    assert one["first_line"] == REGISTRATION


@pytest.mark.parametrize(
    ("readings", "cause"),
    [
        (PRESSURE, "mem_page_cache_pressure"),
        ("MemFree: 90 GiB\n$ ulimit -l\n8192", "memlock_ulimit"),
        ("MemFree: 88 GiB\nCmaTotal:        0 kB\nCmaFree:    940604 kB\nulimit -l: unlimited", "kernel_kho_cma"),
    ],
)
@pytest.mark.parametrize("place", ["in the log", "in a context", "before the line"])
def test_readings_decide_wherever_they_stand(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, readings: str, cause: str, place: str
) -> None:
    text = {"in the log": f"{REGISTRATION}\n{readings}\n", "before the line": f"{readings}\n{REGISTRATION}\n"}
    words = [written(tmp_path / "log", text.get(place, REGISTRATION))]
    if place == "in a context":
        words += ["--context", written(tmp_path / "context", readings)]
    one = only(document(capsys, *words)[1])
    assert one["cause_id"] == cause
    causes = one["causes"]
    assert isinstance(causes, list) and causes[0]["likelihood"] == "confirmed"


def test_without_readings_nothing_is_decided(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert only(document(capsys, written(tmp_path / "log", REGISTRATION))[1])["cause_id"] is None


def test_a_quiet_log_is_fine(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    log = written(tmp_path / "log", "INFO:     Application startup complete.\n" * 3)
    code, found = document(capsys, log)
    assert (code, found["findings"], found["lines"]) == (0, [], 3)


def test_several_files_are_one_timeline(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """The cause stands in the second file and is older; the first one only echoes it."""
    echo = "vllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue. See stack trace (above)"
    head = written(tmp_path / "head", f"2026-11-30T10:00:05Z {echo}\n")
    worker = written(tmp_path / "worker", f"2026-11-30T10:00:01Z {REGISTRATION}\n2026-11-30T10:00:09Z bye\n")
    code, found = document(capsys, head, worker)
    one = only(found)
    assert (code, found["lines"]) == (1, 3)
    assert str(one["first_line"]).endswith(REGISTRATION)
    evidence = one["evidence"]
    assert isinstance(evidence, list)
    assert {item["source"] for item in evidence if item["line"]} == {head, worker}


def test_a_broken_configuration_and_a_broken_own_file_do_not_stop_it(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, home: Path
) -> None:
    own = home / "xdg" / "dsv41-tui" / "failures"
    own.mkdir(parents=True)
    (own.parent / "config.toml").write_text("= broken [")
    (own / "mine.toml").write_text('id = "mine"\nlayer = ')
    assert main(["diagnose", written(tmp_path / "log", REGISTRATION)]) == 1
    out = capsys.readouterr()
    assert "ibv_reg_mr_iova2" in out.out and "mine.toml" not in out.out
    assert "mine.toml" in out.err and out.err.count("\n") == 1 and "Traceback" not in out.err


def test_secrets_are_masked(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    line = f"HF_TOKEN=hf_abcdefghijklmnopqrst http://u:hunter2@h/ {REGISTRATION}"
    for words in (["--json"], []):
        assert main(["diagnose", *words, written(tmp_path / "log", line)]) == 1
        out = capsys.readouterr().out
        assert "abcdefghijklm" not in out and "hunter2" not in out and "HF_TOKEN=***" in out


@pytest.mark.parametrize("words", [["-", "-"], ["-", "--context", "-"], ["missing"], [".."], ["--nope", "x"]])
def test_a_wrong_call_is_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    assert main(["diagnose", *words]) == 2
    out = capsys.readouterr()
    assert out.out == "" and out.err.count("\n") == 1


def test_a_terminal_on_standard_input_is_not_waited_for(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr("sys.stdin", Terminal())
    assert main(["diagnose"]) == 2
    assert "docker logs" in capsys.readouterr().err


def call(data: bytes, *words: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "dsv41_tui", "diagnose", *words],
        input=data,
        capture_output=True,
        timeout=60,
        check=False,
    )


def test_a_pipe_and_no_textual() -> None:
    code = (
        "import sys; from dsv41_tui.__main__ import main; code = main(['diagnose']);"
        "assert not {'textual', 'asyncssh', 'httpx'} & set(sys.modules); sys.exit(code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], input=gzip.compress(REGISTRATION.encode()), capture_output=True, check=False
    )
    assert done.returncode == 1, done.stderr
    assert b"ibv_reg_mr_iova2" in done.stdout and b"\x1b" not in done.stdout


def test_a_reader_that_leaves_early() -> None:
    shell = f"printf '%s\\n' '{REGISTRATION}' | {sys.executable} -m dsv41_tui diagnose --json | head -1"
    done = subprocess.run(["sh", "-c", shell], capture_output=True, check=False)
    assert done.stdout == b"{\n" and b"Traceback" not in done.stderr and b"BrokenPipe" not in done.stderr


@pytest.mark.parametrize(
    ("ends", "says"),
    [
        (">/dev/full", "could not be written: No space left on device"),
        ("--json >/dev/full", "could not be written: No space left on device"),
        (">&-", "no standard output"),
        ("- <&-", "diagnose needs a log"),
    ],
)
def test_ends_that_are_full_or_closed_are_one_line(tmp_path: Path, ends: str, says: str) -> None:
    (tmp_path / "log").write_text(REGISTRATION)
    file = "" if ends.startswith("- ") else str(tmp_path / "log")
    shell = f"{sys.executable} -m dsv41_tui diagnose {file} {ends}"
    done = subprocess.run(["sh", "-c", shell], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and says in done.stderr and len(done.stderr.splitlines()) == 1, done.stderr


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("width", [40, 80, 120])
def test_the_report_keeps_to_the_width(tmp_path: Path, language: str, width: int) -> None:
    from dsv41_tui.cli.findings import report
    from dsv41_tui.runtime.diagnosis import diagnose

    load_language(language)
    try:
        log = written(tmp_path / "log", f"{REGISTRATION}\n{'x' * 300}\nulimit -l: 64")
        lines = report(diagnose([log], [], print, 2026), width, colour=False)
    finally:
        load_language("en")
    plain = [line for line in lines if not line.startswith(("    $", "      "))]
    assert len(plain) > 5 and max(map(cells, plain)) <= width
    assert any("●" in line for line in lines) and any("×" in line or "○" in line for line in lines)


def test_wrapping_keeps_every_word() -> None:
    text = "記憶體 page cache 佔住記憶體，MemFree 只剩 1.1 GiB。" * 3
    lines = wrapped(text, 30, "  ● ")
    assert max(map(cells, lines)) <= 31
    assert "".join("".join(lines).split()) == "●" + "".join(text.split())


def test_a_long_command_goes_on_where_a_shell_goes_on() -> None:
    text = "sudo sed -i 's/^GRUB=\"/&kho=off /' /etc/default/grub && sudo update-grub && sudo reboot"
    lines = command(text, 50, "    $ ")
    assert len(lines) > 1 and all(line.endswith(" \\") for line in lines[:-1])
    assert " ".join(line.strip().removeprefix("$ ").removesuffix("\\").strip() for line in lines) == text
