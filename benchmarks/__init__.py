"""CPU per request of the gateway beside a bare relay, in one run. Imports nothing of Pointsman: it is a subprocess."""
