"""The configuration file: read, checked and compiled into Settings and a Snapshot. May import `domain` only."""
