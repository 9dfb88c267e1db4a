"""Learning (pure): outcomes in, numbers out. `now` and `rng` are arguments. May import `domain` only."""
