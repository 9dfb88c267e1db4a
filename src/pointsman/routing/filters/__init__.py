"""Hard filters: each takes what is asked and one target, and returns the rule that excludes it, or None.

May import `domain` only. `eligibility.py` says in which order they run. What is not known never excludes, unless the
group or the request wants proof.
"""
