"""The data plane: callers' requests in, routed answers out. Read `server.py`, then `handler.py`.

May import `upstream`, `observability` and everything below them; never `control`.
"""
