"""Runs one real engine, llama.cpp's own server: `python -m tests.e2e.engine.serve MODEL PORT [embeddings]`."""

import signal
import sys

try:
    import xllamacpp
except ImportError as error:
    sys.exit(f"The tests need a real engine, but xllamacpp cannot be imported: {error}. `make check` installs it.")

SLOTS = 4  # answers at a time
CONTEXT_TOKENS = 131_072  # of all slots together: a slot that speaks for ever is busy for more than 10 s


def main() -> None:
    """Listen at once, answer 503 until the model is loaded, and serve until a signal comes."""
    path, port, *embeds = sys.argv[1:]
    parameters = xllamacpp.CommonParams()
    parameters.model.path = path
    parameters.hostnames, parameters.port = ["127.0.0.1"], int(port)
    parameters.n_parallel, parameters.n_ctx = SLOTS, CONTEXT_TOKENS
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 1  # several engines share few cores
    parameters.endpoint_slots = True
    parameters.warmup = False
    if embeds:
        parameters.embedding, parameters.pooling_type = True, xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
    engine = xllamacpp.Server(parameters)
    signal.pause()
    del engine


if __name__ == "__main__":
    main()
