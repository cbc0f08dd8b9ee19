"""Secrets in remote text are masked before it is shown or kept: `sk-…`, `hf_…`, bearer tokens, keys, passwords.

What is masked is the value; the name that gives it away stays, so that a line still tells what it was. Names of
settings that only sound like secrets (`max_tokens`, `eos_token_id`, `tokenizer`) are left alone. Linear in the text:
each pattern begins with a literal and repeats one class only.
"""

from __future__ import annotations

import re

MASK = "***"

_NAMES = (
    r"(?:(?:api|access|private|secret|master|auth|signing|encryption|account)[_-]?key(?!s\b)"
    r"|token(?!s|iz|_?ids?\b)|secret|passw(?:or)?d|passphrase|credentials?)"
)
_UNSET = r"(?!(?:None|null|true|false|nil|\*\*\*|\$\{|<)|[\"']{2})"
_VALUE = r"(?:\"[^\"\n]*\"?|'[^'\n]*'?|[^\s\"'&]+)"
_RULES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, flags), rf"\1{MASK}{end}")
    for pattern, flags, end in (
        # Authorization: Bearer xyz, "authorization": "Basic xyz"; a bare `Bearer xyz` of a form that no word has.
        (r"(authorization[\"']?\s{0,4}[:=]\s{0,4}[\"']?(?:[a-z]{3,12}\s{1,4})?)[^\s\"',]+", re.IGNORECASE, ""),
        (r"(\b(?:bearer|basic)\s{1,4})(?=[^\s\"',]{0,80}[0-9=])[A-Za-z0-9._~+/=-]{12,}", re.IGNORECASE, ""),
        # HF_TOKEN=xyz, "password": "xyz", x-api-key: xyz, --api-key xyz
        (rf"({_NAMES}[\w-]{{0,24}}[\"']?\s{{0,3}}[:=]\s{{0,3}}){_UNSET}{_VALUE}", re.IGNORECASE, ""),
        (rf"((?<![\w-])--?[a-z-]{{0,24}}{_NAMES}[\w-]{{0,24}}\s{{1,3}})(?!-){_UNSET}{_VALUE}", re.IGNORECASE, ""),
        # https://user:xyz@host
        (r"(://[^\s/@:\"']{0,200}:)[^\s/\"']{1,400}@", 0, "@"),
        # Keys that show themselves by their form.
        (r"\b(sk-|hf_|nvapi-|gh[opsu]_|github_pat_|glpat-|xox[abp]-)[A-Za-z0-9_-]{10,}", 0, ""),
        (r"\b(AKIA|ASIA)[A-Z0-9]{16}\b", 0, ""),
        (r"\b(eyJ)[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?", 0, ""),
    )
)
_NEEDLES = (
    "key", "secret", "passw", "passph", "credential", "authorization", "bearer ", "basic ", "://", "sk-", "hf_",
    "nvapi-", "gho_", "ghp_", "ghs_", "ghu_", "github_pat_", "glpat-", "xox", "akia", "asia", "eyj",
)  # fmt: skip


def redact(text: str) -> str:
    """`text` with the values of secrets as `***`; a text without any of their signs costs a few searches."""
    low = text.lower()
    # "tokens" stands in each line of an engine's statistics; it is never a secret.
    if low.count("token") == low.count("tokens"):
        for needle in _NEEDLES:
            if needle in low:
                break
        else:
            return text
    for pattern, instead in _RULES:
        text = pattern.sub(instead, text)
    return text
