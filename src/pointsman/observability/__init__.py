"""Metrics, logs and decision records: what happened, as scalars. May import `domain` only; never sees a body."""
