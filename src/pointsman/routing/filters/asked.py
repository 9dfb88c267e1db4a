"""What filters look at besides the target."""

from collections.abc import Callable

from pointsman.domain.decision import Exclusion
from pointsman.domain.policy import RoutingPolicy
from pointsman.domain.preferences import Demands
from pointsman.domain.request import Dialect
from pointsman.domain.target import Member
from pointsman.domain.value import Value


class Asked(Value):
    """A request, and the policy of the group it is for."""

    dialect: Dialect
    policy: RoutingPolicy
    demands: Demands


HardFilter = Callable[[Asked, Member], Exclusion | None]
