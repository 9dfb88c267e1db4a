"""Two fake providers, a gateway before them, and one call of a real client."""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pointsman.app import new_loop
from pointsman.testing import Answer, Chat, FakeProvider
from tests.integration.harness import run_gateway

Speak = Callable[..., dict[str, Any]]


def played(
    tmp_path: Path, speak: Speak, *, a: Sequence[Answer], groups: Mapping[str, object], **sections: Any
) -> dict[str, Any]:
    """What the client saw that `speak(base_url=...)` runs, and under `asked` the bodies that reached the providers.

    `a`: the answers of the first provider, in order; the second one is always fine.
    """

    async def scene() -> dict[str, Any]:
        async with (
            FakeProvider(name="a") as first,
            FakeProvider(name="b", default=Chat("served by b")) as second,
            run_gateway(tmp_path, first, second, groups=groups, **sections) as gateway,
        ):
            first.script(*a)
            seen = await asyncio.to_thread(speak, base_url=gateway.base_url)
            asked = [json.loads(request.body or b"null") for request in (*first.log, *second.log)]
            return {**seen, "asked": asked}

    with asyncio.Runner(loop_factory=new_loop) as runner:
        return runner.run(scene())
