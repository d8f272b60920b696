"""What credentials look like. No pattern may look at a text more than a bounded number of times."""

import re
from dataclasses import dataclass

MARK = "[redacted]"


@dataclass(frozen=True, slots=True)
class Shape:
    """What a kind of credential looks like."""

    anchors: tuple[str, ...]
    """Texts, one of which stands in every such credential, in lower case: to look for them is fast."""
    pattern: re.Pattern[str]
    """Its group `keep`, if it has one, only introduces the secret."""

    def is_near(self, lowered: str) -> bool:
        return any(anchor in lowered for anchor in self.anchors)

    def take_out(self, text: str) -> str:
        return self.pattern.sub(self._mark, text)

    def _mark(self, found: re.Match[str]) -> str:
        return f"{found.group('keep')}{MARK}" if "keep" in self.pattern.groupindex else MARK


def _token(start: str, rest: str) -> Shape:
    # It begins with its literal text, which the engine finds quickly, and then looks back: not inside a word, whose
    # last letter may be that of an escape (`\n`) or of a terminal's colour (`[0m`).
    is_a_start = rf"(?:(?<![A-Za-z0-9]{start})|(?<=\\[bfnrt]{start})|(?<=[\[0-9]m{start}))"
    return Shape((start.lower(),), re.compile(start + is_a_start + rest))


SHAPES = (
    _token("sk-", r"[A-Za-z0-9_-]{20,}"),  # Anthropic, OpenAI, OpenRouter
    _token("AIza", r"[A-Za-z0-9_-]{35}"),  # Google
    *(_token(start, r"[A-Za-z0-9]{30,}") for start in ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "hf_", "npm_")),
    _token("github_pat_", r"[A-Za-z0-9_]{30,}"),
    _token("glpat-", r"[A-Za-z0-9_-]{20,}"),
    _token("pypi-", r"[A-Za-z0-9_-]{50,}"),
    *(_token(start, r"[A-Z0-9]{16}(?![A-Z0-9])") for start in ("AKIA", "ASIA")),  # AWS
    *(_token(start, r"[A-Za-z0-9-]{10,}") for start in ("xoxa-", "xoxb-", "xoxp-", "xoxr-", "xoxs-")),
    Shape(  # a signed token (JWT); tried at the start of a word only, since each try reads the word to its end
        ("eyj",),
        re.compile(
            r"(?<![A-Za-z0-9_-])(?P<keep>(?:(?!eyJ)[A-Za-z0-9_-])*+)"
            r"eyJ[A-Za-z0-9_-]{10,}+\.eyJ[A-Za-z0-9_-]{10,}+\.[A-Za-z0-9_-]{10,}+"
        ),
    ),
    Shape(
        ("private key-----",),
        re.compile(
            r"-----BEGIN (?:[A-Z]{1,20} ){0,4}PRIVATE KEY-----.*?"
            r"(?:-----END (?:[A-Z]{1,20} ){0,4}PRIVATE KEY-----|\Z)",
            re.DOTALL,
        ),
    ),
    Shape(
        ("authorization",),
        re.compile(
            r"(?i)(?P<keep>authorization[\"']?[ \t]*+[:=][ \t]*+[\"']?(?:bearer|basic|token|api-?key)[ \t]+)"
            r"[^\s\"'\\,;&\[][^\s\"'\\,;&]*"
        ),
    ),
    Shape(  # of another scheme, or of none: what is long and has a digit
        ("authorization",),
        re.compile(
            r"(?i)(?P<keep>authorization[\"']?[ \t]*+[:=][ \t]*+[\"']?(?:[a-z][a-z0-9_-]{0,14}[ \t]+)?)"
            r"(?=[a-z.~+/=_-]{0,99}[0-9])[a-z0-9.~+/=_-]{16,}"
        ),
    ),
    Shape(
        ("api-key", "security-token", "cookie"),
        re.compile(
            r"(?i)(?P<keep>(?:x-(?:goog-)?api-key|x-amz-security-token|\bapi-key|cookie)[\"']?[ \t]*+[:=][ \t]*+[\"']?)"
            r"[^\s\"'\\,&]+"
        ),
    ),
    Shape(("://",), re.compile(r"(?P<keep>://)[^\s/:@\"'\\]{0,256}:[^\s/@\"'\\]{1,256}(?=@)")),
    Shape(("://",), re.compile(r"(?i)(?P<keep>https?://)[^\s/:@\"'\\]{16,256}(?=@)")),
)
