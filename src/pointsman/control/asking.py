"""`pointsman explain`: asks a running gateway, or decides here on the file of a configuration."""

import random
import urllib.error
import urllib.request
from urllib.parse import urlencode

import msgspec

from pointsman.config.load import Loaded
from pointsman.config.values import BadValueError, base_url, credential
from pointsman.control.explain import Explanation, Question, answer
from pointsman.domain.errors import PointsmanError
from pointsman.domain.secret import Secret

PATIENCE_S = 10.0  # a gateway that needs longer for a decision has other troubles
_MAX_ANSWER_BYTES = 16 << 20  # a thousand targets are 1 MB
_PATH = "/api/v1/explain"


class NoAnswerError(PointsmanError):
    """Nothing was learned about the request. The text says what to do."""


def new_seed() -> int:
    """Of a draw nobody has made yet."""
    return random.SystemRandom().getrandbits(32)


def ask_file(question: Question, loaded: Loaded) -> Explanation:
    """What a gateway with this configuration would do right after its start."""
    return answer(question, loaded.snapshot, None, now=0.0)


def ask_gateway(question: Question, admin_url: str, token: Secret | None) -> Explanation:
    """What a running gateway would do now. Raises NoAnswerError."""
    query = urlencode({"dialect": question.dialect, "seed": question.seed})
    headers = {"content-type": "application/json"} | _authorization(token)
    url = f"{_base(admin_url)}{_PATH}?{query}"
    request = urllib.request.Request(url, question.body, headers, method="POST")  # noqa: S310  # http or https
    try:
        with _OPENER.open(request, timeout=PATIENCE_S) as reply:
            return msgspec.json.decode(reply.read(_MAX_ANSWER_BYTES), type=Explanation)
    except urllib.error.HTTPError as error:
        raise NoAnswerError(_refusal(error)) from None
    except msgspec.DecodeError:
        raise NoAnswerError(f"{admin_url} is not the admin listener of a gateway of this version.") from None
    except OSError as error:
        reason = getattr(error, "reason", error)
        raise NoAnswerError(f"{admin_url} does not answer: {reason}. Is it `server.admin_listen`?") from None


def _base(admin_url: str) -> str:
    try:
        base = base_url(admin_url)
    except BadValueError as error:
        raise NoAnswerError(f"The admin URL {error.message}, like http://127.0.0.1:4001.") from None
    return f"{base.origin.scheme}://{base.origin.authority}{base.path_prefix}"


def _authorization(token: Secret | None) -> dict[str, str]:
    if token is None:
        return {}
    try:
        return {"authorization": f"Bearer {credential(token.reveal())}"}
    except BadValueError as error:
        raise NoAnswerError(f"The admin token is not one: {error.message}. {error.fix}") from None


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: object) -> None:
        """A redirected token would be somebody else's."""


_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}), _NoRedirects)  # no proxy of the environment


def _refusal(error: urllib.error.HTTPError) -> str:
    try:
        problem = msgspec.json.decode(error.read(_MAX_ANSWER_BYTES), type=dict[str, msgspec.Raw])
        return msgspec.json.decode(problem["detail"], type=str)
    except (msgspec.DecodeError, KeyError, OSError):
        return f"The admin listener answered with status {error.code}. Is it a gateway of this version?"
