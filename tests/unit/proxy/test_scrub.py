"""Words of providers lose what they repeat of our credentials, and nothing else."""

import pytest
from msgspec import structs

from pointsman.domain.outcome import ProviderError
from pointsman.domain.secret import Secret
from pointsman.proxy.scrub import without_secrets
from pointsman.testing import builders

KEY, VALUE = "sk-0123456789", "tenant-0123456789"
PROVIDER = builders.provider("a", api_key=KEY, headers=(("x-tenant", Secret(VALUE)), ("x-on", Secret("1"))))


@pytest.mark.case("I14")
@pytest.mark.bug("N-08")
@pytest.mark.parametrize("field", ["message", "type", "code", "param"])
@pytest.mark.parametrize("secret", [KEY, VALUE])
def test_credential_is_hidden_in_every_field(field: str, secret: str) -> None:
    error = structs.replace(ProviderError("Bad."), **{field: f"is {secret}, twice: {secret}"})

    assert getattr(without_secrets(error, PROVIDER), field) == "is ***, twice: ***"


@pytest.mark.parametrize("provider", [PROVIDER, builders.provider("a")], ids=["with a key", "without"])
def test_everything_else_stays(provider: object) -> None:
    error = ProviderError("Item 1 of sk-012345678 is wrong.", None, "1", "items[1]")

    assert without_secrets(error, provider) == error
