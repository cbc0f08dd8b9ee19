"""Limits as people paste them: `ulimit`, `/proc/PID/limits`, `prlimit`, `docker inspect`, compose, systemd, prose.

Of several values that of the container counts, then one without a place, then the host's; of equals the lowest is the
failing node's. `was` before `now` is past.
"""

from __future__ import annotations

import re

from dsv41_tui.core.facts import UNLIMITED_BYTES
from dsv41_tui.parsers._pasted_rules import UNIT, Notes, Rule, Take, by_person, gives, rule, to_bytes

_OPEN = re.compile(r"unlimited|infinity|-1", re.IGNORECASE)
_PASTED = re.compile(r"docker|podman|inspect|compose|/proc/\d|\bexec\b", re.IGNORECASE)
_INSIDE = re.compile(
    r"\bcontainers?\b|\bin(?:side)? (?:docker|podman|there|the image)|\binside\b|\b(?:docker|podman)\b|compose|\bexec\b"
    r"|\binspect\b|/proc/\d|容器",
    re.IGNORECASE,
)
_OUTSIDE = re.compile(r"\b(?:host|bare metal|login shell|my shell|outside)\b|宿主機?|宿主机|主機|主机", re.IGNORECASE)
_ANSWER = re.compile(r"^\s{0,8}(unlimited|\d{1,18})\s{0,8}$", re.IGNORECASE)
_CLAUSE = re.compile(
    r"[,;，；。、()]|\.(?=\s|$)|\s(?:but|while|whereas|and|vs\.?|against)\s|(?<=[a-z\d])\s(?=(?:host|worker|head"
    r"|container): )",
    re.IGNORECASE,
)
_NAME = r"(?:ulimit -[SH]?l|memlock|(?:max )?locked[- ]memory|locked[- ]mem)\b"
_VALUE = re.compile(
    rf"(?<![\w./-])(?<!\d:)(?P<n>unlimited|infinity|-1|\d{{1,18}})(?: ?(?P<u>{UNIT}|kbytes))?(?![\w:]|[./]\d|-\w)",
    re.IGNORECASE,
)
_NOT = re.compile(
    r"(?:\bnot|n't|no longer|never|isn't|instead of|rather than|should be|set|needs?|try|want)["
    r" \w]{0,12}$",
    re.IGNORECASE,
)
_NAMED = re.compile(r".+")
_ALONE = re.compile(r"unlimited|infinity|-1|64|\d{4,9}|\d{1,9} ?(?:[KM]i?B?|k?bytes)", re.IGNORECASE)
"""A value in a clause that does not name the limit again."""
_LATEST = re.compile(r"\bnow\b|現在|现在", re.IGNORECASE)
_EARLIER = re.compile(r"\b(?:was|before|used to|had been)\b|原本|之前", re.IGNORECASE)
_NODE = re.compile(r"\b(?:worker|head|spark-?\w{1,4}|rank ?\d)\b", re.IGNORECASE)
_UNSAID = re.compile(r"\b(?:no|without|missing|forgot|lacks|set|sets|raise|want|need|try)\b[^,;]{0,24}$", re.IGNORECASE)
_DEFAULT = float(8 << 20)
"""What a process gets where nobody raises it: the kernel's own limit since 5.16."""


def _keep(notes: Notes, place: str, value: float) -> None:
    name = f"memlock {place}"
    notes.limits[name] = min(value, notes.limits.get(name, UNLIMITED_BYTES))
    for place in ("container", "somewhere", "host", "unset"):
        if f"memlock {place}" in notes.limits:
            notes.put("memlock", notes.limits[f"memlock {place}"])
            return


def _bytes(text: str, unit: str | None, bare: int) -> float:
    return UNLIMITED_BYTES if _OPEN.fullmatch(text) else to_bytes(text, unit, lambda value: value * bare)


def _memlock(notes: Notes, text: str, unit: str | None, bare: int) -> None:
    """A limit as a tool prints it."""
    before = notes.before(1)
    inside = _PASTED.search(notes.line) or (before and _PASTED.search(before[-1]) and "ulimit" in before[-1])
    _keep(notes, "container" if inside else "somewhere", _bytes(text, unit, bare))


def _limit(bare: int) -> Take:
    return lambda match, notes: _memlock(notes, match["n"], match["u"], bare)


def _told(match: re.Match[str], notes: Notes) -> None:
    """A sentence, clause by clause: each value with the place that its clause names."""
    lead = match.string[max(0, match.start() - 60) : match.start()]
    clauses = _CLAUSE.split(_CLAUSE.split(lead)[-1] + match[0])[:12]
    person = by_person(match, notes)
    latest = any(_LATEST.search(clause) for clause in clauses)
    place = "somewhere"
    for clause in clauses:
        inside, outside = _INSIDE.search(clause), _OUTSIDE.search(clause)
        named = re.search(_NAME, clause, re.IGNORECASE)
        place = "container" if inside else "host" if outside else "somewhere" if named else place
        if latest and _EARLIER.search(clause):
            continue
        if named and not _UNSAID.search(clause[: named.start()]):
            _value(clause[named.end() :][: 60 if person else 14], _NAMED, place, notes)
        elif not named and person and (inside or outside or _LATEST.search(clause) or _NODE.search(clause)):
            _value(clause, _ALONE, place, notes)


def _value(text: str, form: re.Pattern[str], place: str, notes: Notes) -> None:
    """The first value of a clause, unless it is denied or wished for."""
    value = _VALUE.search(text)
    if value and form.fullmatch(value[0]) and not _NOT.search(text[: value.start()]):
        _keep(notes, place, _bytes(value["n"], value["u"], 1024))


def _unset(match: re.Match[str], notes: Notes) -> None:
    if by_person(match, notes):
        _keep(notes, "unset", _DEFAULT)


def _asked(match: re.Match[str], notes: Notes) -> None:
    """`ulimit -l` with its answer below."""
    for line in notes.after(3):
        if found := _ANSWER.match(line):
            _memlock(notes, found[1], None, 1024)
            return
        if line.strip() and not line.lstrip().startswith(("#", "=", "-")):
            return


def _inspected(match: re.Match[str], notes: Notes) -> None:
    """`"Name": "memlock"` with Hard and Soft beside it or in the lines below; in bytes."""
    text = " ".join([match.string[match.start() :][:200], *notes.after(3)])
    values = re.findall(r"\"?(?:Hard|Soft)\"?\s{0,4}[:=]\s{0,4}(-?\d{1,18})", text[:400], re.IGNORECASE)
    for value in values[:2]:
        _keep(notes, "container", UNLIMITED_BYTES if value == "-1" else float(value))


RULES: tuple[Rule, ...] = (
    rule("ulimit memlock locked limitmemlock", rf"{_NAME}[^\n]{{0,300}}", _told, every=True),
    rule("ulimit", r"ulimit -[SH]?l['\"`)\s]{0,4}$", _asked, every=True),
    rule("memlock", r"memlock[=:] ?(?P<n>-1|\d{1,18})(?P<u>):(?:-1|\d{1,18})", _limit(1), every=True),
    rule("limitmemlock", rf"LimitMEMLOCK ?= ?(?P<n>infinity|\d{{1,18}})(?P<u>{UNIT})?", _limit(1), every=True),
    rule("locked", r"max locked memory\s{1,16}\(k?bytes, -l\)\s{1,16}(?P<n>unlimited|\d{1,18})(?P<u>)", _limit(1024),
         every=True),
    rule("locked", r"Max locked(?: memory|-in-memory address space)\s{1,24}(?P<n>unlimited|\d{1,18})(?P<u>)\s{1,24}"
         r"(?:unlimited|\d{1,18})", _limit(1), every=True),
    rule("memlock", r"\"?Name\"?\s{0,4}[:=]\s{0,4}\"?memlock\"?", _inspected, every=True),
    rule("memlock", r"(?:\[|\{)memlock (?P<n>-1|\d{1,18}) (?:-1|\d{1,18})(?P<u>)", _limit(1), every=True),
    rule("memlock", r"^\s{0,12}memlock:\s{0,4}$", _inspected, every=True),
    rule("memlock", r"(?:\bno|\bwithout(?: the)?|\bmissing|\bforgot(?: the)?|\blacks) (?:--)?(?:ulimits?[ =]memlock"
         r"|memlock ulimit)\b"
         r"|--ulimit memlock\S{0,6} (?:is |was )?(?:missing|not (?:given|set|passed))", _unset),
    gives("open", r"(?:Max open files\s{1,24}|open files\s{1,24}\(-n\)\s{1,8}"
        r"|ulimit -n[: =]{1,3})(\d{1,9})", "open_files"),
    gives("ulimit", r"ulimit -n[: =]{1,3}(\d{1,9})", "open_files"),
)  # fmt: skip
