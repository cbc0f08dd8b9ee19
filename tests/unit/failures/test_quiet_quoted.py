"""What a line only quotes is told from what it says, by its form."""

from __future__ import annotations

import pytest
from failure_builders import book, counts, rule, scanned

from dsv41_tui.core.quoted import unquoted

SAID = "CUDA out of memory"


def left(line: str, *before: str) -> str:
    return unquoted(line, lambda: before)


@pytest.mark.parametrize(
    "line",
    [
        f"INFO 10-04 [logger.py:43] Received request c-1: prompt: 'why {SAID}?', params: SamplingParams(n=1)",
        f"""INFO 10-04 [logger.py:43] Received request c-1: prompt: "it's {SAID}", params: SamplingParams(n=1)""",
        f"[2026-07-01 10:00:00] Receive: obj=GenerateReqInput(rid='7', text='{SAID}', input_ids=None)",
        f'{{"model":"m","messages":[{{"role":"user","content":"a \\"quote\\" of {SAID}"}}]}}',
        f"POST Request Sent: curl -d '{{'messages': [{{'role': 'user', 'content': '{SAID}'}}]}}'",
        f'request_body="{{\\"messages\\": [{{\\"content\\": \\"{SAID}\\"}}]}}"',
        f'      "content": "{SAID}",',
        f'"messages": [{{"type": "text", "text": "{SAID}"}}]',
        f"$ grep -i '{SAID}' serve.log",
        f'docker logs vllm 2>&1 | grep "{SAID}"',
        f'  412  echo "{SAID}" | tee note',
        f"Oct 04 10:00:00 spark sudo[9]: op : COMMAND=/usr/bin/rg {SAID}",
        f"User: why do I get {SAID}?",
        f"**Q:** what does {SAID} mean",
        f"# {SAID}: lower it",
        f"- `{SAID}`: lower gpu_memory_utilization",
        f"2. {SAID} -> restart the container",
        f"- `{SAID}`：請降低",
        f"If you see {SAID}, read on",
        f'    raise RuntimeError("{SAID}")',
        f'src/a.py:12:    log.error("{SAID}")',
        f"restart: no # else {SAID} loops",
    ],
)
def test_quoted(line: str) -> None:
    assert SAID not in left(line)


@pytest.mark.parametrize(
    ("before", "line"),
    [
        (("```python",), f'    x = "{SAID}"'),
        (("assistant: it is", "a sentence"), f"about {SAID} and more"),
        (("| error | fix |", "|---|---|", "| a | b |"), f"| {SAID} | lower it |"),
        (("## Troubleshooting", "text", "```"), f"RuntimeError: {SAID}"),
        (("diff --git a/x b/x", "@@ -1,2 +1,2 @@"), f"+ {SAID}"),
    ],
)
def test_quoted_by_what_stands_above(before: tuple[str, ...], line: str) -> None:
    assert left(line, *before) == ""
    assert left(line) == line


@pytest.mark.parametrize(
    ("before", "line"),
    [
        ((), f"torch.OutOfMemoryError: {SAID}. If reserved memory is large try setting it"),
        ((), f"(EngineCore pid=9) ERROR 10-01 [core.py:9]     raise RuntimeError('{SAID}')"),
        ((), f'{{"error":{{"message":"{SAID}","code":500}}}}'),
        ((), f'{{"log":"{SAID}\\n","stream":"stderr"}}'),
        ((), f"grep: /mnt/nas: {SAID}"),
        (("```",), f"RuntimeError: {SAID}"),
        (("```text",), f"RuntimeError: {SAID}"),
        (("```console", "$ docker logs vllm"), f"RuntimeError: {SAID}"),
        (("```python", "x", "```"), f"RuntimeError: {SAID}"),
        (("user: my log says", ""), f"RuntimeError: {SAID}"),
        (("user: my log says", "INFO 10-04 start"), f"RuntimeError: {SAID}"),
        (("## Troubleshooting",), f"ERROR 10-04 [core.py:9] {SAID}"),
        (('  File "/a.py", line 3, in f',), f'    raise RuntimeError("{SAID}")'),
        (("+-----+-----+", "| GPU | Name |"), f"| {SAID} |"),
    ],
)
def test_said(before: tuple[str, ...], line: str) -> None:
    assert left(line, *before).startswith(line[: line.index(SAID) + len(SAID)])


def test_a_line_without_quotes_is_itself() -> None:
    line = f"INFO 10-04 [logger.py:43] prompt throughput: 0.0 tokens/s, {SAID}"
    assert left(line) is line


def test_a_scan_counts_what_is_said_alone() -> None:
    known = book(rule("oom", SAID))
    lines = ["```python", f'x = "{SAID}"', "```", f"user: {SAID}", "", f"RuntimeError: {SAID}"]
    assert counts(scanned(known, *lines)) == {"oom": 1}
    assert counts(scanned(known, *lines, batch=1)) == {"oom": 1}


def test_a_reply_is_judged_by_the_rules_of_quality_alone() -> None:
    known = book(rule("oom", SAID), rule("bad", f"content.{{0,9}}{SAID}", layer="quality"))
    assert counts(scanned(known, f'{{"choices":[{{"message":{{"content":"{SAID}"}}}}]}}')) == {"bad": 1}
    assert counts(scanned(known, f'{{"messages":[{{"role":"user","content":"{SAID}"}}]}}')) == {}


def test_what_is_over_for_one_is_not_over_for_another() -> None:
    known = book(rule("slow", "timeout of model", clears_on=(r"answered (?P<on>model=\w+)",)))
    one = scanned(known, "timeout of model=a", "answered model=a")
    other = scanned(known, "timeout of model=a", "answered model=b")
    assert [tally.over for tally in (*one.tallies, *other.tallies)] == [True, False]
