"""Secrets that tests plant, and the search for them in everything a gateway writes and says."""

import base64
import json
from collections.abc import Iterable, Mapping
from urllib.parse import quote

PROVIDER_KEY = "sk-canary-of-the-provider-0123456789"
PROVIDER_HEADER = "tenant-canary-of-the-header-0123456789"
PROMPT = "prompt-canary-0123456789"
ANSWER = "answer-canary-0123456789"
PEPPER = "pepper-of-the-tests-0123456789"  # of `pointsman.testing.keys`
PLANTED = (PROVIDER_KEY, PROVIDER_HEADER, PROMPT, ANSWER, PEPPER)


def leaks(written: Mapping[str, bytes], secrets: Iterable[str] = PLANTED) -> list[tuple[str, str]]:
    """Where which secret shows."""
    return [
        (place, secret)
        for place, raw in written.items()
        for secret in secrets
        if any(spelling.encode() in raw for spelling in spellings(secret))
    ]


def spellings(secret: str) -> list[str]:
    """A secret as it could show: as it is, its beginning, quoted, in base 64 and in hexadecimal digits."""
    encoded = base64.b64encode(secret.encode()).decode().rstrip("=")
    return [secret, secret[:12], quote(secret), json.dumps(secret)[1:-1], encoded[:16], secret.encode().hex()]
