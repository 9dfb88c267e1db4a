"""`pointsman demo`: simulated providers, a gateway, traffic, and a live view. May import every layer below `cli`.

Read `run.py`, then `show.py`. `events.py` holds the story, `providers.py` its characters. What the view shows is what
the gateway itself says in its decision records and on its board; the traffic knows only what its callers got.
"""
