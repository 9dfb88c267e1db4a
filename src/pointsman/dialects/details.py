"""What is worked out of a request only for groups whose policy has a use for it (pure)."""

from msgspec import structs

from pointsman.dialects.conversation import MAX_DIGESTED_BYTES, messages_of, prefix_of, read_spoken
from pointsman.dialects.prompt import with_prompt
from pointsman.dialects.session import Headers, session_of
from pointsman.dialects.text_size import with_text_size
from pointsman.domain.ask import Ask
from pointsman.domain.policy import Detail
from pointsman.domain.target import ModelGroup

_OF_CONVERSATION = frozenset((Detail.SESSION, Detail.PREFIX, Detail.PROMPT))


def with_details(ask: Ask, group: ModelGroup, body: bytes, headers: Headers) -> Ask:
    """The same request, with all that its group wants to know of it."""
    wanted, facts, prefix = group.policy.details, ask.facts, None
    if Detail.TEXT_SIZE in wanted:
        facts = with_text_size(facts, body)
    if not wanted.isdisjoint(_OF_CONVERSATION):
        spoken = read_spoken(body, facts.dialect)
        messages = messages_of(spoken) if len(body) <= MAX_DIGESTED_BYTES else []
        if Detail.SESSION in wanted:
            facts = structs.replace(facts, session=session_of(headers, spoken, messages, ask, group.name))
        if Detail.PREFIX in wanted:
            prefix = prefix_of(spoken, messages, ask.caller.name)
        if Detail.PROMPT in wanted:
            policy = group.policy.dynamic_score
            facts = with_prompt(facts, bytes(spoken.messages), policy.looked_for, policy.max_scan_bytes)
    return structs.replace(ask, facts=facts, prefix=prefix)
