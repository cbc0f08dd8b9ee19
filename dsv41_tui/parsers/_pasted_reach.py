"""What a person tells of cables, addresses, mounts, files and the machine."""

from __future__ import annotations

import re

from dsv41_tui.parsers._pasted_rules import CJK, NUMBER, Notes, Rule, by_person, number, rule, said, to_bytes

_STORE = re.compile(r"\b(?:nas\d?|nfs|2049|file ?server|rpcinfo|showmount|storage)\b", re.IGNORECASE)
_ELSEWHERE = re.compile(
    r"\b(?:management|mgmt|lan|wifi|wlan|10 ?G|1 ?G|public|internet|gateway|router)\b", re.IGNORECASE
)
_FABRIC = re.compile(
    r"\b(?:fabric|peer|rank|worker|head|cx-?7|rdma|rail|between|each other|nodes|them|nc|telnet|other|roce\w*|enp\w*"
    r"|route|traceroute|169\.254\S*)\b",
    re.IGNORECASE,
)
_NOT_FOUND = r"(?:nothing|no (?:entry|entries|gid|address|row|line|(?:RoCE ?)?v2(?: entry| gid)?))"
_EMPTY = r"(?:empty|blank|all[- ]?zeros?|zeroe?s?|unset|missing|not (?:there|populated|set)|null|gone)"
_REFUSES = (
    r"(?:fails?|failed|times? out|timed out|timeout|no route to host|no reply|no answer|no response|is lost|gets"
    r" nothing"
    r"|unreachable|destination host unreachable|does not (?:work|answer|get through|respond)|never (?:answers"
    r"|arrives)|100 ?% loss|dead)"
)
_PASSES = (
    r"(?:works?|succeed(?:s|ed)?|answers?|ok(?:ay)?|fine|open|connects?|connected|gets through|replies"
    r"|responds?|is good)"
)
_FILES = (
    r"(?:config\.json|the (?:files|shards|weights|checkpoint|model)|all (?:files|shards)|\d{1,3} (?:files"
    r"|shards)|\S{1,40}\.safetensors)"
)


def _reach(good: bool) -> object:
    def take(match: re.Match[str], notes: Notes) -> None:
        if not by_person(match, notes):
            return
        clause = re.split(r"[;,]|\. ", match.string[max(0, match.start() - 60) : match.start()])[-1] + match[0]
        if _STORE.search(clause):
            notes.put("server_ping", good)
        elif _FABRIC.search(clause) and not _ELSEWHERE.search(clause + match.string[match.end() : match.end() + 30]):
            notes.put("peer_reachable", good)

    return take


def _rule(words: str, pattern: str, good: bool) -> Rule:
    return rule(words, pattern, _reach(good))  # type: ignore[arg-type]


def _sides(name: str) -> object:
    """Two values for two nodes."""

    def take(match: re.Match[str], notes: Notes) -> None:
        if by_person(match, notes):
            notes.put(name, match["a"].rstrip(".") != match["b"].rstrip("."))

    return take


def _pair(words: str, pattern: str, name: str) -> Rule:
    return rule(words, pattern, _sides(name))  # type: ignore[arg-type]


def _both_mtu(match: re.Match[str], notes: Notes) -> None:
    if by_person(match, notes):
        notes.put("mtu", float(match["a"]))
        notes.put("mtu_differs", False)


def _gid_type(match: re.Match[str], notes: Notes) -> None:
    if by_person(match, notes):
        notes.put("gid_type", "RoCE v" + match["v"])


def _disk(match: re.Match[str], notes: Notes) -> None:
    """Terabytes are never memory; less than that is a disk's where the words say so."""
    if by_person(match, notes):
        notes.least("disk_free", to_bytes(match["n"], match["u"]))


def _used(match: re.Match[str], notes: Notes) -> None:
    if by_person(match, notes):
        inodes = re.search(r"inode|df -i|iuse", notes.line, re.IGNORECASE) and not re.search(r"df -h", match[0])
        notes.most("inodes_used_percent" if inodes else "disk_used_percent", number(match["p"]))


def _clock(match: re.Match[str], notes: Notes) -> None:
    if by_person(match, notes):
        notes.put("gpu_mhz", number(match["m"]))
        if match["util"]:
            notes.put("gpu_util", number(match["util"]))


_HOST = r"(?:[\w.-]{2,40}|\d{1,3}(?:\.\d{1,3}){3})"
RULES: tuple[Rule, ...] = (
    rule("free left available", rf"(?<![\w.])(?P<n>{NUMBER}) ?(?P<u>[MGT]i?B?)\b (?:is |are )?(?:free|left"
         rf"|available) (?:space )?on (?:the )?(?:target|destination|disk|nvme|volume|partition|root|/\S{{1,40}})",
              _disk),
    said("show gids gid gidtable index", rf"(?:show_gids|\bgids?(?: table| list)?|ibv_devinfo)\b[^\n;.]{{0,16}}"
         rf" (?:lists|shows|has|prints|gives|contains) {_NOT_FOUND}\b", gid_empty=True),
    said("index gid gids entry", rf"\b(?:gid |entry |at )?index \d{{1,3}}(?: (?:there|on|of|the|at|in|a"
         rf"|\w{{2,10}})){{0,4}} (?:is|was|are|comes back|shows|reads) (?:still )?{_EMPTY}\b"
         rf"|\b{_NOT_FOUND} (?:at|for|in|under) (?:gid )?(?:index|the gid table|gids?)\b|\bindex \d{{1,3}} has"
         rf" {_NOT_FOUND}\b|\bgid table is {_EMPTY}", gid_empty=True),
    said("gid gids v", r"\bno (?:RoCE ?)?v2 (?:entry|gid|row)\b(?! (?:changed|missing))|\bgids?[ /]?\d{1,2} (?:is"
         r"|was) " + _EMPTY, gid_empty=True),
    said(CJK, r"GID(?: ?index)? ?\d{0,3}[^\n,，。]{0,10}(?:是空|為空|为空|全零|全是 ?0|不存在|沒有|没有)",
         gid_empty=True),
    said("gid index", r"\b(?:gid(?: index)?|index) \d{1,3} is (?:not empty|populated|there|fine|ok|good|correct|valid"
         r"|set)\b", gid_empty=False),
    said("entry gid index v", r"\b(?:v2|IPv4|right|correct|RoCE)(?: v2)? (?:entry|gid|one) (?:is|sits|moved|stands"
         r"|lives|was|now)(?: (?:now|there))? ?(?:at|to|under|in|on)(?: index)? \d{1,3}\b|\bgid (?:index )?(?:moved"
         r"|jumped|changed|shifted) from \d{1,3} to \d{1,3}", gid_index_differs=True),
    rule("gid index type types roce", r"\b(?:gid |types?/|entry |at )?(?:index )?\d{0,3} ?(?:type )?(?:is|says|shows"
         r"|=|:) (?:only )?(?:IB/)?RoCE ?v(?P<v>[12])\b", _gid_type),
    said("cross", r"NCCL_CROSS_NIC=0[^\n;.]{0,16}\b(?:works|worked|fixes|fixed|helps|helped|cures|runs|it runs|goes"
         r" away|solves|is fine)|(?:works|fine|ok|runs|gone)[^\n;.]{0,24} NCCL_CROSS_NIC=0", cross_rail_broken=True),
    said("cross", r"NCCL_CROSS_NIC=0[^\n;.]{0,16}\b(?:does not|doesn't|did not|didn't|no) (?:help|change|work|fix"
         r"|difference)|NCCL_CROSS_NIC=0[^\n;.]{0,12}(?:still fails|same error|makes no difference)",
              cross_rail_broken=False),
    said("port rail rails cable cables cabled cabling nic", r"\bport (?P<a>\d) (?:of|on) [\w-]{1,20} (?:goes|is"
         r" cabled|is connected|connects|runs|is wired|leads) (?:in)?to (?:port )?(?!(?P=a)\b)\d (?:of|on)\b"
         r"|\b(?:cables?|rails?|ports?|cabling)(?: (?:are|is|were|was))? (?:crossed|cross-?wired|swapped|cabled"
         r" crosswise)|\bcables crossed\b"
         r"|\b(?:on|two|are) separate (?:rails|subnets, no)|\bonly (?:the )?same rail|\brails? (?:cannot|can't|do not"
         r"|don't) (?:reach|see|talk)", cross_rail_broken=True),
    said("cabled connected plugged cable", r"\bonly (?:one (?:port|cable|rail)|[\w]{4,20})(?: \w{1,8})? (?:is|was)"
         r" (?:cabled|connected|plugged|wired)\b[^\n.]{0,60}\bboth\b", cross_rail_broken=True),
    said("cable", r"\b(?:works?|fine|ok|gone|fixed|solved)[^\n;.]{0,24}\b(?:after|with|by) (?:swapping|replacing"
         r"|reseating|changing|another|a new|a different|the other) (?:the |one |of the )?cable"
         r"|\b(?:new|other|another|different|swapped)(?: the)? cable[^\n;.]{0,16}\b(?:works|fixed|fixes|helps|helped"
         r"|solved)", cable_swap_works=True),
    _pair("mtu mtus", r"\bmtus?\b[^\n;\d]{0,16}(?P<a>\d{4})\b[^\n;\d]{0,24}?(?:vs\.?|/|,|and|but|other"
         r"|against)[^\n;\d]{0,24}(?P<b>\d{4})\b", "mtu_differs"),
    rule("mtu mtus", r"\bmtu(?: (?:is|of|=))? ?(?P<a>\d{4}) (?:on |at )?(?:both|everywhere|all)\b"
         r"|\bboth[^\n;.\d]{0,16}mtu ?(?:=|of|is)? ?(?P<c>\d{4})\b(?<!\d{5})(?!)", _both_mtu),
    _pair("nccl", r"\bnccl\b[^\n;\d]{0,16}(?P<a>\d\.\d{1,2}(?:\.\d{1,2})?)[^\n;\d]{0,28}?(?:vs\.?|,|and|but|other"
         r"|against)[^\n;\d]{0,24}(?<![\w.])(?P<b>\d\.\d{1,2}(?:\.\d{1,2})?)", "nccl_version_differs"),
    said("nccl", r"\bnccl\b[^\n;]{0,24}\b(?:the same|identical|equal|both \d\.\d)|\bboth[^\n;.]{0,20}\bnccl ?\d\.\d"
         r"|\bsame nccl\b", nccl_version_differs=False),
    _rule("ping nc telnet ssh curl traceroute ib", rf"\b(?:ping|nc(?: -\w{{1,4}})?|telnet|traceroute|tracepath|rping"
         rf"|ssh)\b[^\n;,]{{0,70}}?\b{_REFUSES}\b", False),
    _rule("reach ping see", r"\b(?:cannot|can't|can not|could not|couldn't) (?:ping|reach|see|connect to) (?:each"
         r" other|the (?:worker|head|peer|other)|rank ?\d|one another)", False),
    _rule("route unreachable routed", r"\bno route (?:between|to (?:the )?(?:peer|worker|head|other|host|it|each))"
         r"|\broute get\b[^\n;]{0,40}unreachable|\bnot routed\b", False),
    _rule("ping nc telnet reach traceroute", rf"\b(?:ping|nc(?: -\w{{1,4}})?|telnet|traceroute|rping)\b"
         rf"(?:(?!no |not |never|n't|fail|time)[^\n;,]){{0,60}}?\b{_PASSES}\b", True),
    _rule("reach ping see", r"(?<!not )\bcan (?:ping|reach|see) (?:each other|the (?:worker|head|peer|other)|one"
         r" another)|\bnodes? (?:ping|reach) each other", True),
    said("rpcinfo", r"\brpcinfo\b[^\n;]{0,60}(?:refused|timed out|times? out|hangs|no answer|does not answer"
         r"|unreachable|unable to receive|no route)",
         server_ping=False),
    said("rpcinfo showmount", r"\b(?:rpcinfo|showmount)(?: -\w)?(?: (?:\S{1,30}|on \S{1,30}))?(?: (?:still|also))?"
         r" (?:answers|works|is fine|ok|replies|lists (?:nfs|the|program|all)|shows 100003)", server_ping=True),
    said("port", r"(?:\b|:)2049\b[^\n;.]{0,20}\b(?:closed|filtered|refused|blocked|not (?:open|reachable)|unreachable"
         r"|times? out)", server_ping=False),
    said("port open", r"(?:\b|:)2049\b[^\n;.]{0,16} (?:is )?(?:open|reachable|answers)", server_ping=True),
    said("clients client machines", r"\bother (?:nfs )?(?:clients?|machines|nodes|hosts)(?: (?:of|on) the (?:nas"
         r"|server))?(?: (?:are|is|work|mount|read|still|run|can|it|the share))* ?(?:fine|ok|works?|mount it|read it"
         r"|happy|unaffected|not affected)\b", other_clients_ok=True),
    said("mounted mount", r"\bnothing (?:is |was )?mounted\b|\bno longer mounted\b|\b(?:not|never) mounted\b(?!"
         r" (?:soft|hard|with|read))|\bempty (?:local )?directory\b|\bmount point is empty|\bumounted\b",
              nfs_mounted=False),
    said(CJK, r"(?:沒有|没有|未|沒|没)(?:掛載|挂载)|(?:掛載點|挂载点)[^\n,，。]{0,4}(?:是空|為空|为空)",
         nfs_mounted=False),
    said("mounted", r"\b(?:is|are|was) mounted and (?:full|has|there|readable|shows|complete|populated|not empty"
         r"|fine)\b", nfs_mounted=True, model_files_there=True),
    said("mounted", r"\b(?:share|nas|nfs|directory|path|it|/mnt\S{0,40}|/models?\S{0,30}) is (?:still |correctly "
         r"|properly )?mounted\b(?! (?:soft|hard|with|over))", nfs_mounted=True),
    said("ls shows lists", rf"\bls\b[^\n;]{{0,60}}\b(?:shows|lists|prints|has|sees|gives) {_FILES}",
         nfs_mounted=True, model_files_there=True),
    said("config directory dir folder", rf"\b(?:config\.json|all shards|the files|all files) (?:is|are) (?:all"
         rf" )?(?:there|present|visible)\b|\b(?:directory|folder|dir)\b[^\n;.]{{0,12}}\b(?:is full|is there and"
         rf"|contains|holds) {_FILES}", model_files_there=True),
    said("mount", r"\bmount(?: -a| \S{0,40})?(?: (?:by hand|manually|afterwards|later|now|again))* (?:works|worked"
         r"|succeeds|succeeded|helps|is fine|goes through)\b|\b(?:manual|by hand) mount works",
              mount_by_hand_works=True),
    said("netdev", r"\b(?:no|without|lacks?|missing|has no|forgot|not have) ?(?:the )?_netdev\b|_netdev (?:is"
         r" )?(?:missing|absent|not (?:there|set))", nfs_netdev=False),
    rule("t target disk nvme space free left volume partition", rf"(?<![\w.])(?P<n>{NUMBER}) ?(?P<u>T(?:i?B)?)\b"
         rf" (?:is |are |still )?(?:free|left|available)", _disk),
    rule("target destination disk nvme volume partition root space", rf"\b(?:target|destination|disk|nvme|volume"
         rf"|partition|filesystem)(?: (?:has|still has|only has|with|of|the|is|at)){{1,3}} (?:only )?(?P<n>{NUMBER})"
         rf" ?(?P<u>[MGT]i?B?)\b (?:free|left|available)", _disk),
    rule("used full inodes inode iuse df", r"\b(?:disk|df(?: -\w{1,2})?|inodes?|filesystem|partition|nvme|volume"
         r"|root)\b[^\n;%,\d]{0,24}(?<![\w.])(?P<p>\d{1,3}) ?% ?(?:used|full|IUse|in use|use|inodes?|$)", _used),
    said("disk full inodes inode", r"\b(?:the |my |its )?(?:disk|filesystem|partition|nvme|volume) (?:is|was|ran|got)"
         r" (?:completely |totally )?full\b", disk_used_percent=100.0),
    said("inodes inode", r"\bno (?:free )?inodes? (?:left|free|available)|\bout of inodes|\binodes? (?:are"
         r" )?(?:exhausted|used up)", inodes_used_percent=100.0),
    said("lfs pointer pointers", r"\b(?:git-?)?lfs[ -]pointers?\b|\bpointer files? (?:of|from) (?:git-?)?lfs"
         r"|\bversion https://git-lfs", lfs_pointer=True),
    said("sha checksum checksums md hash hashes digest", r"\b(?:sha(?:256|1|512)?(?:sums?)?|checksums?|md5(?:sums?)?"
         r"|hash(?:es)?)\b[^\n;.]{0,30}\b(?:do(?:es)? not match|don't match|doesn't match|mismatch(?:es)?|differs?|is"
         r" wrong|are different|is different)\b", checksum_differs=True),
    said("sha checksum checksums md hash hashes", r"\b(?:sha(?:256|1|512)?(?:sums?)?|checksums?|md5(?:sums?)?"
         r"|hash(?:es)?)\b (?:all )?(?:match(?:es)?|(?:is|are) (?:ok|fine|the same|identical|equal|correct))\b",
              checksum_differs=False),
    said("kernel", r"\b(?:older|old|previous|prior|earlier|last|6\.\d{1,2}) kernel\b[^\n;.]{0,24}\b(?:works?|worked"
         r"|runs|fine|no (?:problem|error)s?|fixed|fixes|gone|helps)\b|\bkernel (?:downgrade"
         r"|rollback)[^\n;.]{0,12}(?:works|fixed|fixes|helps|solved)", older_kernel_works=True),
    rule("mhz", r"\b(?:stuck|pinned|latched|locked|stays?|capped|hangs|sits|frozen) (?:at|on) (?P<m>\d{3,4})"
         r" ?MHz(?:[^\n;.\d]{0,12}(?P<util>\d{1,3}) ?%)?", _clock),
    said("dmesg kernel", r"\bno (?:errors?|xids?|oom|entries|messages)(?: \w{2,10}){0,2} in (?:the )?(?:dmesg|kernel"
         r" log|journal)|\b(?:dmesg|kernel log) (?:is |was |stays )?(?:clean|quiet|silent|empty)|\bdmesg (?:shows|has"
         r"|says) nothing|\bnothing in (?:the )?(?:dmesg|kernel log)", dmesg_clean=True),
    said(CJK, r"dmesg ?(?:裡|里|中)?(?:沒有|没有|無|无)(?:任何)?(?:錯誤|错误|異常|异常)", dmesg_clean=True),
    said("frozen console freezes froze hung keyboard dead locked wedged", r"\b(?:box|node|host|machine|system"
         r"|spark-?\w{1,4}|it)"
         r" (?:is |was )?(?:completely |totally )?(?:frozen|froze|wedged|locked up)\b|\bconsole (?:does not (?:react"
         r"|respond)|is (?:dead|frozen|black)|dead|frozen)|\bkeyboard (?:dead|does not react)", host_frozen=True),
)  # fmt: skip
