"""The one table of errors that callers see. Dialects render it; nobody else writes a status code."""

import math
from enum import Enum

from pointsman.domain.value import Value

MAX_RETRY_AFTER_S = 60  # the OpenAI SDK gives up above 120 s, others ignore 60 s and more


class ErrorRule(Value):
    """One row: how a kind of error looks in each dialect family."""

    status: int
    openai_type: str
    code: str
    should_retry: bool


class ErrorKind(Enum):
    """Every error the gateway itself answers with."""

    BAD_REQUEST = ErrorRule(400, "invalid_request_error", "invalid_request", should_retry=False)
    NO_ELIGIBLE_TARGET = ErrorRule(400, "invalid_request_error", "no_eligible_target", should_retry=False)
    CONTEXT_TOO_LONG = ErrorRule(400, "invalid_request_error", "context_length_exceeded", should_retry=False)
    INVALID_API_KEY = ErrorRule(401, "invalid_request_error", "invalid_api_key", should_retry=False)
    PERMISSION_DENIED = ErrorRule(403, "invalid_request_error", "permission_denied", should_retry=False)
    MODEL_NOT_FOUND = ErrorRule(404, "invalid_request_error", "model_not_found", should_retry=False)
    PATH_NOT_FOUND = ErrorRule(404, "invalid_request_error", "not_found", should_retry=False)
    METHOD_NOT_ALLOWED = ErrorRule(405, "invalid_request_error", "method_not_allowed", should_retry=False)
    REQUEST_TIMEOUT = ErrorRule(408, "invalid_request_error", "request_timeout", should_retry=True)
    REQUEST_TOO_LARGE = ErrorRule(413, "invalid_request_error", "request_too_large", should_retry=False)
    URI_TOO_LONG = ErrorRule(414, "invalid_request_error", "uri_too_long", should_retry=False)
    UNSUPPORTED_ENCODING = ErrorRule(415, "invalid_request_error", "unsupported_encoding", should_retry=False)
    EXPECTATION_FAILED = ErrorRule(417, "invalid_request_error", "expectation_failed", should_retry=False)
    UPSTREAM_RATE_LIMITED = ErrorRule(429, "rate_limit_error", "upstream_rate_limited", should_retry=True)
    HEADERS_TOO_LARGE = ErrorRule(431, "invalid_request_error", "headers_too_large", should_retry=False)
    INTERNAL = ErrorRule(500, "server_error", "internal_error", should_retry=True)
    NOT_IMPLEMENTED = ErrorRule(501, "invalid_request_error", "not_implemented", should_retry=False)
    UPSTREAM_MISCONFIGURED = ErrorRule(502, "server_error", "upstream_misconfigured", should_retry=False)
    UPSTREAM_ERROR = ErrorRule(502, "server_error", "upstream_error", should_retry=True)
    ALL_TARGETS_UNAVAILABLE = ErrorRule(503, "server_error", "all_targets_unavailable", should_retry=True)
    POLICY_UNAVAILABLE = ErrorRule(503, "server_error", "policy_unavailable", should_retry=True)
    OVERLOADED = ErrorRule(503, "server_error", "overloaded", should_retry=True)
    DEADLINE = ErrorRule(504, "timeout_error", "deadline_exceeded", should_retry=True)
    HTTP_VERSION = ErrorRule(505, "invalid_request_error", "http_version_not_supported", should_retry=False)


class PointsmanError(Exception):
    """Base of all errors of this package."""


class GatewayError(PointsmanError):
    """An answer that is an error. `message` says what to do and is safe to show to the caller."""

    def __init__(
        self,
        kind: ErrorKind,
        message: str,
        *,
        param: str | None = None,
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.status = kind.value.status
        self.openai_type = kind.value.openai_type
        self.provider_type: str | None = None  # what the provider called it, where the words are the provider's
        self.code: str | None = kind.value.code
        self.should_retry = kind.value.should_retry
        self.message = message
        self.param = param
        self.retry_after_s = retry_after_s

    @property
    def retry_after_header(self) -> int | None:
        """Whole seconds, rounded up, at least 1 and at most MAX_RETRY_AFTER_S (B-04); None: no header."""
        if self.retry_after_s is None:
            return None
        return max(1, min(MAX_RETRY_AFTER_S, math.ceil(self.retry_after_s)))


class ProviderRefusalError(GatewayError):
    """A provider's own 4xx that is the caller's to mend: status, type, code and text stay the provider's."""

    def __init__(self, status: int, message: str, *, type_: str | None, code: str | None, param: str | None) -> None:
        super().__init__(ErrorKind.BAD_REQUEST, message, param=param)
        self.status = status
        self.openai_type = type_ or self.openai_type
        self.provider_type = type_
        self.code = code


class ProviderFaultError(GatewayError):
    """A provider's own error inside an answer that has begun: its words and code, and a status of ours."""

    def __init__(self, message: str, *, type_: str | None, code: str | None, param: str | None) -> None:
        super().__init__(ErrorKind.UPSTREAM_ERROR, message, param=param)
        self.provider_type = type_
        self.code = code
