"""Every rule can be told."""

from pointsman.domain.decision import EXCLUSION_TEXT, Exclusion


def test_every_exclusion_has_a_text() -> None:
    assert set(EXCLUSION_TEXT) == set(Exclusion)
