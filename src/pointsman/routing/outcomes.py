"""What a provider's answer means: status and error code to outcome class."""

from pointsman.domain.outcome import OutcomeClass, ProviderError
from pointsman.domain.value import Value


class Verdict(Value):
    """A class, and whether the provider's own code proves it."""

    outcome_class: OutcomeClass
    confirmed: bool = False


OUTCOME_BY_STATUS: dict[int, OutcomeClass] = {
    **dict.fromkeys((400, 411, 413, 415, 422), OutcomeClass.CALLER_FAULT),
    **dict.fromkeys((401, 402), OutcomeClass.CREDENTIAL_FAULT),
    **dict.fromkeys((403, 451), OutcomeClass.BLOCKED),
    **dict.fromkeys((404, 405, 410), OutcomeClass.MISSING),
    **dict.fromkeys((408, 421, 423, 424, 425, 426, 498), OutcomeClass.UPSTREAM_FAULT),
    409: OutcomeClass.CONFLICT,
    **dict.fromkeys((429, 529), OutcomeClass.RATE_LIMITED),
    499: OutcomeClass.UPSTREAM_FAULT,  # from a provider; our own caller's hang-up is never a status
}

_OUR_ACCOUNT = Verdict(OutcomeClass.CREDENTIAL_FAULT, confirmed=True)
_OUR_MODEL_NAME = Verdict(OutcomeClass.MISSING, confirmed=True)  # we chose the name, not the caller (B-17)
_THE_CALLER = Verdict(OutcomeClass.CALLER_FAULT)
_TOO_MUCH = Verdict(OutcomeClass.RATE_LIMITED)
_THIS_PATH = Verdict(OutcomeClass.BLOCKED)  # an engine was started without it: what else it serves is not affected

VERDICT_BY_CODE: dict[str, Verdict] = {
    **dict.fromkeys(
        ("invalid_api_key", "authentication_error", "account_deactivated", "insufficient_quota", "billing_error",
         "billing_hard_limit_reached", "billing_not_active"),
        _OUR_ACCOUNT,
    ),
    "model_not_found": _OUR_MODEL_NAME,
    **dict.fromkeys(
        ("context_length_exceeded", "exceed_context_size_error", "string_above_max_length", "content_filter",
         "content_policy_violation", "invalid_prompt", "request_too_large"),
        _THE_CALLER,
    ),
    # images that a request brings or points to: Responses tell it within a 200
    **dict.fromkeys(
        ("invalid_image", "invalid_image_format", "invalid_base64_image", "invalid_image_url", "invalid_image_mode",
         "image_too_large", "image_too_small", "image_parse_error", "image_content_policy_violation",
         "image_file_too_large", "image_file_not_found", "unsupported_image_media_type", "empty_image_file",
         "failed_to_download_image"),
        _THE_CALLER,
    ),
    "not_supported_error": _THIS_PATH,  # llama.cpp
    **dict.fromkeys(("rate_limit_exceeded", "rate_limit_error", "overloaded_error", "overloaded"), _TOO_MUCH),
}  # fmt: skip

# Anthropic's types that a status usually says already: what they mean where they come inside a 200
STATUS_BY_TYPE: dict[str, int] = {
    "permission_error": 403,
    "conflict_error": 409,
    "api_error": 500,
    "timeout_error": 504,
}

# a 404 of Anthropic's may concern anything that a request names; its words tell which (B-17)
_UNKNOWN_MODEL = ("not_found_error", "model:")

# out of credit comes as 400, 402, 403 or 429 and often with words only
_OUT_OF_CREDIT = (
    "credit balance is too low",
    "insufficient credit",
    "exceeded your current quota",
    "insufficient balance",
)
_OUT_OF_CREDIT_STATUSES = frozenset((400, 402, 403, 429))


def verdict(status: int, error: ProviderError | None) -> Verdict:
    """The class of an answer that is not a success: the provider's code first, then its words, then the status."""
    if error is not None:
        for code in (error.code, error.type):
            if code in VERDICT_BY_CODE:
                return VERDICT_BY_CODE[code]
        if error.type == _UNKNOWN_MODEL[0] and error.message.startswith(_UNKNOWN_MODEL[1]):
            return _OUR_MODEL_NAME
        if status in _OUT_OF_CREDIT_STATUSES and any(words in error.message.lower() for words in _OUT_OF_CREDIT):
            return _OUR_ACCOUNT
    return Verdict(_by_status(status))


def _by_status(status: int) -> OutcomeClass:
    if status in OUTCOME_BY_STATUS:
        return OUTCOME_BY_STATUS[status]
    if 500 <= status < 600:
        return OutcomeClass.UPSTREAM_FAULT
    if 400 <= status < 500:
        return OutcomeClass.BLOCKED  # unknown: about the request or the region, never a reason to pause
    return OutcomeClass.BAD_PAYLOAD  # 1xx, 2xx other than 200, 3xx: not an answer


def verdict_in_band(error: ProviderError) -> Verdict:
    """The class of an error that came inside a 200, before any content: as if it had been the status (B-15)."""
    code = error.code or ""
    if len(code) == 3 and code.isdecimal() and 400 <= int(code) < 600:
        return verdict(int(code), error)
    if error.type in STATUS_BY_TYPE and code not in VERDICT_BY_CODE:
        return verdict(STATUS_BY_TYPE[error.type], error)
    found = VERDICT_BY_CODE.get(code) or VERDICT_BY_CODE.get(error.type or "")
    return found or Verdict(OutcomeClass.BAD_PAYLOAD)
