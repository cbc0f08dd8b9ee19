"""The fabric as people paste it: `ibstat`, `ibv_devinfo`, `rdma link`, sysfs, `show_gids`, `ib_write_bw`, prose."""

from __future__ import annotations

import re

from dsv41_tui.parsers._pasted_rules import NUMBER, Notes, Rule, gives, is_logged, number, rule, said, says, tells

_ZERO = re.compile(r"(?:0000:){7}0000|::(?![\w:])|0:0:0:0:0:0:0:0|all[- ]zeros?|zeros?|empty|nulls?", re.IGNORECASE)
_STATES = {"active": "ACTIVE", "down": "DOWN", "init": "INIT", "initializing": "INIT", "armed": "ARMED"}


_DEVICE = r"(?:roce\w{3,12}|mlx5_\d{1,2}|en[pPx]\w{3,14})(?::1|/1)?"
_SPARE = re.compile(r"\b(?:second|2nd|other|unused|spare|uncabled|unplugged)\b", re.IGNORECASE)
_WORKS = re.compile(
    r"\bonly\b|\b(?:first|1st|one|cabled)\b[^\n;]{0,30}\b(?:UP|ACTIVE|LinkUp|works)\b|\bwith one (?:HCA|port|rail|NIC)",
    re.IGNORECASE,
)
"""The line tells of a port that carries the fabric."""


def _rails(match: re.Match[str], notes: Notes) -> None:
    """One device of a line is up, another is not: NCCL was given both."""
    if match["a"].lower() != match["b"].lower() and not is_logged(notes.line):
        notes.put("cross_rail_broken", True)


def _dumped(match: re.Match[str], notes: Notes) -> None:
    """A dump lists every port, cabled or not: one ACTIVE port is what the fabric runs on."""
    state = _STATES[match["state"].lower()]
    if notes.facts.get("port_state") != "ACTIVE" or state == "ACTIVE":
        notes.put("port_state", state)


def _said(match: re.Match[str], notes: Notes) -> None:
    """What somebody writes of a port; DOWN is the failing node's. A spare port beside one that works is no link."""
    state = _STATES[match["state"].lower()]
    before = re.split(r"[;.] ", match.string[max(0, match.start() - 60) : match.start()])[-1]
    if state == "DOWN" and _SPARE.search(before + match[0]) and _WORKS.search(notes.line):
        notes.put("cross_rail_broken", True)
        return
    if not (state == "ACTIVE" and notes.seen.get("port said") == {"DOWN"}):
        notes.put("port_state", state)
    if state == "DOWN":
        notes.distinct("port said", state)


def _physical(match: re.Match[str], notes: Notes) -> None:
    text = match[1].replace("_", "").lower()
    name = {"linkup": "LinkUp", "polling": "Polling", "disabled": "Disabled", "sleep": "Sleep"}.get(text, match[1])
    if notes.facts.get("phys_state") != "LinkUp" or notes.facts.get("port_state") != "ACTIVE":
        notes.put("phys_state", name)


def _gid(match: re.Match[str], notes: Notes) -> None:
    """One entry of a table, as sysfs or NCCL shows it; an empty one is the failing node's."""
    value = match["gid"]
    if _ZERO.fullmatch(value.strip()):
        notes.put("gid_empty", True)
    else:
        notes.facts.setdefault("gid_empty", False)
        notes.put("gid", value)
    if match["index"]:
        notes.put("gid_index", float(match["index"]))
    _compare(notes)


def _index(match: re.Match[str], notes: Notes) -> None:
    notes.put("gid_index", float(match[1]))
    notes.tables["gid asked"] = [match[1]]
    _compare(notes)


def _row(match: re.Match[str], notes: Notes) -> None:
    """`show_gids`: the RoCE v2 entry with an IPv4 address is the right one."""
    if match["v"].lower() == "v2" and match["ip"]:
        notes.tables.setdefault("gid right", []).append(match["index"])
        notes.put("gid_type", "RoCE v2")
        notes.facts.setdefault("gid_empty", False)
    _compare(notes)


def _compare(notes: Notes) -> None:
    asked, right = notes.tables.get("gid asked"), notes.tables.get("gid right")
    if asked and right:
        notes.put("gid_index_differs", any(index != asked[0] for index in right[-8:]))


def _both(match: re.Match[str], notes: Notes) -> None:
    notes.put("gid_index_differs", match[1] != match[2])


def _mtus(match: re.Match[str], notes: Notes) -> None:
    notes.put("mtu", float(match[1]))
    notes.put("mtu_differs", match[1] != match[2])


def _mtu(match: re.Match[str], notes: Notes) -> None:
    """Of an interface; those of lo and of docker's bridges say nothing."""
    if not re.search(r"\b(?:lo|docker0|br-|veth|active_mtu|max_mtu)", notes.line):
        notes.put("mtu", float(match[1]))


def _bandwidth(match: re.Match[str], notes: Notes) -> None:
    value = number(match["n"])
    unit = (match["u"] or "Gb").lower()
    gigabits = value * 8 if match["u"] and match["u"][1:2] == "B" else value
    notes.put("measured_gbit", gigabits / 1000 if unit[0] == "m" else gigabits)


def _table(match: re.Match[str], notes: Notes) -> None:
    """Rows of perftest: `#bytes #iterations BW peak[Gb/sec] BW average[Gb/sec] MsgRate`."""
    scale = 1.0 if "gb/sec" in notes.line.lower() else 8 / 1000
    for line in notes.after(30):
        cells = line.split()
        if len(cells) < 4 or not cells[0].isdigit():
            return
        try:
            notes.put("measured_gbit", float(cells[3]) * scale)
        except ValueError:
            return


def _iperf(match: re.Match[str], notes: Notes) -> None:
    notes.put("measured_gbit", number(match["n"]) / (1000 if match["u"] == "M" else 1))


def _rate(match: re.Match[str], notes: Notes) -> None:
    notes.put("link_gbit", number(match[1]))


def _counter(match: re.Match[str], notes: Notes) -> None:
    notes.most("rdma_errors", number(match["n"]))


def _version(match: re.Match[str], notes: Notes) -> None:
    """NCCL's version; a second one in the same text is the other rank's."""
    notes.put("nccl_version", match[1])
    if notes.distinct("nccl", match[1]) > 1:
        notes.put("nccl_version_differs", True)


def _versions(match: re.Match[str], notes: Notes) -> None:
    notes.put("nccl_version_differs", match[1] != match[2])


_COUNTERS = (
    "out_of_sequence|packet_seq_err|local_ack_timeout_err|rnr_nak_retry_err|req_transport_retries_exceeded"
    "|roce_adp_retrans|roce_adp_retrans_to|retransmissions?|retries exceeded|implied_nak_seq_err"
    "|symbol_error|link_downed|port_rcv_errors|link_error_recovery|out-of-sequence"
)
_GID_VALUE = r"(?P<gid>[0-9a-f]{0,4}(?::[0-9a-f.]{0,15}){2,8}|EMPTY|all[- ]zeros?|zeros?)"
RULES: tuple[Rule, ...] = (
    rule("state", r"(?<!curr )(?<!next )\bstate:?\s{1,20}(?:\d: ?)?(?:PORT_)?(?P<state>ACTIVE|DOWN|INIT|ARMED"
        r"|Initializing)\b", _dumped,
         every=True),
    rule("ports port link links", r"(?<!hot)\bports?(?: (?:is|are|were|state|both|all|on|the|head|worker"
        r"|\w{1,12}/?\d)|[:=, ]"
         r"|\(.{0,20}\)){1,6}(?:PORT_)?(?P<state>ACTIVE|DOWN|INIT)\b", _said, every=True),
    rule("active up linkup cabled", rf"\b(?P<a>{_DEVICE})[ =:]{{1,3}}(?:is |port )?(?:ACTIVE|UP|LinkUp|cabled)\b"
         rf"[^\n;]{{0,24}}\b(?P<b>{_DEVICE})[ =:]{{1,3}}(?:is |port )?(?:DOWN|Disabled|Polling|not cabled"
         r"|unplugged|NO-CARRIER)\b", _rails),
    said("only first one up active", r"\bonly (?:the )?(?:first|one)(?: (?:port|rail|interface|HCA|NIC|of them))?"
         r" (?:is |has )(?:UP|ACTIVE|LinkUp|a link)\b", cross_rail_broken=True),
    rule("link links", r"\b(?:fabric |CX-?7 |IB |RDMA )?links? (?:is|are) (?P<state>down)\b", _said, every=True),
    rule("ports port", r"\b(?P<state>ACTIVE|DOWN) (?:on )?(?:all |both )?ports?\b", _said, every=True),
    rule("physical phys", r"phys(?:ical)?[ _]?state:?\s{1,20}(?:\d: ?)?(Link_?Up|Polling|Disabled"
        r"|Sleep)", _physical, every=True),
    rule("linkup", r"\b(LinkUp)\b", _physical),
    rule("active down init armed", r"^\s{0,4}\d: (?P<state>ACTIVE|DOWN|INIT|ARMED)\s{0,4}$", _dumped, every=True),
    rule("polling disabled", r"^\s{0,4}\d: (Polling|Disabled|Sleep)\s{0,4}$", _physical, every=True),
    rule("gids gid", rf"\bgids?(?:_?index)?[ /\[](?P<index>\d{{1,3}})\]?(?: (?:on|of|is|was|the|worker|head|node"
        rf"|[\w-]{{1,24}})"
         rf"|[:= ]){{0,6}}(?:->|=>)?\s{{0,4}}(?<![\w:]){_GID_VALUE}(?![\w:])", _gid, every=True),
    rule("gid", rf"\blocal GID(?P<index>)\s{{1,4}}{_GID_VALUE}(?![\w:])", _gid, every=True),
    says("gid gids", r"\bGIDs?\b[^\n]{0,40}\b(?:is|are) (?:EMPTY|all zeros?|missing|not populated|unpopulated)\b"
         r"|\bempty GID\b|\bGIDs?(?: \w{1,10}){0,3}(?: entry)?[ =:]{1,3}::(?![\w:])", "gid_empty", True),
    rule("gid", r"\bNCCL_IB_GID_INDEX(?: set (?:by environment )?to|[ =:]){1,3}(\d{1,3})", _index),
    gives("gid", r"\b(?:local )?GID index[ =:]{1,3}(\d{1,3})(?![\w:])", "gid_index"),
    rule("gid", r"\bGID index[ =:]{1,3}(\d{1,3}) (?:on|at) [\w -]{1,24}?(?:,|and|but|;"
        r"| vs\.?) {0,2}(?:is )?(\d{1,3}) (?:on|at)\b",
         _both),
    says("gid index", r"\bGID[ _]ind(?:ex|ices)\b[^\n;]{0,30}\b(?:differs?|mismatch|not the same|changed)\b",
         "gid_index_differs", True),
    rule("roce rocep mlx v",
        r"^\s{0,4}[\w.-]{3,32}\s{1,8}\d{1,2}\s{1,8}(?P<index>\d{1,3})\s{1,8}[0-9a-f]{4}(?::[0-9a-f]{4}){7}"
         r"\s{1,8}(?P<ip>\d{1,3}(?:\.\d{1,3}){3})?\s{1,24}(?P<v>v1|v2)\b", _row, every=True),
    tells("roce", r"(?:types/\d{1,3}|GID type)[^\n]{0,24}?((?:IB/)?RoCE v[12])", "gid_type"),
    rule("mtu", r"\bmtu[ =:]{1,3}(\d{3,5})(?: on [\w -]{1,20}?)?(?:,| and| but|;| vs\.?"
        r"| on the other) ?(?:mtu )?(\d{3,5})\b", _mtus),
    rule("mtu", r"\bmtu[ =:]{1,3}(\d{3,5})\b", _mtu),
    says("mtu mtus", r"\bMTUs? (?:differs?|mismatch|are different|not the same)", "mtu_differs", True),
    says("mtu mtus", r"\bsame MTU|MTUs? (?:are |is )?(?:equal|identical|the same)", "mtu_differs", False),
    rule("bw ib bandwidth measured moves iperf", rf"(?:ib_(?:write|read|send)_bw|iperf3?|bandwidth|BW average"
        rf"|measured|moves)"
         rf"(?:(?!speed|ethtool|rate)[^\n]){{0,60}}?(?<![\w.])(?P<n>{NUMBER}) ?(?P<u>[GM](?:b|B|bit|bits"
         rf"|bps))(?:/s(?:ec)?|ps)?\b", _bandwidth),
    rule("iperf ib", rf"(?<![\w.])(?P<n>{NUMBER}) ?(?P<u>[GM](?:b|bit|bits|bps))(?:/s(?:ec)?|ps)? (?:with|by|in|on"
        rf"|from|per) "
         r"(?:iperf3?|ib_(?:write|read|send)_bw)", _bandwidth),
    rule("bytes", r"#bytes\s{1,8}#iterations\s{1,8}BW peak\[[GM]i?[Bb]/s(?:ec)?\]\s{1,8}BW average",
        _table, every=True),
    rule("gbits mbits", rf"\bsec\s{{1,8}}[\d.]{{1,10}} [KMGT]?Bytes\s{{1,8}}(?P<n>{NUMBER}) (?P<u>[GM])bits/sec",
        _iperf),
    rule("rate speed active", r"\b(?:rate|active_speed|Speed)[:=]\s{0,20}(\d{2,3}(?:\.\d)?)(?: Gb(?:ps|/sec|/s"
        r"|it/s)?|\s{0,4}$| \()",
         _rate),
    gives("speed", r"\bSpeed: (\d{4,6}) ?Mb/s", "link_gbit", 0.001),
    gives("linkup link links", r"\b(?:LinkUp|link(?:s? (?:says?|is|are|at))?) (?:up )?(?:at )?(\d{2,3}) ?G(?:b|bit"
        r"|b/s|bps)?\b",
         "link_gbit"),
    rule("out packet local rnr req roce retransmissions retransmission retries implied symbol link port",
         rf"\b(?:{_COUNTERS})[\"']?[ :=]{{1,8}}(?P<n>{NUMBER})(?![\w.:])", _counter, every=True),
    says("counters counter errors", r"\bno (?:RDMA |fabric |port |IB |link )?error counters|(?:RDMA|error|port|IB"
        r"|retransmission)"
         r"(?: error)? counters?(?: (?:are|is|all|at|stay))*[ :=]{1,3}(?:0|zero|clean|flat|empty|none)\b|no RDMA errors"
         r"|counters (?:are |all )?(?:clean|zero)", "rdma_errors", 0.0),
    says("counters counter errors", r"(?:RDMA|error|retransmission)(?: error)? counters? (?:grow|rise|climb"
        r"|increas)\w*",
         "rdma_errors", 1.0),
    rule("nccl", r"\bNCCL version[ :=]{1,3}(\d{1,2}\.\d{1,3}\.\d{1,3})", _version, every=True),
    tells("nccl", r"\bNCCL[ /](\d\.\d{1,2}\.\d{1,2})\b", "nccl_version"),
    rule("nccl rank", r"rank \d{1,3} version (\d{4,6}) rank \d{1,3} version (\d{4,6})", _versions),
    says("nccl", r"NCCL versions? (?:differs?|mismatch|are different)|different NCCL versions?",
        "nccl_version_differs", True),
    says("nccl", r"same NCCL version|NCCL versions? (?:are |is )?(?:equal|identical|the same)",
        "nccl_version_differs", False),
    says("infiniband ibv", r"/dev/infiniband['\"]?:? (?:is )?(?:No such file|missing|empty|not there|absent"
        r"|does not exist)"
         r"|no /dev/infiniband|ibv_devices (?:in the container )?(?:is |lists |shows )?(?:empty|nothing)"
         r"|No IB devices found",
         "ib_in_container", False),
    says("infiniband pathoncontainer", r"PathInContainer\"?: ?\"?/dev/infiniband"
        r"|/dev/infiniband:? (?:is )?(?:present|there"
         r"|has|rdma_cm|uverbs)", "ib_in_container", True),
    says("gpu gdr gpudirect", r"GPU ?Direct RDMA (?:is )?(?:disabled|not (?:supported|available))"
        r"|\bGDR (?:is )?(?:0|off|disabled)",
         "gdr", False),
    says("gpu gdr gpudirect", r"GPU ?Direct RDMA (?:is )?enabled|\bGDR (?:is )?(?:1|on|enabled)", "gdr", True),
    says("device interface", r"Device \"[\w.@-]{1,20}\" does not exist|(?:interface"
        r"|device) [\w.@-]{1,20} (?:does not exist|is missing"
         r"|not found|has no (?:IPv4 )?address|is not there)|no such (?:interface"
         r"|device) [\w.]{2,20}", "interface_missing", True),
    says("fabric peer other ping", r"(?:fabric|peer|other (?:node|rank|box)|CX-?7)[^\n;]{0,30}(?:unreachable"
        r"|does not answer"
         r"|not reachable|ping fails|no ping)|ping[^\n;]{0,40}(?:fabric|peer|CX-?7)[^\n;]{0,24}(?:fails|failed"
         r"|no answer|100 ?%)",
         "peer_reachable", False),
    says("fabric peer other ping", r"(?:fabric|peer|CX-?7)[^\n;]{0,30}(?:ping works|ping ok|answers(?! (?:over|on"
         r"|via))|is reachable"
        r"|(?<!not )reachable)"
         r"|ping[^\n;]{0,40}(?:fabric|peer|CX-?7)[^\n;]{0,24}(?:works|ok\b|answers|0 ?% loss)", "peer_reachable", True),
)  # fmt: skip
