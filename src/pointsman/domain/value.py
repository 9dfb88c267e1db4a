"""Bases of the values that the core hands around: compared by what they hold, and never changed.

Options of a class stand here once, and not as keywords of each class: mypyc, which compiles the core, drops those.
"""

from typing import dataclass_transform

import msgspec


@dataclass_transform(frozen_default=True, field_specifiers=(msgspec.field,))
class Value(msgspec.Struct, frozen=True):
    """An immutable value."""


@dataclass_transform(frozen_default=True, field_specifiers=(msgspec.field,))
class Leaf(msgspec.Struct, frozen=True, gc=False):
    """An immutable value that can be part of no cycle: the garbage collector need not follow it."""
