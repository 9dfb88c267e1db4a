"""Pictures and documents within a request (pure)."""

import re

from pointsman.dialects.bridges.neutral import File, Image

PDF = "application/pdf"

_DATA_URL = re.compile(r"data:([^;,]*)(?:;[^,]*)?;base64,(.*)", re.DOTALL)
# how the first bytes of each format look in base64: what a client declares is often wrong (G-15)
_BEGINNINGS = (
    ("iVBORw0KGgo", "image/png"),
    ("/9j/", "image/jpeg"),
    ("R0lGOD", "image/gif"),
    ("UklGR", "image/webp"),
)


def image(media_type: str, data: str) -> Image:
    """A picture by its bytes; the type is what they say they are."""
    found = next((type_ for beginning, type_ in _BEGINNINGS if data.startswith(beginning)), media_type)
    return Image(media_type=found, data=data)


def image_at(url: str) -> Image:
    """A picture by its address, which may hold it."""
    found = _DATA_URL.fullmatch(url)
    return Image(url=url) if found is None else image(found[1], found[2])


def file_in(name: str, url: str) -> File | None:
    """A document in a data URL; None: it is somewhere else."""
    found = _DATA_URL.fullmatch(url)
    return None if found is None else File(name, found[1], found[2])


def data_url(media_type: str, data: str) -> str:
    return f"data:{media_type};base64,{data}"
