"""What the demo says of itself: where it listens, and how to try it."""

from pathlib import Path

from msgspec import Struct

from pointsman.demo.configuration import GROUP
from pointsman.demo.providers import WEIGHTS


class Place(Struct, frozen=True):
    """Where the demo is, and how it routes."""

    base_url: str
    metrics_url: str
    records: Path
    strategy: str

    @property
    def routing(self) -> str:
        """In short."""
        return f"{self.strategy}, weights {WEIGHTS}"


def welcome(place: Place, how_to_stop: str) -> str:
    """23 lines, so that all of it stays on a small terminal."""
    return f"""\
Pointsman demo: a gateway and three simulated providers, all on this machine.

  base URL   {place.base_url}
  models     {GROUP} ({place.routing}), {GROUP}-failover
  metrics    {place.metrics_url}
  decisions  {place.records}

{_curl(place)}

{_python(place)}

What to watch
  x-pointsman-target    who answered: swift is quick, but fails 1 time in 20
  x-pointsman-attempts  2 where another target stepped in; the answer is whole
  the decisions file    one line per request: who could serve, who did, and why
                        (tail -f it; it goes away with the demo)

Stop with {how_to_stop}."""


def pointers(place: Place) -> list[str]:
    """The same for the foot of a live view, in 8 lines."""
    text = f"""\
base URL   {place.base_url}  metrics {place.metrics_url}
decisions  {place.records}
{_curl(place)}
{_python(place)}"""
    return text.splitlines()


def _curl(place: Place) -> str:
    return f"""\
curl -i {place.base_url}/chat/completions -d \\
  '{{"model": "{GROUP}", "messages": [{{"role": "user", "content": "hi"}}]}}'"""


def _python(place: Place) -> str:
    return f"""\
from openai import OpenAI
client = OpenAI(base_url="{place.base_url}", api_key="unused")
hi = [{{"role": "user", "content": "hi"}}]
print(client.chat.completions.create(model="{GROUP}", messages=hi))"""
