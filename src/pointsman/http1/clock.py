"""The clock of the process."""

import time


class SystemClock:
    """`domain.ports.Clock` as the operating system tells it."""

    now = staticmethod(time.monotonic)
    utc = staticmethod(time.time)
