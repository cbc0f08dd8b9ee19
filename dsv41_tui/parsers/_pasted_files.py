"""NFS, disks, files, ssh as people paste them: `findmnt`, `mount`, `nfsstat -m`, `df`, `mountpoint`, `ping`, prose."""

from __future__ import annotations

import re

from dsv41_tui.parsers._pasted_rules import NUMBER, SIZE, UNIT, Notes, Rule, gives, number, rule, says, tells, to_bytes

_NOT_DISKS = re.compile(r"^(?:tmpfs|udev|devtmpfs|overlay|efivarfs|none|shm|squashfs|/dev/loop\S*|\S{1,200}:/\S*)$")
_OPTIONS = re.compile(r"vers=|rsize=|\bsoft\b|\bhard\b|nconnect=|timeo=")
_SHM = "/dev/shm"  # noqa: S108 - a row of df names it
_SYSTEM = re.compile(r"^/(?:boot|run|sys|snap|proc|dev)(?:/|$)")


def _mount(match: re.Match[str], notes: Notes) -> None:
    """Options of an NFS mount, as `findmnt`, `mount`, `/proc/mounts` and `nfsstat -m` print them."""
    options = match.string[match.start("kind") :][:1000]
    if not _OPTIONS.search(options):
        return
    hard = re.search(r"(?<![\w-])(soft|softerr|hard)(?![\w-])", options)
    if hard and hard[1] != "hard":
        notes.put("nfs_soft", True)
    elif hard:
        notes.facts.setdefault("nfs_soft", False)
    version = re.search(r"\b(?:nfs)?vers=([34](?:\.\d)?)", options) or re.search(r"\bnfs([34])\b", options)
    if version:
        notes.put("nfs_version", version[1])
    connections = re.search(r"\bnconnect=(\d{1,3})", options)
    if connections:
        notes.put("nconnect", float(connections[1]))
    if not re.search(r"fstab|mount -t|mount -o|failed|denied|refused|not mounted", notes.line):
        notes.put("nfs_mounted", True)


def _listing(match: re.Match[str], notes: Notes) -> None:
    """`ls /a/b` with names below it; a list of the root's own directories shows mount points, mounted or not."""
    rest = match["rest"].strip(" :")
    row = rest or next(iter(notes.after(1)), "").strip()
    if not row or re.match(
        r"ls:|[$#>]|total 0$|\(?empty|nothing|no\b|is\b|shows? (?:nothing|an empty)|hangs|gives nothing", row
    ):
        return
    if rest and ":" not in match["rest"][:2]:
        return
    notes.put("path_lists", True)


def _denied(match: re.Match[str], notes: Notes) -> None:
    notes.put("nfs_mounted", False)


def _disk(match: re.Match[str], notes: Notes) -> None:
    """A row of `df`; of several disks the fullest counts, `/dev/shm` is a reading of its own."""
    free = to_bytes(match["free"], match["uf"], lambda value: value * 1024)
    size = to_bytes(match["size"], match["us"], lambda value: value * 1024)
    if match["on"] == _SHM:
        notes.least("shm_size", size)
        notes.least("shm_free", free)
    elif not _NOT_DISKS.match(match["what"]) and not _SYSTEM.match(match["on"]):
        used = float(match["used"])
        known = notes.facts.get("disk_used_percent", -1.0)
        if isinstance(known, float) and used >= known:
            notes.put("disk_used_percent", used)
            notes.put("disk_free", free)


def _full(match: re.Match[str], notes: Notes) -> None:
    notes.most("disk_used_percent", number(match[1]))


def _disk_free(match: re.Match[str], notes: Notes) -> None:
    notes.least("disk_free", to_bytes(match["n"], match["u"]))


def _statistics(match: re.Match[str], notes: Notes) -> None:
    """The last line of `ping`, which names nobody: it is taken for whichever host the failure is about."""
    answers = number(match[1]) < 100
    for name in ("ping", "server_ping", "peer_reachable"):
        notes.put(name, answers)


def _pinged(match: re.Match[str], notes: Notes) -> None:
    for name in ("ping", "server_ping", "peer_reachable"):
        notes.put(name, bool(match["good"]))


def _files(match: re.Match[str], notes: Notes) -> None:
    """A file that failed to be read."""
    if notes.distinct("files", match[1]) > 1:
        notes.put("several_files_fail", True)


def _sizes(match: re.Match[str], notes: Notes) -> None:
    notes.put("file_bytes", to_bytes(match["n"], match["u"], lambda value: value))
    notes.put("expected_bytes", to_bytes(match["m"], match["um"], lambda value: value))


def _listed(match: re.Match[str], notes: Notes) -> None:
    """A row of `ls -l`: of several files the smallest is the one that is not whole."""
    notes.least("file_bytes", float(match[1]))


_CELL = r"(?P<{0}>\d{{1,15}}(?:\.\d{{1,2}})?)(?P<u{1}>[KMGTP]i?B?)?"
_SERVER = r"(?:NAS|NFS server|nfs-server|file ?server|nas\d?)"
_GOOD = r"(?:answers|works|ok|fine|replies|is up|reachable|responds)"
_BAD = (
    r"(?:does not answer|doesn't answer|fails|failed|no answer|no reply|unreachable|is down|not reachable|times out"
    r"|100 ?% (?:packet )?loss)"
)
_ROW = (
    rf"^\s{{0,4}}(?P<what>\S{{1,200}})\s{{1,30}}{_CELL.format('size', 's')}\s{{1,16}}[\d.]{{1,15}}[KMGTP]?i?B?"
    rf"\s{{1,16}}{_CELL.format('free', 'f')}\s{{1,8}}(?P<used>\d{{1,3}})%\s{{1,4}}(?P<on>/\S{{0,200}})"
)
RULES: tuple[Rule, ...] = (
    rule("nfs nfsvers vers flags findmnt mount mounts", r"^[^\n]{0,400}?(?P<kind>\bnfs4?\b|\bFlags:|\bnfs(?:vers)?=)",
         _mount, every=True),
    says("mountpoint mounted mount", r"is not a mountpoint|(?:NFS|NAS|/mnt/\S{1,60}|share|mount) (?:is "
        r"|was )?(?:not mounted|unmounted|missing)|findmnt(?: shows| prints| gives|:| is"
            r"| on the worker)* (?:nothing|empty|no line)",
         "nfs_mounted", False),
    rule("ls", r"(?:^|[$#:;] ?|\bexec (?:-\w{1,3} )?\S{1,40} )ls (?:-\w{1,5} )?"
         r"(?:/[^\s/:;,]{1,80}){2,12}/?(?P<rest>[^\n]{0,120})", _listing, every=True),
    says("mount mounts", r"\bmounts? (?:is |are |was )?(?:present|in place|there|active|visible)\b",
         "nfs_mounted", True),
    says("findmnt", r"\bfindmnt\b[^\n;]{0,80}?[\s:](?:[\w.-]{1,60}|\[[0-9a-f:]{2,40}\]):/\S{0,120} nfs4?\b",
         "nfs_mounted", True),
    says("mountpoint", r"(?<!not )\bis a mountpoint", "nfs_mounted", True),
    rule("access", r"access denied by server while mounting", _denied),
    says("server responding nfs", r"nfs: server \S{1,80} not responding|(?:NAS"
        r"|NFS)(?: server)? (?:is )?not responding", "nfs_state", "not-responding"),
    says("server nfs ok", r"nfs: server \S{1,80} OK\b", "nfs_state", "fine"),
    says("stale", r"Stale (?:NFS )?file handle", "nfs_state", "stale-handle"),
    says("access", r"access denied by server", "nfs_state", "denied"),
    says("soft", r"\bsoft[- ]mount(?:ed)?\b|\bmounted soft\b", "nfs_soft", True),
    says("hard", r"\bhard[- ]mount(?:ed)?\b|\bmounted hard\b", "nfs_soft", False),
    says("soft", r"mount(?:ed|s)? (?:is |are |with |options? )?soft\b", "nfs_soft", True),
    says("hard", r"mount(?:ed|s)? (?:is |are |with |options? )?hard\b", "nfs_soft", False),
    says("nas nfs", r"(?:NAS|NFS server) pings|pings? the (?:NAS|NFS server)(?: fine| ok)"
        r"|(?<!cannot )(?<!can't )ping the (?:NAS|NFS server): ok", "server_ping", True),
    says("nas nfs", r"(?:cannot|can't|could not) (?:ping|reach) the (?:NAS|NFS server)", "server_ping", False),
    rule("ping", rf"\bping (?:to |of )?(?:-\w \S{{1,20}} )?(?P<who>\d{{1,3}}(?:\.\d{{1,3}}){{3}}"
        rf"|[\w-]{{2,24}}\d)[ :=]{{1,3}}(?:(?P<good>{_GOOD})|{_BAD})", _pinged),
    tells("nfsv", r"\bNFSv([34](?:\.\d)?)", "nfs_version"),
    gives("nconnect", r"\bnconnect(?: is| of|[ =:]){1,3}(\d{1,3})", "nconnect"),
    rule("nas nfs server fileserver ping rpcinfo", rf"ping[^\n;]{{0,24}}{_SERVER}[^\n;]{{0,16}}\b{_GOOD}"
        rf"|{_SERVER}[^\n;]{{0,16}} (?:ping {_GOOD}|answers|is up)",
         lambda match, notes: notes.put("server_ping", True)),
    rule("nas nfs server fileserver ping rpcinfo", rf"(?:ping|rpcinfo)[^\n;]{{0,24}}{_SERVER}[^\n;]{{0,16}}\b{_BAD}"
        rf"|{_SERVER}[^\n;]{{0,16}} {_BAD}",
         lambda match, notes: notes.put("server_ping", False)),
    says("files shards file", r"\b(?:files|shards) \d{1,4}(?:, ?\d{1,4}){0,40},? (?:and|&) \d{1,4} (?:all )?fail"
        r"|(?:many|several|different|all|other) (?:files|shards)(?: also)? (?:fail|give|are affected)"
            r"|different files? each time",
         "several_files_fail", True),
    says("same only single file", r"always the same (?:single )?(?:file|shard)|only (?:one|this|that"
        r"|a single) (?:file|shard)|same single file", "several_files_fail", False),
    rule("errno input", r"(?:Errno 5\b"
        r"|Input/output error)[^\n]{0,20}?[:'\" ]{1,4}(/[^\n'\"]{1,200})", _files, every=True),
    rule("g m t k dev tmpfs shm overlay", _ROW, _disk, every=True),
    rule("full used", r"(?:disk|filesystem|partition|/|nvme|/\S{1,60}) (?:is |at )?(\d{1,3}) ?% (?:full|used)", _full),
    rule("disk df space", rf"(?:disk|disk space|df|space)(?: (?:free|left|available|has|is|only|on \S{{1,40}})"
        rf"|[ :=]){{1,6}}{SIZE} ?(?:free|left|available)?", _disk_free),
    rule("packet loss", r"(\d{1,3}(?:\.\d{1,4})?) ?% packet loss", _statistics),
    says("ping", rf"\bping(?: to the (?:node|host|box))?[ :=]{{1,3}}{_GOOD}", "ping", True),
    says("ping", rf"\bping(?: to the (?:node|host|box))?[ :=]{{1,3}}{_BAD}|(?:node|host|box) does not answer ping"
        rf"|no ping\b", "ping", False),
    says("banner", r"\bno (?:SSH |ssh )?banner|banner (?:is )?missing|banner exchange"
        r"|without (?:an? )?(?:SSH )?banner|banner (?:never"
        r"|does not) (?:comes?|arrives?)", "ssh_banner", False),
    says("ssh banner", r"SSH-2\.0-|(?<!no )(?:SSH )?banner (?:comes|arrives|is there|ok)", "ssh_banner", True),
    rule("expected instead size bytes", rf"(?<![\w.])(?P<n>{NUMBER}) ?(?P<u>{UNIT})?,? (?:instead of|expected"
        rf"|but expected|should be|of expected) (?:size )?(?P<m>{NUMBER}) ?(?P<um>{UNIT})?", _sizes),
    rule("safetensors",
         r"^[-l][rwxsStT-]{9}[.+@]?\s{1,4}\d{1,6} \S{1,40}\s{1,10}\S{1,40}\s{1,16}(\d{1,15}) [^\n]{6,40}\S{0,200}"
         r"\.safetensors", _listed, every=True),
    gives("restarted restart", r"RestartCount[\"']?[ :=]{1,3}(\d{1,6})", "restart_count"),
)  # fmt: skip
