"""Secrets in remote text are masked before it is shown or kept: `sk-…`, `hf_…`, bearer tokens, keys, passwords.

What is masked is the value; the name that gives it away stays, so that a line still tells what it was. Names of
settings that only sound like secrets (`max_tokens`, `eos_token_id`, `tokenizer`) are left alone. Linear in the text:
each pattern begins with a literal and repeats one class only.
"""

from __future__ import annotations

import re

MASK = "***"

_NAMES = (
    r"(?:(?:api|access|private|secret|master|auth|signing|encryption|account)[_-]?key"
    r"|token(?!s|iz|_?ids?(?![a-z]))|secret|passw(?:or)?d|passphrase|credentials?)"
)
_UNSET = r"(?!(?:None|null|true|false|nil)(?!\w)|\*\*\*|\$\{|<|\[\]|\(\)|[\"']{2})"
_VALUE = (
    r"(?:\\{1,4}[\"'][^\"'\\\n]*(?:\\{1,4}[\"'])?"  # JSON inside JSON
    r"|\"(?:[^\"\\\n]|\\.)*\"?|'(?:[^'\\\n]|\\.)*'?|\[[^\]\n]*\]?|\([^)\n]*\)?|[^\s\"']+)"
)
_IS = r"\\{0,4}[\"']?\s{0,3}[:=]\s{0,3}"
"""Between a name and its value: `=`, `: `, `": `, `\": `."""
_NAMED = ("key", "token", "secret", "passw", "passph", "credential")
_FORMS = (
    "sk-", "hf_", "nvapi-", "npm_", "gho_", "ghp_", "ghs_", "ghu_", "github_pat_", "glpat-", "xoxa-", "xoxb-", "xoxp-",
)  # fmt: skip
_RULES: tuple[tuple[tuple[str, ...], re.Pattern[str], str], ...] = tuple(
    (signs, re.compile(pattern, flags), rf"\1{MASK}{end}")
    for signs, pattern, flags, end in (
        # Authorization: Bearer xyz, "authorization": "Basic xyz"; a bare `Bearer xyz` of a form that no word has.
        (
            ("authorization",),
            r"(authorization[\"']?\s{0,4}[:=]\s{0,4}[\"']?(?:[a-z]{3,12}\s{1,4})?)[^\s\"',]+",
            re.IGNORECASE,
            "",
        ),
        (
            ("bearer ", "basic "),
            r"(\b(?:bearer|basic)\s{1,4})(?=[^\s\"',]{0,80}[0-9=])[A-Za-z0-9._~+/=-]{12,}",
            re.IGNORECASE,
            "",
        ),
        # ?token=xyz& of an address ends at the next parameter.
        (_NAMED, rf"([?&][\w-]{{0,24}}{_NAMES}[\w-]{{0,24}}=){_UNSET}[^\s\"'&]+", re.IGNORECASE, ""),
        # HF_TOKEN=xyz, "password": "xyz", x-api-key: xyz, api_key=['xyz'], --api-key xyz, "--api-key", "xyz"
        (_NAMED, rf"({_NAMES}[\w-]{{0,24}}{_IS}){_UNSET}{_VALUE}", re.IGNORECASE, ""),
        (
            _NAMED,
            rf"((?<![\w-])--?[a-z-]{{0,24}}{_NAMES}[\w-]{{0,24}}(?:[\"'],)?\s{{1,3}})(?!-){_UNSET}{_VALUE}",
            re.IGNORECASE,
            "",
        ),
        (("pass", "pwd"), rf"((?<![a-z0-9])(?:pass|pwd){_IS})(?!/){_UNSET}{_VALUE}", re.IGNORECASE, ""),
        (('auth"', "auth'", "auth\\"), rf"((?<!\w)\\{{0,4}}[\"']auth{_IS}){_UNSET}{_VALUE}", re.IGNORECASE, ""),
        (("cookie",), rf"(\bcookie{_IS}){_UNSET}[^\s\"'][^\n\"']*", re.IGNORECASE, ""),
        (("sshpass",), r"(\bsshpass\s{1,3}-p\s{0,3})(?!\*)[^\s]+", 0, ""),
        (
            ("-u ", "-u=", "--user"),
            r"((?<![\w-])(?:-u|--user)[ =][\"']?[^\s:\"'/]{1,100}:)(?!\d+\b|\*)[^\s\"']+",
            0,
            "",
        ),
        # https://user:xyz@host, also with `@` and `/` in the password; https://xyz@host
        (("://",), r"(://[^\s/@:\"']{0,200}:)(?:[^\s/\"'@]{1,60}@[^\s\"'@]{1,60}|[^\s/\"']{1,400})@", 0, "@"),
        (("://",), r"(://)[A-Za-z0-9_.-]{16,200}@", 0, "@"),
        # Keys that show themselves by their form.
        (_FORMS, r"\b(sk-|hf_|nvapi-|npm_|gh[opsu]_|github_pat_|glpat-|xox[abp]-)[A-Za-z0-9_-]{10,}", 0, ""),
        (("akia", "asia"), r"\b(AKIA|ASIA)[A-Z0-9]{16}\b", 0, ""),
        (("aiza",), r"\b(AIza)[A-Za-z0-9_-]{30,}", 0, ""),
        (("ya29.",), r"\b(ya29\.)[A-Za-z0-9_-]{10,}", 0, ""),
        (("eyj",), r"\b(eyJ)[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?", 0, ""),
        (("-----begin",), r"(-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----)(?!\*)[^\n]+", 0, ""),
    )
)
"""What in the lowered text asks for a pattern, the pattern, and what stands for it."""
_BLOCK = re.compile(
    r"(?m)(?<![\w+/.-])(?=[^\s/]{0,60}[A-Z])(?=[^\s/]{0,60}[a-z])[A-Za-z0-9+][A-Za-z0-9+/]{59,75}={0,2}$"
)
"""A whole row of base64 at the end of a line: the body of a key in PEM. A hash has one case of letters only."""
_LONG = 60


def redact(text: str) -> str:
    """`text` with the values of secrets as `***`; a text without any of their signs costs a few searches."""
    if len(text) >= _LONG and ("\n" in text or " " not in text[-_LONG:]):
        text = _BLOCK.sub(MASK, text)
    # "tokens" stands in each line of an engine's statistics; it is never a secret.
    low = text.lower().replace("tokens", "")
    for signs, pattern, instead in _RULES:
        for sign in signs:
            if sign in low:
                text = pattern.sub(instead, text)
                break
    return text
