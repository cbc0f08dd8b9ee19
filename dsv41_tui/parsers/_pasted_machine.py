"""Kernel and GPU as people paste them: `uname`, `uptime`, `nvidia-smi`, prose."""

from __future__ import annotations

import re

from dsv41_tui.parsers._pasted_rules import NUMBER, SIZED, Notes, Rule, gives, number, rule, tells, to_bytes


def _kernel(match: re.Match[str], notes: Notes) -> None:
    notes.put("kernel", match["k"].rstrip(".,;:"))


def _uname(match: re.Match[str], notes: Notes) -> None:
    for line in notes.after(2):
        if found := re.match(r"^\s{0,4}(?:Linux \S{1,64} )?(\d{1,2}\.\d{1,3}[\w.+~-]{0,60})", line):
            notes.put("kernel", found[1])
            return


def _machine(match: re.Match[str], notes: Notes) -> None:
    notes.put("arch", {"arm64": "aarch64", "amd64": "x86_64"}.get(match[1].lower(), match[1].lower()))


def _kho(match: re.Match[str], notes: Notes) -> None:
    notes.put("kho", match[1].lower() in ("on", "1", "y", "yes", "enabled", "enable", "active"))


def _uptime(match: re.Match[str], notes: Notes) -> None:
    parts = ((86400, match["d"]), (3600, match["h"]), (60, match["m"] or match["only"]))
    seconds = sum(scale * int(text) for scale, text in parts if text)
    if seconds:
        notes.put("uptime_s", float(seconds))


def _gpu(notes: Notes, util: str | None, watts: str | None, mhz: str | None = None, celsius: str | None = None) -> None:
    """One GPU at one moment. Of several the one that is busy on the least power is the failing node's."""
    given = {"gpu_util": util, "gpu_watts": watts, "gpu_mhz": mhz, "gpu_celsius": celsius}
    read = {name: number(text) for name, text in given.items() if text}
    known = notes.facts
    busy_before, busy_now = float(known.get("gpu_util", 0)) >= 50, read.get("gpu_util", 100) >= 50
    if busy_before and "gpu_util" in read and not busy_now:
        return
    before, now = known.get("gpu_watts"), read.get("gpu_watts")
    both_busy = busy_before and "gpu_util" in read and busy_now
    if both_busy and isinstance(before, float) and now is not None and now > before:
        return
    notes.facts.update(read)


def _gpu_prose(match: re.Match[str], notes: Notes) -> None:
    line = match.string[match.start() : match.start() + 240]
    _gpu(notes, match["util"], _first(r"(\d{1,4}(?:\.\d{1,2})?) ?W(?:atts?)?\b", line),
         _first(r"(\d{2,4}) ?MHz\b", line), _first(r"(\d{2,3}) ?(?:°|deg)? ?C\b", line))  # fmt: skip


def _first(pattern: str, text: str) -> str | None:
    found = re.search(pattern, text)
    return found[1] if found else None


def _table_row(match: re.Match[str], notes: Notes) -> None:
    """`| N/A   67C    P0    16W /  N/A  | Not Supported |   0%   Default |` of plain `nvidia-smi`."""
    _gpu(notes, match["util"], match["watts"], None, match["c"])


_QUERY = {
    "utilization.gpu": "gpu_util", "power.draw": "gpu_watts", "power.draw.instant": "gpu_watts",
    "power.draw.average": "gpu_watts", "clocks.sm": "gpu_mhz", "clocks.current.sm": "gpu_mhz", "clocks.gr": "gpu_mhz",
    "temperature.gpu": "gpu_celsius", "driver_version": "driver",
}  # fmt: skip


def _query(match: re.Match[str], notes: Notes) -> None:
    """CSV of `nvidia-smi --query-gpu=…` with its columns named by the call or the head line."""
    columns = [re.sub(r" ?\[.{0,8}\]", "", cell).strip().lower() for cell in match["columns"].split(",")]
    for line in notes.after(12):
        cells = [cell.strip() for cell in line.split(",")]
        if len(cells) != len(columns):
            if cells[0].startswith(columns[0]) or not line.strip() or len(columns) < 2:
                continue
            return
        row = {_QUERY[column]: _first(r"^(\d[\d.]{0,12})", cell) for column, cell in zip(columns, cells, strict=True)
               if column in _QUERY}  # fmt: skip
        if any(row.values()):
            if row.get("driver"):
                notes.put("driver", str(row["driver"]))
            _gpu(notes, row.get("gpu_util"), row.get("gpu_watts"), row.get("gpu_mhz"), row.get("gpu_celsius"))


_APP = re.compile(
    r"(?:^\s*(?:GPU-[\w-]{8,40},\s{0,4})?|^\|\s{1,8}\d{1,2}\s{1,8}(?:N/A\s{1,8}N/A\s{1,8})?)"
    r"(?P<pid>\d{2,10}),?\s{1,8}(?:[CG+]{1,3}\s{1,8})?(?:(?P<name>[^,|]{1,120}?),?\s{1,60})??"
    r"(?P<n>\d{1,9}) ?(?P<u>MiB|GiB)?\s{0,4}\|?\s*$"
)
_ENGINE = re.compile(r"vllm|sglang|engine|worker|ray::", re.IGNORECASE)


def _apps(match: re.Match[str], notes: Notes) -> None:
    """Processes on the GPU: rows below `--query-compute-apps` or the `Processes:` table."""
    rows = []
    ended = False
    for line in notes.after(24):
        found = _APP.match(line)
        if found:
            rows.append(found)
        elif rows or re.search(r"\$ |no running processes", line, re.IGNORECASE):
            ended = True
            break
    if not rows and not ended:
        return
    sizes = [(to_bytes(row["n"], row["u"] or "MiB"), row["name"] or "") for row in rows]
    notes.put("compute_apps", float(len(rows)))
    notes.put("compute_apps_bytes", float(sum(size for size, _ in sizes)))
    for size, name in sizes:
        if name and not _ENGINE.search(name):
            notes.most("other_process_bytes", size)


def _no_apps(match: re.Match[str], notes: Notes) -> None:
    notes.put("compute_apps", 0.0)
    notes.put("compute_apps_bytes", 0.0)


def _held(match: re.Match[str], notes: Notes) -> None:
    """The engine's own process, named with what it holds of the GPU."""
    notes.facts.setdefault("compute_apps", 1.0)
    notes.most("compute_apps_bytes", to_bytes(match["n"], match["u"]))


def _other(match: re.Match[str], notes: Notes) -> None:
    """`hf upload process RSS 7 GiB`: a process that is not the engine's."""
    clause = re.split(r"[;,.(]", match.string[max(0, match.start() - 60) : match.start()])[-1]
    if not _ENGINE.search(clause):
        notes.most("other_process_bytes", to_bytes(match["n"], match["u"]))


def _ps_head(match: re.Match[str], notes: Notes) -> None:
    """`ps aux` or `ps -eo pid,rss,comm`: kB in the column RSS."""
    column = notes.line.split().index("RSS")
    for line in notes.after(30):
        cells = line.split()
        if len(cells) <= column or not cells[column].isdigit():
            return
        if not _ENGINE.search(line):
            notes.most("other_process_bytes", int(cells[column]) * 1024.0)


_VERSION = r"(?P<k>\d{1,2}\.\d{1,3}(?:\.\d{1,4})?(?:[-+~][\w.+~-]{1,60})?)"
RULES: tuple[Rule, ...] = (
    rule("uname", rf"uname -[ra]\b(?:[ )'\"`:=：→]|->|is|on|the|worker|head|both"
        rf"|nodes?){{0,8}}(?:Linux \S{{1,64}} )?{_VERSION}",
         _kernel),
    rule("uname", r"uname -[ra]{1,2}['\"`)\s]{0,4}$", _uname, every=True),
    rule("linux", rf"\bLinux version {_VERSION}", _kernel),
    rule("linux", rf"^\s{{0,8}}(?:\$ .{{0,20}})?Linux [\w.-]{{1,64}} {_VERSION} #\d", _kernel),
    rule("kernel", rf"\bkernel(?: version| release| is| was| still| now"
        rf"|[ :=：]){{1,4}}(?:Linux )?{_VERSION}(?![\w:])", _kernel),
    rule("內核 nvidia", r"(?<![\w.])(?P<k>\d{1,2}\.\d{1,3}\.\d{1,3}-\d{1,5}-nvidia(?:-[\w.]{1,20})?)", _kernel),
    rule("~", rf"(?:核心|内核|內核)(?:版本|[ :：=是為为]){{0,4}}{_VERSION}", _kernel),
    rule("linux arch uname aarch arm amd x", r"\b(aarch64|arm64|x86_64|amd64)\b(?= GNU/Linux| *$)", _machine),
    rule("kho", r"\bkho ?= ?(on|off|1|0|y|n|yes|no)\b", _kho),
    rule("kho", r"\bKHO:? (?:is |was |has been |kexec handover )?(on|off|enabled|disabled|active|inactive)\b", _kho),
    rule("kexec", r"kexec hand-?over:? (?:is |was |has been )?(on|off|enabled|disabled|active)\b", _kho),
    rule("up uptime", r"\bup(?:time)?:?\s{1,4}(?:(?P<d>\d{1,5}) days?,?\s{0,4})?(?:(?P<h>\d{1,2}):(?P<m>\d\d)"
        r"|(?P<only>\d{1,3}) min)",
         _uptime),
    tells("driver", r"\bDriver Version:? {1,4}(\d{3}\.\d{1,4}(?:\.\d{1,3})?)", "driver"),
    tells("driver", r"\b(?:NVIDIA )?driver(?: version| is"
        r"|[ :=]){1,3}(\d{3}\.\d{1,4}(?:\.\d{1,3})?)(?![\w.])", "driver"),
    tells("nvrm", r"NVRM version:.{0,80}?\s(\d{3}\.\d{1,4}(?:\.\d{1,3})?)\s", "driver"),
    rule("gpu nvidia util utilization", r"\b(?:GPUs?(?! (?:KV|mem|cache|prefix))|NVIDIA GB10"
        r"|util\w{0,9})\b[^\n\d%]{0,40}(?:\d,? ?)?(?:P\d, )?"
         r"(?<![\d.])(?P<util>\d{1,3}(?:\.\d)?) ?%", _gpu_prose, every=True),
    rule("w", r"\bGPU\b[^\n%]{0,40}?\b(?P<util>)(?P<w>\d{1,3}(?:\.\d{1,2})?) ?W\b(?![^\n]{0,30}%)", lambda match, notes:
         _gpu(notes, None, match["w"]), every=True),
    rule("mhz", r"(?:\bSM|\bclocks?(?:\.sm)?|\bGPU)\b[^\n\d]{0,24}(?P<m>\d{3,4}) ?MHz", lambda match, notes:
         _gpu(notes, None, None, match["m"]), every=True),
    rule("default", r"\|\s{0,4}(?:N/A"
        r"|\d{1,3}%)\s{1,6}(?P<c>\d{1,3})C\s{1,6}P\d\s{1,24}(?P<watts>\d{1,4})W / [^|]{1,16}\|"
         r"[^|]{1,40}\|\s{1,12}(?P<util>\d{1,3})%", _table_row, every=True),
    rule("gpu", r"--query-gpu=(?P<columns>[\w.,]{4,600})", _query, every=True),
    rule("utilization power temperature clocks", r"^(?P<columns>(?:[\w.]{2,40}(?: \[[^\]]{1,6}\])?, ){1,30}[\w.]{2,40}"
         r"(?: \[[^\]]{1,6}\])?)\s{0,4}$", _query, every=True),
    rule("compute pid", r"--query-compute-apps|^\s{0,4}pid, process_name"
        r"|compute[- ]apps[^\n,;]{0,24}:\s*$", _apps, every=True),
    rule("processes process", r"^\|\s{1,4}Processes:|^\|  GPU\s{1,8}GI\s{1,8}CI", _apps, every=True),
    rule("compute running processes gpu", r"no running processes found|(?:nvidia-smi"
        r"|GPU)[^\n;,]{0,24}\bno (?:other )?process(?:es)?\b|compute[- ]apps?(?: list)?(?: is| are"
        r"|[:= ]){0,3}\s?(?:empty|none"
         r"|0\b|no(?:thing)?\b)|no compute[- ]apps|no (?:other )?process(?:es)? (?:holds?|on|uses?) the GPU"
         r"|GPU is (?:free|empty)",
         _no_apps, every=True),
    rule("rss resident res", rf"(?<![-\w])(?:RSS|resident(?: memory)?)[ :=~]{{1,3}}{SIZED}", _other, every=True),
    rule("rss resident", rf"{SIZED} (?:of )?(?:RSS|resident)\b", _other, every=True),
    rule("rss", r"^\s{0,8}(?:USER|PID|[A-Z%]{2,8})\s.{0,60}\bRSS\b.{0,60}\b(?:COMMAND|CMD|COMM)\b",
        _ps_head, every=True),
    rule("vllm enginecore", rf"\b(?:VLLM::\w{{4,24}}"
        rf"|EngineCore)[^\n\d|]{{0,24}}(?<![\w.])(?P<n>{NUMBER}) ?(?P<u>[MG]iB)\b", _held),
    rule("~", r"(?:沒有|没有|無|无)(?:其他|別的|别的|任何)?(?:行程|進程|进程|程序)(?:占用|佔用|使用|在用)? ?GPU"
         r"|GPU ?上?(?:沒有|没有)(?:其他|任何)?(?:行程|进程)", _no_apps, every=True),
    gives("compute", rf"({NUMBER}) compute[- ]apps?\b", "compute_apps"),
)  # fmt: skip
