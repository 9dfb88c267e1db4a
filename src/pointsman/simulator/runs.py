"""One run: a plan, a policy, a seed and a number of replicas."""

from collections.abc import Sequence

from pointsman.config.carry_over import carried_over
from pointsman.domain.price import Price
from pointsman.domain.snapshot import Snapshot
from pointsman.routing.market.worth import Worth
from pointsman.simulator.baselines.clairvoyant import Clairvoyant
from pointsman.simulator.baselines.course import LiteralNode
from pointsman.simulator.baselines.registry import BASELINES, CLAIRVOYANT
from pointsman.simulator.gateway_config import snapshot, timeouts_of
from pointsman.simulator.luck import stream
from pointsman.simulator.names import STRATEGIES
from pointsman.simulator.nodes import GROUP, Foresee, Gateway, Node
from pointsman.simulator.plan import Plan
from pointsman.simulator.request import Request
from pointsman.simulator.schema import PolicySection
from pointsman.simulator.trace import read_trace
from pointsman.simulator.value import worth_of
from pointsman.simulator.workload import requests_of
from pointsman.simulator.world import MakeNode, Phase, Served, World

_ANY = PolicySection(strategy="weighted")  # whose group a baseline reads: targets and prices


def arrivals(plan: Plan, seed: int) -> list[Request]:
    """The same for every policy."""
    if plan.trace is None:
        return requests_of(plan.workload, seed)
    return read_trace(plan.trace.path, speed=plan.trace.speed, duration_s=plan.workload.duration_s)


def value_of(plan: Plan, requests: Sequence[Request]) -> Worth:
    """What time and failures are worth in this plan: by the prices at its beginning."""
    return worth_of(requests, prices_of(phases(plan, _ANY)[0].snapshot))


def prices_of(first: Snapshot) -> list[Price | None]:
    return [member.target.price for member in first.groups[GROUP].members]


def phases(plan: Plan, policy: PolicySection) -> list[Phase]:
    """Every moment at which something changes. What does not change in the configuration stays the same object."""
    found: list[Phase] = []
    for version, at_s in enumerate(plan.moments(), start=1):
        profiles = plan.profiles_at(at_s)
        new = snapshot(plan, policy, profiles, version)
        found.append(Phase(at_s, profiles, carried_over(new, found[-1].snapshot) if found else new))
    return found


def run(
    plan: Plan, policy: str, requests: Sequence[Request], worth: Worth, *, seed: int, replicas: int
) -> list[Served]:
    """Everything that became of the requests under one policy, in the order of their arrival."""
    section = plan.policies.get(policy) or STRATEGIES.get(policy)
    world = World(phases(plan, section or _ANY), timeouts_of(plan), seed=seed, replicas=replicas)
    make = _literal(policy, seed, plan.attempts, worth) if section is None else _ours(policy, seed)
    return world.run(requests, make)


def _ours(policy: str, seed: int) -> MakeNode:
    def make(first: Snapshot, number: int, foresee: Foresee) -> Node:
        return Gateway(first, stream(policy, seed, number, "picks"), stream(policy, seed, number, "signals"))

    return make


def _literal(policy: str, seed: int, attempts: int, worth: Worth) -> MakeNode:
    def make(first: Snapshot, number: int, foresee: Foresee) -> Node:
        balancer = Clairvoyant(foresee, worth) if policy == CLAIRVOYANT else BASELINES[policy]()
        return LiteralNode(first, balancer, stream(policy, seed, number), max_attempts=attempts)

    return make
