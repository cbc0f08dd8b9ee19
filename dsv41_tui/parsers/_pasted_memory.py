"""Memory of a node as people paste it: `/proc/meminfo`, `free`, the memory guard's lines, prose."""

from __future__ import annotations

import re

from dsv41_tui.core.errors import ParseError
from dsv41_tui.parsers._pasted_free import RULES as FREE
from dsv41_tui.parsers._pasted_rules import (
    CJK,
    GAP,
    NUMBER,
    SIZE,
    SIZED,
    UNIT,
    Notes,
    Rule,
    gives,
    number,
    rule,
    says,
    to_bytes,
)
from dsv41_tui.parsers.meminfo import parse_meminfo

_FIELDS = {
    "memtotal": "mem_total", "memfree": "mem_free", "memavailable": "mem_available", "memavail": "mem_available",
    "cached": "cached", "shmem": "shmem", "anonpages": "anon", "slab": "slab", "swapfree": "swap_free",
    "cmatotal": "cma_total", "cmafree": "cma_free",
}  # fmt: skip
_PROSE = {
    "mem_free": r"free (?:memory|ram|mem)|mem(?:ory)?[ _]free|free|空閒記憶體|空闲内存|剩餘記憶體|剩余内存",
    "mem_available": r"available (?:memory|ram|mem)|mem(?:ory)?[ _]avail(?:able)?|avail(?:able)?"
    r"|可用的?(?:記憶體|内存)",
    "mem_total": r"total (?:unified )?(?:memory|ram)|mem(?:ory)?[ _]total|總記憶體|总内存",
    "cached": r"page[ -]?cache|file cache|buff(?:ers)?/cache|cached|cache|(?:頁面?|檔案)?快取|(?:页面?|文件)?缓存",
    "anon": r"anon(?:ymous)?(?: memory)?",
    "swap_free": r"swap free|free swap",
}
_OTHER = re.compile(
    r"disk|target|destination|volume|partition|nvme|/dev/|\bshm|\bdf\b|space|swap|vram|on device|filesystem|"
    r"kv[ _-]?(?:cache|快取|缓存)|prefix cache|huge"
    r"|desired"
    r"|磁[碟盘]|硬[碟盘]|[顯显]存"
    r"|\bless than\b|is needed|\bcma|block|tokens",
    re.IGNORECASE,
)
"""Words of lines whose bare `free` and `available` are not the node's memory."""
_EATS = r"(?: (?:eats|eating|holds?|holding|takes?|taking|uses?|using|fills|grew|is|was)|占了?|佔了?|吃[掉了]?){0,2}"
_GIVEN = re.compile(r"\b(?:dropp|freed|released|evict|flush|reclaim)", re.IGNORECASE)
"""What was dropped is not there."""
_NAME = "|".join(_FIELDS)
_FALL_S = 60.0


def _field(match: re.Match[str], notes: Notes) -> None:
    name = _FIELDS[match["name"].lower()]
    value = to_bytes(match["n"], match["u"])
    if "dsv41-mem" in notes.line:
        notes.logged[name] = value
    else:
        notes.memory(name, value)


def _total(match: re.Match[str], notes: Notes) -> None:
    """The first line of a whole block: what the GPU holds is what no line accounts for."""
    lines = [match.string[match.start() :], *(line[match.start() :] for line in notes.after(60))]
    block = [line.rstrip() for line in lines if re.match(r"[A-Za-z_()]{2,24}:\s*\d{1,16}(?: kB)?\s*$", line)]
    try:
        driver = parse_meminfo("\n".join(block)).driver
    except ParseError:
        return
    if driver is not None:
        notes.snapshots[-1].setdefault("mem_driver", driver)


def _clause(match: re.Match[str]) -> str:
    """The words around a match, up to the next comma."""
    before = re.split(r"[,;，；。、|]", match.string[max(0, match.start() - 80) : match.start()])[-1]
    return before + match[0] + re.split(r"[,;，；。、|]", match.string[match.end() : match.end() + 40])[0]


def _prose(name: str) -> Rule:
    def take(match: re.Match[str], notes: Notes) -> None:
        if match["u"] and not _OTHER.search(_clause(match)):
            notes.memory(name, to_bytes(match["n"], match["u"]))

    words = {
        "mem_free": "free memfree", "mem_available": "available avail", "mem_total": "total",
        "cached": "cache cached pagecache", "anon": "anon anonymous", "swap_free": "swap",
    }[name]  # fmt: skip
    verb = _EATS if name == "cached" else ""
    return rule(f"{words} {CJK}", rf"(?<![\w/])(?:{_PROSE[name]}){verb}{GAP}{SIZE}", take, every=True)


def _reversed(name: str) -> Rule:
    """`1.1 GiB free`, `109 GiB of page cache`."""

    def take(match: re.Match[str], notes: Notes) -> None:
        if (
            name not in notes.snapshots[-1]
            and not _OTHER.search(clause := _clause(match))
            and not _GIVEN.search(clause)
        ):
            notes.memory(name, to_bytes(match["n"], match["u"]))

    words = {"mem_free": "free", "mem_available": "available avail", "cached": "cache cached pagecache"}[name]
    names = {
        "mem_free": r"(?:MemFree|free)\b(?! (?:swap|space|disk))",
        "mem_available": r"(?:MemAvailable|avail(?:able)?)\b",
        "cached": r"(?:page[ -]?cache|file cache|buff(?:ers)?/cache|cached|cache)\b",
    }[name]
    return rule(
        words,
        rf"{SIZED}\)? (?:(?:of|in|as|is|are|the|memory|RAM|still|sits?|held|by) ){{0,4}}{names}",
        take,
        every=True,
    )


def _arrow(match: re.Match[str], notes: Notes) -> None:
    """`MemAvailable fell 23.8 -> 6.3 GiB in 5 s`: the last value, and whether it fell by gigabytes within a minute."""
    name = _FIELDS.get(match["name"].lower(), "mem_available")
    first = to_bytes(match["a"], match["ua"] or match["u"])
    last = to_bytes(match["n"], match["u"] or match["ua"])
    seconds = number(match["s"]) * (60 if match["t"][0] == "m" else 1) if match["s"] else 0.0
    (notes.logged if "dsv41-mem" in notes.line else notes.snapshots[-1])[name] = last
    if name in ("mem_available", "mem_free") and first - last > 1 << 30 and seconds <= _FALL_S:
        if name == "mem_available":
            notes.put("mem_falling", True)
    elif name == "mem_available" and abs(first - last) < 1 << 29:
        notes.put("mem_falling", False)


def _now(match: re.Match[str], notes: Notes) -> None:
    """`MemFree was 1.1 GiB, now 98 GiB`: the first value is past."""
    said = match["name"].lower()
    name = _FIELDS.get(said, "mem_free" if "free" in said or "空" in said else "mem_available")
    if not _OTHER.search(_clause(match)):
        notes.snapshots[-1][name] = to_bytes(match["n"], match["u"])


def _device(match: re.Match[str], notes: Notes) -> None:
    """vLLM's own: on a GB10 the free memory of the device is the node's MemFree."""
    notes.logged["mem_free"] = to_bytes(match["n"], match["u"])
    notes.logged["mem_total"] = to_bytes(match["total"], match["u"])


def _status(match: re.Match[str], notes: Notes) -> None:
    """Our own `status`: GiB without saying so."""
    notes.memory("mem_free", to_bytes(match["n"], "GiB"))
    notes.memory("mem_available", to_bytes(match["a"], "GiB"))


RULES: tuple[Rule, ...] = (
    rule(
        " ".join(_FIELDS),
        rf"(?<![\w(])(?P<name>{_NAME})\b[\"']?{GAP}\(?{SIZE}(?!\s{{0,2}}(?:->|→|=>))",
        _field, every=True,
    ),
    rule("memtotal", r"(?<![\w])MemTotal:\s{1,20}\d{1,16} kB", _total, every=True),
    *(_prose(name) for name in _PROSE),
    *(_reversed(name) for name in ("mem_free", "mem_available", "cached")),
    rule(
        f"memavailable memfree available free memory cached {CJK}",
        rf"(?<!\w)(?P<name>{_NAME}|available memory|available|free memory|可用記憶體|可用内存)"
        rf"[^\d\n,;]{{0,40}}?(?<![\w.])"
        rf"(?P<a>{NUMBER}) ?(?P<ua>{UNIT})?\s{{0,3}}(?:->|→|=>|to|down to|降到|掉到|变为|變成|至)\s{{0,3}}{SIZE}"
        r"(?:[^\d\n,;.]{0,20}(?P<s>\d{1,5}(?:\.\d)?) ?(?P<t>seconds?|secs?|s|minutes?|min|秒)(?![a-z]))?",
        _arrow, every=True,
    ),
    rule(
        f"memavailable memfree available free memory now cached {CJK}",
        rf"(?<!\w)(?P<name>{_NAME}|available memory|available|free memory|free|可用記憶體|可用内存)(?: (?:is|was"
        rf"|were|used to"
        rf" be|at)"
        rf"|[ :=]|原本|之前|是){{1,4}}{NUMBER} ?{UNIT}[^\d\n;]{{0,32}}?(?:\bnow|現在|现在)[^\d\n;]{{0,16}}{SIZED}",
        _now, every=True,
    ),
    says(
        "falling falls fell dropping dropped drops plummeted collapsed",
        r"Mem(?:Available)? (?:memory )?(?:is |was |kept )?(?:falling|falls|dropping|collapsed|plummeted)"
        r"|(?:available )?memory (?:is |was )?(?:falling|dropping|collaps\w+) (?:fast|by|quickly|within)"
        r"|(?:falls|fell|dropp?(?:ed|s|ing)) (?:by )?\d{1,3}(?:\.\d)? ?Gi?B? ?"
        r"(?:/ ?s|per second|(?:with)?in (?:a few|\d{1,2}) ?s)",
        "mem_falling", True,
    ),
    says(
        "flat stable steady constant falling",
        r"Mem(?:Available|Free)[^\n;]{0,40}\b(?:flat|stable|steady|constant|not falling|does not fall)\b",
        "mem_falling", False,
    ),
    rule(
        "device",
        rf"Free memory on device[^\n(]{{0,40}}\((?P<n>{NUMBER})/(?P<total>{NUMBER}) ?(?P<u>GiB|GB|MiB)\)",
        _device,
    ),
    rule("avail", r"\bfree\s{1,4}(?P<n>\d+\.\d)\s{1,4}avail\s{1,4}(?P<a>\d+\.\d)(?![\w.])", _status, every=True),
    *FREE,
    gives("full", r"\bfull (?:avg10[ =:]{1,3})(\d{1,3}(?:\.\d{1,2})?)", "psi_full"),
    gives(
        "psi pressure", r"(?:PSI|pressure)[^\d\n]{0,24}full[^\d\n]{0,12}(?:10[ =:]{1,3})?(\d{1,3}\.\d{1,2})", "psi_full"
    ),
)  # fmt: skip


def settled(notes: Notes) -> dict[str, float]:
    """The memory of the failing node: of pasted readings the moment with the least MemFree, else MemAvailable.

    What it does not tell comes from the other readings, the newest first; the engine's own series comes last. Leaked
    CMA is one node's, so the pair with CmaFree above CmaTotal counts wherever it stands.
    """
    found: dict[str, float] = {}
    moments = [dict(item) for item in notes.snapshots if item]
    for values in (notes.logged, *moments):
        found.update(_numbers(values))
    for name in ("mem_available", "mem_free"):
        told = [values for values in moments if name in values]
        if told:
            found.update(_numbers(min(told, key=lambda values, name=name: _numbers(values)[name])))  # type: ignore[misc]
    for moment in map(_numbers, moments):
        if moment.get("cma_free", 0) > moment.get("cma_total", float("inf")):
            found.update({name: moment[name] for name in ("cma_free", "cma_total")})
    return found


def _numbers(values: dict[str, str | float | bool]) -> dict[str, float]:
    return {name: value for name, value in values.items() if isinstance(value, int | float)}
