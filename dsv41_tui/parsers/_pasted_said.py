"""What a person tells of the run: whether it served, what it was doing, what became of the other rank."""

from __future__ import annotations

import re

from dsv41_tui.parsers._pasted_rules import CJK, SIZED, Notes, Rule, by_person, is_logged, rule, said, to_bytes

_ENGINE = re.compile(r"vllm|sglang|\bengine\b|\bworker|\brank|\bhead\b|ray::|page[ -]?cache|buff|prompt|model", re.I)
_COUNT = (
    r"(?:about |around |almost |nearly |over |more than |~ ?)?(?:\d{1,5}|an?|one|two|three|several|many|some|a"
    r" few)"
)
_TIME = rf"(?:{_COUNT} ?(?:s|sec|seconds?|m|min|minutes?|h|hrs?|hours?|d|days?|weeks?)\b|hours|days|weeks|a while|ages)"
_PEER = (
    r"(?:(?:the )?(?:worker|peer|head|master|leader|remote|other|second|first)(?: (?:node|rank|host|box|side|machine))?"
    r"|rank ?\d{1,2}|node ?\d|spark-?\w{1,4}|(?:worker|peer)-?\d)(?:'s)?"
)
_NODE = (
    r"(?:(?:worker|peer|head|master|remote|other|second|first) (?:node|host|box|machine|server|spark)"
    r"|(?:the )?(?:worker|peer)|rank ?\d{1,2}(?:'s)? (?:node|host|box|machine)|node ?\d|spark-?\w{1,4})"
)
_GONE = (
    r"(?:exited|ended|died|crashed|stopped|gone|dead|killed|removed|OOM-?killed|not running|no longer (?:running"
    r"|there|up)"
    r"|missing|vanished|disappeared)"
)
_OLD = (
    r"(?:old(?:er)?|previous|stale|left-?over|orphan(?:ed)?|yesterday'?s|last (?:run|night)'?s|earlier|former"
    r"|forgotten|another)"
)
_OWNER = r"(?:container|head|server|run|engine|process|vllm|instance|master|job|one)"
_FIX = r"(?:works?|worked|runs?|ran|is fine|are fine|goes through|succeeds?|fine|ok)"


def _uptime(match: re.Match[str], notes: Notes) -> None:
    """Minutes of uptime on another node: it booted, and what ran there is gone."""
    if not by_person(match, notes):
        return
    scale = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}[match["t"][0].lower()]
    seconds = float(match["n"]) * scale
    notes.put("uptime_s", seconds)
    if seconds < 900:
        notes.put("rebooted", True)
        if re.search(rf"\b{_NODE}", notes.line, re.IGNORECASE):
            notes.put("peer_exited", True)


def _rebooted(match: re.Match[str], notes: Notes) -> None:
    if by_person(match, notes):
        notes.put("rebooted", True)
        notes.put("peer_exited", True)


def _user(match: re.Match[str], notes: Notes) -> None:
    """Another process or container and what it holds."""
    before = re.split(r"[,;.:(]\s", match.string[max(0, match.start() - 50) : match.start()])[-1]
    denied = re.search(r"\b(?:not|never|no longer)\b", match[0], re.IGNORECASE)
    if by_person(match, notes) and not denied and not _ENGINE.search(before + match[0]):
        notes.most("other_process_bytes", to_bytes(match["n"], match["u"]))


_ROW = re.compile(rf"(?P<who>[A-Za-z][\w./ :-]{{1,40}}?)[ :=]{{1,3}}(?:RSS |RES )?{SIZED}")


def _ranked(match: re.Match[str], notes: Notes) -> None:
    """`ps --sort -rss: borg create 9.8 GiB, gnome-shell 1.1 GiB`: the largest that is not the engine's."""
    if is_logged(notes.line):
        return
    for item in _ROW.finditer(match["rows"]):
        if not _ENGINE.search(item["who"]) and not _NO_PROCESS.search(item["who"]):
            notes.most("other_process_bytes", to_bytes(item["n"], item["u"]))


_NO_PROCESS = re.compile(r"\b(?:free|avail\w*|total|used|cached?|mem\w*|swap|shm\w*)\b", re.IGNORECASE)


def _orphan(match: re.Match[str], notes: Notes) -> None:
    if by_person(match, notes):
        notes.put("orphan_process", True)
        notes.most("compute_apps_bytes", to_bytes(match["n"], match["u"]))


def _idle(match: re.Match[str], notes: Notes) -> None:
    """A terminal or a tunnel idles too."""
    if by_person(match, notes) and not re.search(r"\b(?:ssh|vpn|session|terminal|tunnel|shell)\b", notes.line, re.I):
        notes.put("idle", True)


def _load(match: re.Match[str], notes: Notes) -> None:
    if not by_person(match, notes):
        return
    notes.put("ready", False)
    if not re.search(r"\b(?:hang|hung|stuck|froze|frozen|stops?|stalls?|no progress)", notes.line, re.IGNORECASE):
        notes.put("loading", True)


_HOLDS = (
    r"(?:uses|using|used|holds|holding|takes|taking|has|occupies|eats|eating|with|at|of|grabbed|allocates"
    r"|allocated)"
)
_PROGRAMS = (
    r"container|process|job|python3?|ollama|comfyui|jupyter|notebook|training|llama\S{0,8}|Xorg|firefox|chrome"
    r"|browser|blender"
    r"|desktop|gnome\S{0,8}|program|script|upload|rsync|compile|build"
)
RULES: tuple[Rule, ...] = (
    rule("ps top htop smem",
         r"\b(?:ps(?: aux\w{0,3}| -\w{1,8})?(?: (?:-o|-eo) [\w,]{2,40})?(?: --?sort[ =]?[-+]?%?\w{2,8}"
         r"| by (?:rss|memory))|top|htop|smem)(?: (?:shows|says|lists|has)|:)(?P<rows>[^\n;]{3,240})", _ranked),
    said("up running", rf"\b(?:service|server|engine|vllm|sglang|model|it) (?:was|were) (?:up|running)(?: fine)? for"
         rf" {_TIME}", ready=True),
    said("nobody one started", rf"\b(?:nobody|no one) (?:has |had )?started (?:the )?{_PEER}", peer_exited=True),
    rule("uptime", r"\buptime (?:on|of) (?:the )?[\w-]{2,16}(?: node| host)?(?: is| says|:)? ?(?P<n>\d{1,5})"
         r" ?(?P<t>s|sec|min|minutes?|h|hours?|days?)\b", _uptime),
    said("serving answering working running generating responding up healthy",
         rf"\b(?:had|has|have)(?: it)? been (?:serving|answering|working|generating|responding|running|up|healthy)"
         rf"(?: [\w/]{{1,12}}){{0,3}} (?:for|since) (?:{_TIME}|[\w:]{{2,12}})", ready=True),
    said("served answered worked ran serves",
         rf"\b(?:served|answered|worked|ran)(?: (?:fine|well|ok|requests|traffic|without (?:problems|errors)"
         rf"|perfectly))?"
         rf" (?:for|the whole|all) (?:{_TIME}|day|night|morning|week)", ready=True),
    said("serving traffic decoding decode generation uptime load",
         rf"\b(?:after|during|in the middle of) (?:{_TIME} of )?(?:serving|traffic|decod(?:e|ing)|generation|uptime"
         rf" under load)",
         ready=True),
    said(CJK, r"(?:已經?|已经|正常|穩定|稳定)(?:服務|服务|運行|运行|跑)了? ?\d{0,4} ?(?:個|个)?(?:小時|小时|分鐘"
         r"|分钟|天|多)", ready=True),
    rule("idle", r"\b(?:(?:was|is|were|sat|stood|been|completely|all) idle|idle (?:for|since|overnight|at the"
         r" time))\b", _idle),
    said("nobody one users traffic load requests request",
         r"\b(?:nobody|no one|no users?|no clients?) (?:was |were |is |had been )?(?:using|on|asking|connected|there)"
         r"|\bno (?:traffic|load|requests?)(?: (?:at the time|then|at all|running|in flight|overnight|coming in)"
         r"|[,.;]|$)"
         r"|\bwithout (?:any )?(?:load|traffic|requests)\b|\bzero requests\b|\bno requests? (?:was|were|is|are)"
         r" (?:running|active|in flight)\b", idle=True),
    said(CJK, r"(?:引擎|服務|服务|模型|當時|当时)[^\n,，。]{0,6}(?:閒置|闲置|空閒|空闲)|(?:沒有?人|没有?人)(?:在)?用"
         r"|(?:沒有|没有)任?何?(?:請求|请求)",
         idle=True),
    said("idle busy load", r"\b(?:was|were) (?:not|n't|never) idle\b|\bunder (?:full |heavy |high )load\b|\bwas busy\b",
         idle=False),
    said("prefill prefilling prefilled prompt prompts",
         r"\b(?:in the middle of|in|during|while|amid|on) (?:(?:an?|the|its|one|long|big|huge|\d{1,4}[kK]?)[ -]"
         r"|tokens?[ -]){0,5}"
         r"prefill(?:ing)?\b|\bprefill(?:ing)? (?:of [^\n,;.]{1,30} )?(?:was|were|is) (?:still )?(?:running|going on"
         r"|active|under ?way|in progress)"
         r"|\bprompts? (?:was|were|is|are)(?: just| still)? being (?:prefilled|processed|read)|\bwas prefilling\b"
         r"|\d{2,3}[kK][ -](?:tokens? )?prefill (?:was )?(?:running|in flight|under ?way|in progress)", prefill=True,
              idle=False, ready=True),
    said(CJK, r"(?:正在|在做|跑)[^\n,，。]{0,16}prefill|prefill ?(?:中|期間|期间|時|时|到一半)|長提示詞?處理中"
         r"|长提示词?处理中",
         prefill=True, idle=False, ready=True),
    said("prefill", r"\b(?:not|n't) (?:during|in|while)(?: an?| the)?(?: long)? prefill|\bno (?:long )?prefill(?:"
         r" was)? (?:running|active|in flight)",
         prefill=False),
    rule("load loading boot startup start weights model",
         r"\b(?:during|while|at|in the middle of)(?: the)? (?:model |weight |weights |shard |checkpoint"
         r" )?(?:load(?:ing)?\b(?! (?:test|of|peak|balanc))|startup|start-up)(?: time)?"
         r"|\bwhile (?:it|the engine|vllm|the model) (?:was )?load(?:s|ed|ing)\b|\bduring (?:engine )?boot\b"
         r"|載入(?:模型|權重)?(?:時|中|期間)|加载(?:模型|权重)?(?:时|中|期间)", _load),
    said("start init startup launch starting", r"\b(?:right|directly|immediately|shortly|\d{1,3} ?(?:s|sec|seconds?))"
         r" after (?:the )?(?:start(?:up)?|init|launch(?:ing)?|boot of the engine)\b"
         r"|\bat the very (?:start|beginning)\b|\bon every start\b", ready=False),
    said("log silent quiet logs", r"\b(?:worker|head|engine|rank ?\d|both|all)?(?:'s)? ?logs? (?:is |are |was |stays?"
         r" |went |goes )?(?:silent|quiet)\b"
         r"|\bnothing (?:more |new )?in (?:the |any )?logs? (?:since|for|after)", progress=False),
    said("tokens token output still generates produces streams", r"\b(?:tokens|output) (?:are |is |still |do |does "
         r"|keeps? |keep ){1,3}(?:com(?:e|es"
         r"|ing)|flow(?:s|ing)?|arriv(?:e|es|ing)|being produced|produced)"
         r"|\bstill (?:produces|generates|streams|answers)\b", progress=True),
    said("tokens token", r"\bno (?:more )?tokens (?:come|arrive|at all|any ?more|flow)|\btokens (?:stopped|do not"
         r" come|no longer come)", progress=False),
    said("compiler compilers cicc nvcc ptxas ninja", r"\bno (?:compilers?|cicc|nvcc|ptxas|ninja|jit)(?: (?:or|nor"
         r"|and) \w{3,8}){0,3}(?: process(?:es)?)?(?: (?:is|are|was|were))? ?(?:running|active|there|to be seen|in"
         r" top|in ps|processes)?\b",
         compiler_runs=False),
    said("cicc nvcc ptxas ninja", r"(?<!no )\b\d{1,3} (?:cicc|nvcc|ptxas|ninja)\b|\b(?:cicc|nvcc|ptxas|ninja)(?:(?:,|"
         r" and| or) ?\w{3,6}){0,3} (?:is|are|were|was|still|keeps?) (?:still )?(?:running|busy|at \d{1,3} ?%"
         r"|compiling)"
         r"|\b(?:top|ps|htop) shows [^\n,;.]{0,20}(?:cicc|nvcc|ptxas)\b", compiler_runs=True),
    said("spy stack stacks dump dumps backtrace backtraces",
         r"(?:py-?spy|\bstacks?|\bdumps?|\bbacktraces?)\b[^\n;.]{0,60}\b(?:identical|the same|unchanged"
         r"|(?:do|did|have|has) not (?:changed?|moved?|differ)|don't (?:change|move)|equal|same (?:stack|frame"
         r"|place|line))"
         r"|\bsame (?:stack|frame|backtrace|place)s?\b[^\n;.]{0,40}(?:twice|again|each time|every time|both times|for"
         r" (?:minutes|hours|\d)|later|apart)", same_stacks=True),
    said("spy stack stacks dump dumps", r"(?:py-?spy|\bstacks?|\bdumps?)\b[^\n;.]{0,40}\b(?:differ|different|changes?"
         r"|move|moves|not (?:identical|the same))\b",
         same_stacks=False),
    said("curl direct directly straight request requests", r"\b(?:direct(?:ly)?|straight)\b(?:(?!never|not"
         r" )[^\n,;.]){0,24}\b(?:curl"
         r"|request|call|port|engine|backend|8000|8888)?(?:(?!never|not )[^\n,;.]){0,12}?"
         rf"\b(?:(?:answers?|gives? (?:a )?200|returns? 200)|{_FIX})(?=[\s,;.]|$)(?<!not work)(?<!not run)|\bcurl"
         rf" (?:to |on )?(?:the )?(?:engine|vllm|backend|spark-?\w)(?:'s port)? (?:directly )?{_FIX}\b",
         health="200"),
    said("curl direct directly straight", r"\b(?:direct(?:ly)?|straight)\b[^\n,;.]{0,30}\b(?:does not|doesn't|do not"
         r"|no longer) (?:work|answer)|\bdirect (?:curl|request)s? (?:fails?|refused|also fails?)",
         health="refused"),
    said("proxy litellm", r"\b(?:through|via|over|behind)(?: the)? (?:proxy|litellm)[^\n,;.]{0,16}\b(?:nothing|no"
         r" answer|does not|doesn't|hangs|times? out|dead|404|500)", proxy_ok=False),
    said("count counting", r"\b(?:also|even|same|just as (?:low|bad)|too|still)\b[^\n;.]{0,32}\bcount(?:ing)?\b"
         r"|\bcount(?:ing)?\b[^\n;.]{0,24}\b(?:also|just as low|as low|too)\b",
         low_when_counting=True),
    said("image build nightly version images", r"\bonly (?:with|in|on|since) (?:the |this )?(?:new(?:est)?|latest"
         r"|nightly|current|updated|patched|own)(?: \w{1,12}){0,2} (?:image|build|nightly|version|wheel)"
         r"|\b(?:with|on) (?:the )?(?:old(?:er)?|previous|last|stock|upstream) (?:image|build|version|wheel)(?: it|"
         r" all| everything)? (?:works|runs|is fine)", image_specific=True),
    said("exited ended died crashed stopped gone dead killed removed running there missing vanished disappeared"
         " container",
         rf"\b{_PEER} (?:container|process|engine|server)(?: (?:is|was|has|had|been|just|already|itself|got)){{0,3}}"
         rf" {_GONE}\b", peer_exited=True),
    said("rank worker gone killed dead died exited missing ps", rf"\b(?:rank ?\d{{1,2}}|peer)(?: (?:is|was|has|had"
         rf"|got|already|just|been)){{0,3}} {_GONE}\b"
         r"|\bcontainer (?:is )?gone from docker ps\b", peer_exited=True),
    said("docker ps", r"\bdocker ps\b[^\n;.]{0,6} (?:(?:on|at|from|of) (?:the )?[\w.-]{2,24}(?: (?:node|host|box))?"
         r" )?(?:is |shows |lists |prints |gives |comes back |was ){0,2}(?:empty|nothing|no (?:containers?|rows?"
         r"|lines?))",
         peer_exited=True),
    said("started container running ran", rf"\b{_PEER}(?: (?:container|process|rank|engine))? (?:was|were|is|has"
         rf" been) (?:never|not|not yet) (?:started|launched|created)"
         rf"|\bno containers? (?:is |are |was )?(?:running |up |left )?on (?:the )?{_PEER}|\bforgot to start (?:the"
         rf" )?{_PEER}", peer_exited=True),
    said("containers ranks workers engines", r"\b(?:both|all|the two|all four) (?:containers|ranks|workers|engines"
         r"|processes)(?: (?:are|were|still|look|show)){1,3} (?:up|alive|running|healthy)\b",
         peer_exited=False),
    said("containers ranks workers", r"\b(?:both|all) (?:containers|ranks|workers) (?:up|alive|running)\b",
         peer_exited=False),
    said(CJK, r"(?:worker|另一(?:台|個|个)|對端|对端|從節點|从节点|rank ?\d)[^\n,，。]{0,10}(?:容器)?(?:已經"
         r"|已经)?(?:退出|停了|掛了|挂了|被殺|被杀|不見"
         r"|不见|死了)", peer_exited=True),
    said("container exited stopped", r"\b(?:vllm|engine|sglang|model|serving)(?: server)?(?:'s)? container(?: (?:has"
         r"|had|is|was)){0,2} (?:exited|stopped|not running|down|gone)\b", container_state="exited"),
    rule("rebooted restarted power", rf"\b{_NODE}(?: (?:was|has|had|just|been|got|itself|also)){{0,3}} (?:rebooted"
         rf"|power[ -]?cycled|lost power|reset itself)\b", _rebooted),
    rule(CJK, r"(?:worker|另一台|對端|对端|節點|节点)[^\n,，。]{0,8}(?:重開機|重新開機|重启|重啟)(?:了|過|过)",
         _rebooted),
    rule("uptime up", r"\buptime(?: (?:is|says|of|shows|only|there|now|reads|just|on \S{1,20})|[:=, ]){1,4}"
         r" ?(?P<n>\d{1,5}) ?(?P<t>s|sec|m|min|h|hours?|days?|d|weeks?|minutes?|seconds?)\b", _uptime),
    said("uptime reboot rebooted boot", r"\buptime[^\n;.]{0,24}\bunchanged|\bsame boot[ _-]?id|\b(?:no|without a?)"
         r" ?reboots?\b|\b(?:was|has|did|were|is) not (?:been )?reboot(?:ed)?\b", rebooted=False),
    said("container head server run engine process vllm instance master job one",
         rf"\b{_OLD} (?:\w{{1,12}} )?{_OWNER}(?: (?:is|was|are|on \w{{2,12}}))* ?(?:still )?(?:runs|running|up|alive"
         rf"|listens|listening|holds|there|around)\b(?! with)", port_owner_old=True),
    said("held taken used owned bound occupied use", rf"\b(?:ports?|29\d{{3}}|8\d{{3}})\b"
         rf" ?\d{{0,5}}[^\n;.]{{0,16}}\b(?:held|taken|used|owned"
         rf"|bound|occupied|in use) by (?:the |an? )?{_OLD}\b", port_owner_old=True),
    said("up", r"\bdocker ps\b[^\n;]{0,40}(?:old|prev|stale)\S{0,12} Up \d[^\n;]{0,20}\b(?:next to|beside|besides|as"
         r" well as|and) the new", port_owner_old=True),
    said("container containers head", r"\btwo (?:heads?|head containers|vllm containers|engines) (?:are |were"
         r" )?(?:running|up)\b|\bnext to the new (?:one|container)\b", port_owner_old=True),
    said(CJK, r"(?:舊|旧|上一個|上一个|昨天)的?(?:容器|行程|进程|head)[^\n,，。]{0,6}(?:還在|还在|仍在|佔|占)",
         port_owner_old=True),
    said("container listens listening process free", rf"\b(?:no|not an?y?) {_OLD} {_OWNER}(?: (?:is|was|runs?|running"
         rf"|left|there|around|still))+\b"
         r"|\bnothing (?:else )?(?:is )?listen(?:s|ing) on (?:the )?(?:port )?(?:29\d{3}|rendezvous|master)",
              port_owner_old=False),
    rule(f"container process job python ollama comfyui jupyter notebook training llama xorg firefox chrome browser"
         f" blender desktop program script upload rsync compile build gnome {CJK}",
         rf"\b(?:{_PROGRAMS})\b(?: [\w()-]{{1,16}}){{0,3}}? {_HOLDS} (?:about |around |~ ?|only |up )?{SIZED}", _user),
    rule("container process job python ollama comfyui jupyter training", rf"{SIZED} (?:of (?:GPU |unified )?memory"
         rf" )?(?:is |are |was )?(?:used|held|taken|eaten|occupied) by (?:an? |another |the |some"
         rf" )?(?P<who>[\w-]{{2,24}} ?(?:{_PROGRAMS})?)", _user),
    rule("zombie orphan orphaned leftover defunct dead stale", rf"\b(?:zombie|orphan(?:ed)?|left-?over|defunct"
         rf"|stale)\b[^\n;.,]{{0,24}}\b{_HOLDS} (?:about |still |~ ?)?{SIZED}", _orphan),
)  # fmt: skip
