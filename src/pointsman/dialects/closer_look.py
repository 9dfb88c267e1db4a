"""What else has to be known of a request before a target can be chosen for it: most requests need none of this (pure).

The proxy asks for it, and whoever explains a request, so that both decide on the same.
"""

from msgspec import structs

from pointsman.dialects.bridges.bridge import uncarried_of
from pointsman.dialects.codec import Codec, ParsedRequest
from pointsman.dialects.details import with_details
from pointsman.dialects.session import Headers
from pointsman.dialects.text_size import with_text_size
from pointsman.domain.ask import Ask
from pointsman.domain.preferences import NO_PREFERENCES, Demands, Preferences
from pointsman.domain.target import ModelGroup


def looked_at(
    ask: Ask, group: ModelGroup, codec: Codec, parsed: ParsedRequest, headers: Headers, preferences: Preferences | None
) -> Ask:
    """The request with all that decisions depend on. `preferences` None: neither body nor head has any."""
    ask, scan, wanted = with_details(ask, group, parsed.body, headers), group.policy.scan, preferences or NO_PREFERENCES
    facts = ask.facts
    is_long = facts.body_bytes + (facts.max_output_tokens or 0) > scan.window_tokens  # a token has a byte at least
    if facts.text_chars is None and (is_long or scan.sizes_text or wanted.sort is not None):
        facts = with_text_size(facts, parsed.body)
    policy = ask.caller.policy
    bridges = facts.dialect in scan.bridged or bool(wanted.models)  # those groups may need some
    if not (is_long or scan.finds_needs or preferences or policy or bridges):
        return structs.replace(ask, facts=facts)
    needs = codec.needs(parsed) if scan.finds_needs else ()
    facts = structs.replace(facts, needs=needs if scan.finds_needs else None)
    uncarried = uncarried_of(parsed) if bridges else None
    demands = Demands(needs, facts.max_output_tokens, wanted, policy or NO_PREFERENCES, uncarried)
    return structs.replace(ask, facts=facts, demands=demands)
