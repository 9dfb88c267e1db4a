"""Who asks: the caller behind a request."""

from pointsman.domain.request import Caller, Scope

# `auth: {mode: none}`: loopback only, which the configuration checks
ANYONE = Caller(name="anonymous", scopes=frozenset((Scope.CHAT, Scope.STEER, Scope.EXPLAIN)))
