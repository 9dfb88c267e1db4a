"""`python -m tests.fuzz NAME SECONDS`: new inputs for one target, led by the code they reach. Stops at the first fault.

The input that shows a fault is left in build/fuzz; put it into the corpus, where every run of the tests tries it.
"""

import sys
import time
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["pointsman"]):
    from tests.fuzz.targets import CORPUS, TARGETS

MAX_CPU_S = 0.5  # ten times what the worst input costs here, with every branch counted
MAX_INPUT_BYTES = 4_096
MAX_RSS_MIB = 256


def main(name: str, seconds: str) -> None:
    """Never returns: the fuzzer ends the process."""
    target = TARGETS[name]
    found = Path("build/fuzz") / name
    found.mkdir(parents=True, exist_ok=True)

    def within_time(raw: bytes) -> None:
        begun_s = time.process_time()
        target(raw)
        assert time.process_time() - begun_s < MAX_CPU_S, "too slow"

    options = [f"-max_total_time={seconds}", f"-max_len={MAX_INPUT_BYTES}", f"-rss_limit_mb={MAX_RSS_MIB}"]
    places = [f"-artifact_prefix={found}/fault-", str(found), str(CORPUS / name)]
    atheris.Setup([sys.argv[0], *options, "-timeout=10", "-print_final_stats=1", *places], within_time)
    atheris.Fuzz()


main(*sys.argv[1:])
