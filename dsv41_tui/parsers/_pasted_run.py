"""Containers, the engine and its proxy as people paste them: `docker inspect`, `docker ps`, engine logs, prose."""

from __future__ import annotations

import re

from dsv41_tui.core.facts import UNLIMITED_BYTES
from dsv41_tui.parsers._pasted_rules import (
    NUMBER,
    SIZE,
    SIZED,
    UNIT,
    Notes,
    Rule,
    gives,
    number,
    rule,
    said,
    says,
    to_bytes,
)

_REFUSED = re.compile(r"refused|failed to connect|couldn't connect|no answer|unreachable", re.IGNORECASE)


def _killed(match: re.Match[str], notes: Notes) -> None:
    """True anywhere is the failing container's."""
    if match[1].lower() in ("true", "yes", "1"):
        notes.put("oom_killed", True)
    else:
        notes.facts.setdefault("oom_killed", False)


def _exit_code(match: re.Match[str], notes: Notes) -> None:
    code = float(match[1])
    if code or "exit_code" not in notes.facts:
        notes.put("exit_code", code)


def _exited(match: re.Match[str], notes: Notes) -> None:
    """A row of `docker ps -a`."""
    _exit_code(match, notes)
    notes.put("container_state", "exited")
    if notes.distinct("container", "exited") > 1 or re.search(
        r"worker|rank[ _-]?[1-9]|peer", notes.line, re.IGNORECASE
    ):
        notes.put("peer_exited", True)


def _up(match: re.Match[str], notes: Notes) -> None:
    notes.facts.setdefault("container_state", "running")
    if notes.distinct("container", "up") > 1:
        notes.put("peer_exited", True)


def _status(match: re.Match[str], notes: Notes) -> None:
    state = match[1].lower()
    if state != "running" or "container_state" not in notes.facts:
        notes.put("container_state", state)


def _shm(match: re.Match[str], notes: Notes) -> None:
    notes.least("shm_size", to_bytes(match["n"], match["u"], lambda value: value))


def _limit(match: re.Match[str], notes: Notes) -> None:
    value = to_bytes(match["n"], match["u"], lambda value: value)
    notes.put("memory_limit", value or UNLIMITED_BYTES)


def _health(match: re.Match[str], notes: Notes) -> None:
    """`/health = 200`, `curl …/health: connection refused`; what comes before the first 200 is no answer."""
    if re.search(
        r"(?:before|until|no|never|not yet|wait\w*|first)[ \w]{0,16}$", match.string[: match.start()], re.IGNORECASE
    ):
        return
    said = match["said"]
    if re.search(r"unhealthy_endpoints|LiteLLM", notes.line):
        return
    if said.isdigit():
        notes.put("health", said)
        if said == "200":
            notes.put("ready", True)
    else:
        notes.put("health", "refused" if _REFUSED.search(said) else "timeout")


def _running(match: re.Match[str], notes: Notes) -> None:
    running = number(match[1])
    notes.put("running", running)
    notes.put("idle", running == 0)


def _statistics(match: re.Match[str], notes: Notes) -> None:
    """The line of every ten seconds of an engine that serves."""
    notes.put("ready", True)
    notes.put("loading", False)


def _kv(match: re.Match[str], notes: Notes) -> None:
    value = number(match["n"])
    notes.put("kv_usage", value / 100 if match["p"] or value > 1 else value)


def _ratio(match: re.Match[str], notes: Notes) -> None:
    value = number(match["n"])
    notes.put("spec_accept", value / 100 if match["p"] or value > 1 else value)


def _bar(match: re.Match[str], notes: Notes) -> None:
    """`19/39` of the shards; two different states in one text are progress."""
    done, total = int(match["done"]), int(match["total"])
    if not 0 < total < 10_000 or done > total:
        return
    notes.put("loading", done < total)
    if done and notes.distinct("shards", match["done"]) > 1:
        notes.put("progress", True)


def _starts(match: re.Match[str], notes: Notes) -> None:
    notes.put("ready", False)
    notes.put("loading", True)


def _served(match: re.Match[str], notes: Notes) -> None:
    notes.put("ready", True)
    notes.put("loading", False)


def _joined(match: re.Match[str], notes: Notes) -> None:
    notes.put("ranks_joined", float(match[1]))
    notes.put("ranks_expected", float(match[2]))


def _proxy(match: re.Match[str], notes: Notes) -> None:
    said = match["said"].lower()
    notes.put("proxy_ok", said in ("200", "ok", "work", "works", "answers", "fine", "succeed", "succeeds"))


def _old(match: re.Match[str], notes: Notes) -> None:
    notes.put("port_owner_old", True)


_COMPARED = re.compile(
    r"\b(?:clean|fine|good|normal|correct|no (?:mix\w*|problem|trouble)|does(?: not|n't)|do(?: not|n't)|without|never"
    r"|compared|instead|another|other build|recommended|hf download|switch\w* to|moved? to|try|vs\.?|versus|than)\b",
    re.IGNORECASE,
)
"""A build that is told beside this one."""


def _bits(match: re.Match[str], notes: Notes) -> None:
    """Of this system's weights: `a 4.0 bpw build does not do it` is the build that it is compared with."""
    before = re.split(r"[,;] ?|\.(?!\d) ?", match.string[max(0, match.start() - 60) : match.start()])[-1]
    after = re.split(r"[,;]|\.(?!\d)", match.string[match.end() : match.end() + 80])[0]
    if not _COMPARED.search(before + " / " + after):
        notes.put("bits_per_weight", number(match[1]))


_SPEC_WORDS = "spec speculation speculative speculating drafting mtp eagle draft"
_SPEC_OFF = (
    r"(?:\bSPEC(?:_METHOD)?[=: ]{1,2}(?:none|off|0)\b|\b(?:spec\w{0,12}|drafting|MTP|EAGLE\d?)(?: decoding)?(?: is)?"
    r"[ -](?:off|disabled)\b|\b(?:without|no|disabling)[ -](?:any )?(?:spec\w{0,12}|drafting|MTP|draft model)"
    r"(?: decoding)?\b)(?: ?\([^()\n]{1,32}\))?"
)
_INPUT = r"(?:weights|prompts?|seeds?|model|settings|config|transcripts?|inputs?|requests?|temperature|checkpoint)"
_ALIKE = rf"(?:,? ?(?:with )?(?:the )?same {_INPUT}(?:(?:,| and)? ?(?:the )?same {_INPUT})?)?"
_UTILIZATION = r"gpu[-_ ]memory[-_ ]util\w{0,8}(?:[\"']?[ =:(]{1,3})(\d\.\d{1,4})"
RULES: tuple[Rule, ...] = (
    rule("oomkilled", r"OOM_?Killed[\"']?(?: is| was|[ =:]){1,4}(true|false|yes|no)\b", _killed, every=True),
    rule("exitcode exit", r"(?:ExitCode[\"']?|exit(?:ed with)?(?: code| status))(?: is| was"
        r"|[ =:(]){1,4}(\d{1,3})\b", _exit_code,
         every=True),
    rule("exit exited rc", r"\b(?:exit(?:ed)?(?: with)?|rc)[ =:]{1,2}(\d{1,3})\b(?! ?(?:min|s\b|h\b|ago"
        r"|times))", _exit_code, every=True),
    rule("exited", r"\bExited \((\d{1,3})\)", _exited, every=True),
    rule("up", r"(?:^|\s{2}|[:=] ?)Up (?:\d{1,3}|About|Less than|an?) ?\w{0,8} ?\w{1,7}", _up, every=True),
    rule("status", r"\"Status\": ?\"(running|exited|created|restarting|paused|dead|removing)\"", _status, every=True),
    gives("restartcount restarted restarts", r"(?:RestartCount[\"']?[ :=]{1,3}|restarted "
        r"|restarts[ :=]{1,3})(\d{1,6})\b(?! ?(?:min|h|s|d))",
          "restart_count"),
    said("peer worker rank container", r"(?:worker|peer|rank ?[1-9]\d?|other (?:rank"
        r"|node)(?:'s)?)(?:'s)? (?:container |process )?(?:has |had |is |was )?"
         r"(?:already )?(?:exited|gone|dead|not running|stopped|died|ended|killed)", peer_exited=True),
    says("peer worker rank workers ranks", r"(?:worker|peer|rank ?[1-9]\d?|both (?:ranks"
        r"|containers))(?:'s)? (?:container )?(?:is |are )?(?:still )?"
         r"(?:running|alive|up)\b", "peer_exited", False),
    rule("shmsize", rf"ShmSize[\"']?[ :=]{{1,3}}{SIZE}", _shm, every=True),
    rule("shm", rf"(?:shm[-_]size|/dev/shm|\bshm)[\"']?(?: (?:is|of|only|has|size|total|in|the|container)"
        rf"|[ :=]){{1,6}}[\"']?(?P<n>{NUMBER}) ?(?P<u>{UNIT})",
         _shm, every=True),
    rule("memory", r"\"Memory\": ?(?P<n>\d{1,18})(?P<u>),", _limit, every=True),
    said("memory limit", r"\b(?:HostConfig\.)?Memory\b(?: is| was|[ :=]){1,3}0(?![\d.,])|\bno (?:container )?memory"
         r" limit\b|\bmemory limit(?: is| was|[ :=]){1,3}(?:0|none|unset|not set|unlimited)(?![\d.,])",
         memory_limit=UNLIMITED_BYTES),
    rule("memory limit", rf"(?:memory[. ](?:limit|max)|--memory)(?: is| of|[ :=]){{1,4}}{SIZED}", _limit),
    rule("health", r"(?:/health\b|\bhealth(?: ?check| endpoint)?\b)[\"']?(?: (?:HTTP/1\.[01]\"|says|still|is|was"
        r"|gives|returns?|answers?|now|status"
         r"|curl)|[ :=→\"(]|->|- ){1,8}(?:\(\d{1,2}\) )?(?:HTTP )?(?P<said>[1-5]\d\d|connection refused|refused"
         r"|failed to connect|couldn't connect"
         r"|time[ds]? ?out|timeout|no answer|no response|unreachable|hangs|does not answer)\b", _health),
    rule("curl", r"curl: \(\d{1,2}\)[^\n]{0,80}(?P<said>refused|timed out|Failed to connect"
        r"|couldn't connect)", _health),
    rule("health", r"(?P<said>Failed to connect|connection refused|timed out)[^\n]{0,60}/health\b", _health),
    rule("curl connect", r"curl[^\n]{0,80}/health[^\n]{0,60}(?P<said>refused|timed out|couldn't connect"
        r"|Failed to connect|000)", _health),
    says("health healthy ready", r"(?:before|until|wait\w{0,3} for)(?: the| its)? (?:first )?(?:/health|health"
        r"|healthy|ready|readiness)|never (?:became |got |was )?(?:healthy|ready)"
         r"|not (?:yet )?(?:healthy|ready|up|serving)(?: yet)?\b|without becoming healthy|(?:service"
         r"|server) not yet up", "ready", False),
    says("healthy serving served ready served running", r"(?:was|been|is|were|had been) (?:healthy|serving|ready"
        r"|up and serving)(?: for| since| \d| until| before)"
         r"|\bserved (?:fine |well |requests )?for\b|after \d{1,4} ?(?:min|minutes|h|hours"
         r"|days?)(?: of)? serving", "ready", True),
    says("healthy served serving booting starting", r"\b(?:not serving|never served|has not served|still (?:booting"
        r"|starting))\b", "ready", False),
    says("healthy", r"\b(?:up and |still |was )healthy\b(?! (?:yet|until))|\bhealthy (?:since|for"
        r"|before)\b", "ready", True),
    says("application uvicorn", r"Application startup complete|Uvicorn running on", "ready", True),
    rule("application", r"Application startup complete", _served),
    rule("initializing engine", r"Initializing a V\d LLM engine|vLLM API server version", _starts),
    rule("throughput", r"Avg (?:prompt|generation) throughput:", _statistics),
    rule("running", r"(?:\bRunning"
        r"|num_requests_running(?:\{[^}\n]{0,200}\})?)[ :=]{1,3}(\d{1,6})(?:\.0)?(?! ?(?:GiB|GB|h|min|s)\b)", _running),
    gives("waiting", r"(?:\bWaiting"
        r"|num_requests_waiting(?:\{[^}\n]{0,200}\})?)[ :=]{1,3}(\d{1,6})(?:\.0)?\b", "waiting"),
    says("idle requests request running", r"\b(?:engine|server|service|vllm|model) (?:is |was )?idle\b"
        r"|no (?:requests?|streams?) (?:is |are |was |were )?(?:running|active)"
         r"|nothing (?:was )?running", "idle", True),
    says("requests request", r"\bno requests? (?:in flight|pending|waiting|was sent|at all)"
        r"|\b0 requests running", "idle", True),
    rule("kv", rf"\bKV(?: cache)? (?:is |at |only )?(?P<n>{NUMBER}) ?(?P<p>%)", _kv),
    said("prefill request requests running", r"\bin (?:a |the )?(?:long )?prefill|prefill (?:was )?running"
        r"|requests? (?:was |were |still )?running\b(?<!no requests running)",
         idle=False),
    rule("cache", rf"(?:(?:GPU )?KV cache usage|(?:kv|gpu)_cache_usage(?:_perc)?(?:\{{[^}}\n]{{0,200}}\}})?"
        rf"|KV usage)(?: is| was| only|[ :=]){{1,4}}(?P<n>{NUMBER})(?:e-\d\d)? ?(?P<p>%)?",
         _kv),
    gives("cache", rf"GPU KV cache size: ({NUMBER}) tokens", "kv_tokens"),
    gives("kv", rf"KV (?:sizing|pool|cache)[^\n\d]{{0,12}}({NUMBER}) tokens", "kv_tokens"),
    gives("gpu utilization", _UTILIZATION, "gpu_memory_utilization"),
    gives("utilization", r"desired GPU memory utilization \((\d\.\d{1,4}),", "gpu_memory_utilization"),
    rule("version engine", r"(?:vLLM API server version|LLM engine \(v"
        r"|vllm(?: version)?[ :=]{1,2}v?)(?P<v>\d\.\d{1,3}\.\d{1,3}[\w.+]{0,24})",
         lambda match, notes: notes.put("engine_version", match["v"])),
    rule("clients", r"\b(\d{1,3})/(\d{1,3}) clients joined", _joined),
    rule("shard shards", r"shards?\b[^\n]{0,60}?(?<![\d/])(?P<done>\d{1,4})/(?P<total>\d{1,4})(?![\d/])",
        _bar, every=True),
    says("loading", r"(?:still |is |was )loading|weights (?:are )?(?:still )?(?:being )?load(?:ed"
        r"|ing)\b(?! took)", "loading", True),
    says("grow growing grows increase increasing rising moving rise advancing advance climbs", r"(?:read |NFS "
        r"|byte |progress |token |shard )?(?:counters?|bytes|reads|shards?|bar|throughput)"
         r"(?: %)? (?:still |keep |keeps |are |is )?(?:grow|increas|ris|mov|advanc|climb)\w{0,4}", "progress", True),
    says("progress flow tokens", r"progress lines? (?:still )?com|tokens (?:still )?flow|makes? progress"
        r"|still (?:making )?progress", "progress", True),
    says("progress stuck flat frozen silent counters", r"\bno (?:further |more )?progress|stuck at|(?:read "
        r"|NFS )?(?:counters?|bytes) (?:are |is |stay |do(?:es)? )?(?:flat|frozen|not (?:grow|move|change)|stand)",
         "progress", False),
    rule("acceptance", rf"(?:Avg )?(?:draft )?acceptance rate[ :=]{{1,3}}(?P<n>{NUMBER}) ?(?P<p>%)?", _ratio),
    rule("bpw", r"(?<![\d.])(\d(?:\.\d{1,2})?) ?bpw", _bits, every=True),
    rule("bits", r"(?<![\d.])(\d(?:\.\d{1,2})?) bits? per weight", _bits, every=True),
    said(_SPEC_WORDS, rf"{_SPEC_OFF}[\s:,=)(]{{1,3}}(?:(?:is|it|gives?|the|stays?|looks|changes|makes|result"
         rf"|output|answers|are|and) ){{0,4}}(?:same(?! {_INPUT})|still|persists?|no (?:change|diff\w*)"
         r"|nothing|unchanged|as bad|identical|does(?: not|n't) (?:help|change))\b", spec_off_cures=False),
    said(_SPEC_WORDS, rf"\b(?:same|still there|persists|unchanged|no (?:change|difference)) (?:with )?"
         rf"{_SPEC_OFF}", spec_off_cures=False),
    said(_SPEC_WORDS, rf"{_SPEC_OFF}{_ALIKE}[\s:,=)(]{{1,3}}(?:(?:is|it|the|output|answers|are|all|text) ){{0,4}}"
         r"(?:clean|fine|correct|gone|disappears|cures|good|normal)\b", spec_off_cures=True),
    rule("proxy litellm", r"(?:through|via|over) (?:the )?(?:proxy|litellm)[^\n]{0,30}?\b(?P<said>200|work|works|ok"
        r"|answers|fine|succeeds?|fails?|5\d\d|4\d\d|refused)\b",
         _proxy),
    rule("proxy litellm", r"(?:proxy|litellm)(?:'s)? (?:chat|requests?|completions?)[^\n;,]{0,16}\b(?P<said>200"
        r"|works?|ok|fine|fails?|5\d\d)\b", _proxy),
    rule("owned held listener container", r"\d{2,5} is (?:owned|held|used|taken|bound) by (?:container|process"
        r"|an? old(?:er)?)[^\n]{0,60}(?:started|ago|old|Up )", _old),
    rule("older stale listener old", r"listen\w*[^\n]{0,60}(?:older than|started \d{1,4} ?(?:h|hours|days"
        r"|min\w*) ago|from (?:the|a) (?:previous|old|last))", _old),
)  # fmt: skip
