"""What holds for every test."""

from hypothesis import settings

# the same examples on every run; no time limit, which a busy machine would break
settings.register_profile("seeded", derandomize=True, deadline=None)
settings.load_profile("seeded")
