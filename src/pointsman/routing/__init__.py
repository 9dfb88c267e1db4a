"""Deciding (pure): which target serves a request, and what happens after a failure. May import `domain` only.

Read `router.py` first: `decide()` is the table of contents of everything here.
"""
