"""How long requests are in tokens, before any provider has counted: for strategies that compare prices (pure)."""

from collections.abc import Mapping

from pointsman.domain.outcome import Usage
from pointsman.domain.request import RequestFacts, Script
from pointsman.domain.target import ModelGroup, Target
from pointsman.domain.view import LengthView
from pointsman.signals.input_length import TokensPerChar
from pointsman.signals.output_length import OutputLengths


class Lengths:
    """Usage in, estimates out: of input by model and script, since tokenizers differ; of output by group."""

    def __init__(self) -> None:
        self._inputs: dict[tuple[str, Script], TokensPerChar] = {}  # by upstream model; bounded by `keep`
        self._outputs: dict[str, OutputLengths] = {}  # by group; bounded by `keep`

    def expected(self, group: ModelGroup, facts: RequestFacts, now: float) -> LengthView:
        """Estimates for one request. Changes nothing."""
        chars, script = _text(facts)
        input_tokens = tuple(
            [max(round(chars * self._ratio(member.target, script).value_at(now)), 1) for member in group.members]
        )
        output_tokens = self._outputs.get(group.name, _UNSEEN).expected_at(max(input_tokens), now)
        cap = facts.max_output_tokens
        if cap is not None and cap > 0:
            output_tokens = min(output_tokens, cap)
        return LengthView(input_tokens, max(round(output_tokens), 1))

    def learn(self, group: ModelGroup, target: Target, facts: RequestFacts, usage: Usage, now: float) -> None:
        """A complete answer, as the provider counted it."""
        if usage.input_tokens is None:
            return
        chars, script = _text(facts)
        ratio = self._inputs.setdefault((target.upstream_model, script), TokensPerChar(script))
        ratio.observe(usage.input_tokens, chars, now)
        if usage.output_tokens is not None:
            outputs = self._outputs.setdefault(group.name, OutputLengths())
            outputs.observe(usage.output_tokens, usage.input_tokens, now)

    def keep(self, groups: Mapping[str, ModelGroup]) -> None:
        """Forget the models and groups that nobody names any more."""
        models = {member.target.upstream_model for group in groups.values() for member in group.members}
        self._inputs = {key: ratio for key, ratio in self._inputs.items() if key[0] in models}
        self._outputs = {name: lengths for name, lengths in self._outputs.items() if name in groups}

    def _ratio(self, target: Target, script: Script) -> TokensPerChar:
        return self._inputs.get((target.upstream_model, script), _UNSEEN_RATIO[script])


_UNSEEN = OutputLengths()
_UNSEEN_RATIO = {script: TokensPerChar(script) for script in Script}


def _text(facts: RequestFacts) -> tuple[int, Script]:
    """What was counted; else the body as a whole."""
    return facts.body_bytes if facts.text_chars is None else facts.text_chars, facts.script or Script.LATIN
