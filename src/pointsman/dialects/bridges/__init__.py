"""Bridges: a request of one dialect for a target that speaks another one, and its answer on the way back (pure).

Each dialect has one side, which reads and writes a neutral form; a bridge is two of them. May import `domain` and the
rest of `dialects`. `bridge.py` holds the registry.
"""
