"""Whether more has to be known of a request before it is routed, and finding it out."""

from msgspec import structs

from pointsman.dialects.closer_look import looked_at
from pointsman.dialects.codec import Codec, ParsedRequest
from pointsman.domain.ask import Ask, epoch_at
from pointsman.domain.preferences import Preferences
from pointsman.domain.request import Caller
from pointsman.domain.target import ModelGroup
from pointsman.http1.header_block import HeaderBlock
from pointsman.proxy import steering_headers
from pointsman.routing import resolve


def is_needed(group: ModelGroup, parsed: ParsedRequest, caller: Caller, headers: HeaderBlock) -> bool:
    """False for most: targets without known limits, a caller without wishes."""
    facts = parsed.facts
    return (
        facts.dialect in group.policy.scan.bridged
        or facts.body_bytes + (facts.max_output_tokens or 0) > group.policy.scan.plain_up_to_tokens
        or parsed.preferences is not None
        or caller.policy is not None
        or headers.lines(steering_headers.NAMES) != b""
    )


def look(ask: Ask, group: ModelGroup, codec: Codec, parsed: ParsedRequest, headers: HeaderBlock, utc_s: float) -> Ask:
    """The request with all that decisions depend on. Raises GatewayError: 400 or 403 for a header, 404 for a model."""
    preferences = _both(parsed.preferences, steering_headers.read(headers, ask.caller))
    for name in preferences.models if preferences is not None else ():
        resolve.find(name, ask.caller, ask.snapshot)  # a typing error is told now, not when it is needed
    looked = looked_at(ask, group, codec, parsed, headers, preferences)
    session = looked.facts.session
    return looked if session is None else structs.replace(looked, epoch=epoch_at(utc_s, session))


def _both(by_body: Preferences | None, by_head: Preferences | None) -> Preferences | None:
    if by_body is None or by_head is None:
        return by_body or by_head
    return by_body.with_more(by_head)
