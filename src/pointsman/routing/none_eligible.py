"""The error of a request that no target of its group can serve at all: each is named with the rule against it."""

from pointsman.domain.decision import EXCLUSION_TEXT, Decision, Exclusion
from pointsman.domain.errors import ErrorKind, GatewayError
from pointsman.domain.preferences import Demands
from pointsman.routing.unavailable import misconfigured

# what would help, by the rule that stands in the way; the first that is there is told
_ADVICE: tuple[tuple[frozenset[Exclusion], str], ...] = (
    (
        frozenset((
            Exclusion.NOT_NAMED, Exclusion.IGNORED, Exclusion.TRAINING, Exclusion.RETENTION, Exclusion.QUANTIZATION,
            Exclusion.PARAMETERS, Exclusion.TOO_EXPENSIVE,
        )),
        "Relax the preferences of the request (`provider`, or the x-pointsman headers).",
    ),
    (frozenset((Exclusion.KEY_POLICY,)), "Ask the operator of this gateway what your key may use."),
    (
        frozenset((Exclusion.STATE_ELSEWHERE,)),
        "Ask for the model that gave the earlier answer, or send the whole conversation without what refers to it.",
    ),
    (
        frozenset((Exclusion.WEIGHT_ZERO, Exclusion.CONTRACT, Exclusion.NOT_PROVEN)),
        "The operator of this gateway has to change the group, or to declare what its models can do.",
    ),
)  # fmt: skip
MAX_LISTED_CHARS = 300  # names are the caller's own, and may be long
_OTHERWISE = "Ask for another model, or leave out what the targets cannot do."


def error_of(decision: Decision, demands: Demands | None = None) -> GatewayError:
    """What to tell the caller."""
    rules, name = {excluded.rule for excluded in decision.excluded}, decision.group.name
    if Exclusion.NO_CREDENTIAL in rules:
        return misconfigured(name)
    reasons = "; ".join(f"{excluded.target_id}: {EXCLUSION_TEXT[excluded.rule]}" for excluded in decision.excluded)
    if Exclusion.NOT_CARRIED in rules and demands is not None:
        reasons = f"{reasons}; not carried: {_uncarried(decision, demands)}"
    if Exclusion.CONTEXT_TOO_SMALL in rules:
        text = f"The prompt is too long for every target of '{name}' that could take it ({reasons}). Shorten it."
        return GatewayError(ErrorKind.CONTEXT_TOO_LONG, text)
    advice = next((text for about, text in _ADVICE if about & rules), _OTHERWISE)
    text = f"No target of '{name}' can serve this request ({reasons}). {advice}"
    return GatewayError(ErrorKind.NO_ELIGIBLE_TARGET, text)


def _uncarried(decision: Decision, demands: Demands) -> str:
    """Into what the targets speak; what stands in the way of other ones is not the caller's business."""
    out = {excluded.target_id for excluded in decision.excluded if excluded.rule is Exclusion.NOT_CARRIED}
    targets = [member.target for member in decision.group.members if member.target.id in out]
    spoken = frozenset(dialect for target in targets for dialect in target.dialects)
    losses = [loss for loss in demands.uncarried or () if loss.into in spoken]
    names = [name for loss in losses for name in loss.parameters + loss.content]
    listed = ", ".join(dict.fromkeys(names))
    return listed if len(listed) <= MAX_LISTED_CHARS else listed[:MAX_LISTED_CHARS] + " ..."
