"""The virtual-time driver: sends requests through gateways to endpoints, and notes what came of them."""

from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b

from msgspec import Struct, field

from pointsman.domain.outcome import Outcome, OutcomeClass, Usage
from pointsman.domain.policy import Timeouts
from pointsman.domain.price import cost_usd
from pointsman.domain.snapshot import Snapshot
from pointsman.domain.value import Value
from pointsman.routing.exchange import Command, Consult, Finish, Send, Wait
from pointsman.simulator.agenda import Agenda, Kind
from pointsman.simulator.endpoint import Answer, Endpoint
from pointsman.simulator.nodes import Course, Foresee, Node, Ticket
from pointsman.simulator.profile import Profile
from pointsman.simulator.request import Request

MakeNode = Callable[[Snapshot, int, Foresee], Node]  # the first snapshot, number of the replica, a look ahead


class Phase(Value):
    """From a moment on, endpoints are like this, and the configuration says that."""

    at_s: float
    profiles: Mapping[str, Profile]
    snapshot: Snapshot


class Sent(Struct):
    """One attempt, and how it ends."""

    at_s: float
    target: str
    outcome_class: OutcomeClass
    usd: float
    usage: Usage | None = None  # None: nothing is charged


class Served(Struct):
    """One request, and what becomes of it."""

    request: Request
    attempts: list[Sent] = field(default_factory=list)
    is_ok: bool = False
    ttft_s: float | None = None  # from the arrival, what failed before included; None: no answer began
    duration_s: float = 0.0  # from the arrival to the end

    @property
    def usd(self) -> float:
        """All that was charged, also for what failed."""
        return sum([attempt.usd for attempt in self.attempts])


class _Journey(Struct):
    node: Node
    course: Course
    served: Served


class World:
    """One policy, one seed."""

    def __init__(self, phases: Sequence[Phase], timeouts: Timeouts, *, seed: int, replicas: int) -> None:
        self._agenda, self._seed, self._replicas = Agenda(), seed, replicas
        first = phases[0]
        self._endpoints = {name: Endpoint(name, profile, timeouts, seed) for name, profile in first.profiles.items()}
        self._phases = phases
        self._nodes: list[Node] = []
        self.served: list[Served] = []  # in the order of their arrival

    def run(self, requests: Sequence[Request], make_node: MakeNode) -> list[Served]:
        """Send all requests, and wait for the last answer."""
        first = self._phases[0]
        self._nodes = [make_node(first.snapshot, number, self._foresee) for number in range(self._replicas)]
        for phase in self._phases[1:]:
            self._agenda.book(phase.at_s, Kind.CHANGE, self._enter, phase)
        for request in requests:
            self._agenda.book(request.at_s, Kind.ARRIVAL, self._arrive, request)
        self._agenda.run()
        return self.served

    def _foresee(self, request: Request, name: str, attempt: int) -> Answer:
        return self._endpoints[name].foresee(request, attempt, self._agenda.now)

    def _enter(self, phase: Phase) -> None:
        for name, profile in phase.profiles.items():
            self._endpoints[name].become(profile, self._agenda.now)
        for node in self._nodes:
            node.reloaded(phase.snapshot)

    def _arrive(self, request: Request) -> None:
        now, served = self._agenda.now, Served(request)
        self.served.append(served)
        node = self._nodes[_replica(request, self._replicas)]
        course = node.course(request, now)
        self._obey(_Journey(node, course, served), course.start(now))

    def _obey(self, journey: _Journey, command: Command) -> None:
        match command:
            case Send():
                self._send(journey, command)
            case Wait(until):
                self._agenda.book(until, Kind.RESUME, self._resume, journey)
            case Finish():
                journey.served.duration_s = self._agenda.now - journey.served.request.at_s
            case Consult():
                raise TypeError("policy services cannot be simulated")

    def _resume(self, journey: _Journey) -> None:
        self._obey(journey, journey.course.resume(self._agenda.now))

    def _send(self, journey: _Journey, command: Send) -> None:
        now, served, name = self._agenda.now, journey.served, command.target.provider
        attempt = sum([sent.target == name for sent in served.attempts])
        endpoint = self._endpoints[name]
        answer = endpoint.take(served.request, attempt, now)
        ticket = journey.node.sent(journey.course, command, now)
        outcome = answer.outcome
        usd = cost_usd(command.target.price, outcome.usage) or 0.0
        served.attempts.append(Sent(now, name, outcome.outcome_class, usd, outcome.usage))
        if answer.first_s is not None:
            served.ttft_s = now + answer.first_s - served.request.at_s
            self._agenda.book(now + answer.first_s, Kind.CONTENT, ticket.answered)
        self._agenda.book(now + outcome.duration_s, Kind.END, self._end, journey, endpoint, ticket, outcome)

    def _end(self, journey: _Journey, endpoint: Endpoint, ticket: Ticket, outcome: Outcome) -> None:
        endpoint.leave()
        journey.served.is_ok = outcome.outcome_class is OutcomeClass.OK
        self._obey(journey, journey.node.ended(journey.course, ticket, outcome, self._agenda.now))


def _replica(request: Request, replicas: int) -> int:
    """As connections spread requests: by chance, the same for every policy."""
    return int.from_bytes(blake2b(request.id.encode(), digest_size=4).digest(), "big") % replicas
