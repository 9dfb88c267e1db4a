"""A comparison as one HTML file that needs nothing else: two plots and the table of each scenario."""

import math
from collections.abc import Callable, Sequence
from html import escape

from msgspec import Struct

from pointsman.simulator.compare import Summary
from pointsman.simulator.names import is_literal

_WIDTH, _ROW, _LABELS = 760, 20, 130  # pixels
_HEIGHT, _MARGIN = 360, 50
_OURS, _OTHERS = "#c2410c", "#64748b"
_LEAST = 1e-9  # so that a logarithm is finite

_PAGE = """\
<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Pointsman: routing policies compared</title>
<style>
body {{ font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #1e293b }}
pre {{ font-size: 12px; line-height: 1.35; overflow-x: auto; background: #f8fafc; padding: 1rem }}
svg {{ display: block; max-width: 100%; margin: 1rem 0 }}
text {{ font-size: 12px; fill: #334155 }}
</style></head><body>
<h1>Routing policies compared</h1>
{chapters}
<pre>{legend}</pre>
</body></html>
"""


class Chapter(Struct, frozen=True):
    """One scenario."""

    title: str  # its first line is the heading
    table: str
    found: tuple[Summary, ...]


def page(chapters: Sequence[Chapter], legend: str) -> str:
    return _PAGE.format(chapters="\n".join(map(_chapter, chapters)), legend=escape(legend))


def _chapter(chapter: Chapter) -> str:
    heading, _, rest = chapter.title.partition("\n")
    return (
        f"<h2>{escape(heading)}</h2><p>{escape(rest)}. In orange: ours.</p>"
        f"<h3>Regret in percent</h3>{_bars(chapter.found)}"
        f"<h3>USD per 1,000 good answers; ttft at the 95th percentile</h3>{_scatter(chapter.found)}"
        f"<pre>{escape(chapter.table)}</pre>"
    )


def _svg(height: float, body: str) -> str:
    return f'<svg viewBox="0 0 {_WIDTH} {height:g}" width="{_WIDTH}" role="img">{body}</svg>'


def _text(x: float, y: float, words: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'


def _colour(summary: Summary) -> str:
    return _OTHERS if is_literal(summary.policy) else _OURS


def _bars(found: Sequence[Summary]) -> str:
    """A bar for each policy, and a line for its interval."""
    regrets = [summary.regret for summary in found]
    most = max([each.value + (each.half or 0.0) for each in regrets])
    scale = (_WIDTH - _LABELS - 2 * _MARGIN) / max(most, _LEAST)
    rows = []
    for number, (summary, regret) in enumerate(zip(found, regrets, strict=True)):
        top, half = number * _ROW, regret.half or 0.0
        width, middle = max(regret.value, 0.0) * scale, top + _ROW / 2
        begin, end = (_LABELS + max(regret.value + sign * half, 0.0) * scale for sign in (-1.0, 1.0))
        rows.append(
            _text(_LABELS - 6, middle + 4, summary.policy, "end")
            + f'<rect x="{_LABELS}" y="{top + 3}" width="{width:.1f}" height="{_ROW - 6}" fill="{_colour(summary)}"/>'
            + f'<path d="M{begin:.1f} {middle}H{end:.1f}" stroke="#0f172a"/>'
            + _text(end + 6, middle + 4, f"{100.0 * regret.value:.1f}")
        )
    return _svg(len(found) * _ROW, "".join(rows))


def _scatter(found: Sequence[Summary]) -> str:
    """Down and to the left is better; both axes are logarithmic. Who had no good answer is not shown.

    Names stand beside the plot, in the order of the waits: points that lie close would cover each other's.
    """
    points = sorted(
        [(summary.of("ttft_p95_s") or _LEAST, usd, summary) for summary in found if (usd := summary.of("usd"))],
        key=lambda point: point[:2],
        reverse=True,
    )
    right, bottom = _WIDTH - 2 * _LABELS, _HEIGHT - _MARGIN
    x_of = _axis([usd for _, usd, _ in points], _MARGIN, right - _MARGIN)
    y_of = _axis([wait_s for wait_s, _, _ in points], bottom, _MARGIN)
    gap = (_HEIGHT - _MARGIN) / max(len(points), 1)
    marks = []
    for number, (wait_s, usd, summary) in enumerate(points):
        x, y, name_y = x_of(usd), y_of(wait_s), _MARGIN / 2 + number * gap
        marks.append(
            f'<path d="M{x:.1f} {y:.1f}L{right - 4} {name_y - 4:.1f}" stroke="#cbd5e1"/>'
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="{_colour(summary)}"/>'
            + _text(right, name_y, f"{summary.policy}: {usd:.2f} USD, {wait_s:.2f} s")
        )
    frame = f'<path d="M{_MARGIN - 10} {_MARGIN - 10}V{bottom + 10}H{right - _MARGIN}" fill="none" stroke="#94a3b8"/>'
    words = _text(_MARGIN - 10, _MARGIN - 20, "seconds") + _text(right - _MARGIN, bottom + 26, "USD", "end")
    return _svg(_HEIGHT, frame + words + "".join(marks))


def _axis(values: Sequence[float], begin: float, end: float) -> Callable[[float], float]:
    logs = [math.log(max(value, _LEAST)) for value in values]
    low = min(logs, default=0.0)
    spread = max(max(logs, default=0.0) - low, _LEAST)
    return lambda value: begin + (end - begin) * (math.log(max(value, _LEAST)) - low) / spread
