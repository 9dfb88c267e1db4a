"""What the functions of expressions do. Whatever they are given, the result is a finite number, or it is undefined."""

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType

LEAST_DIVISOR = 1e-9  # nearer to 0, a quotient is noise
LARGEST = 1e100  # beyond which nothing is let, so that no product of two becomes infinite


class UndefinedError(ValueError):
    """The value of an expression does not exist for these scores."""


def divided(number: float, by: float) -> float:
    if abs(by) < LEAST_DIVISOR:
        raise UndefinedError
    return number / by


def power(number: float, exponent: float) -> float:
    if exponent < 0.0 and abs(number) < LEAST_DIVISOR:
        raise UndefinedError
    if number < 0.0 and exponent != math.floor(exponent):
        raise UndefinedError
    return math.pow(number, exponent)


def sqrt(number: float) -> float:
    if number < 0.0:
        raise UndefinedError
    return math.sqrt(number)


def log1p(number: float) -> float:
    if number <= -1.0:
        raise UndefinedError
    return math.log1p(number)


def sigmoid(number: float) -> float:
    if number < 0.0:
        grown = math.exp(number)
        return grown / (1.0 + grown)
    return 1.0 / (1.0 + math.exp(-number))


def clamp(number: float, least: float, most: float) -> float:
    return min(max(number, least), most)


def lerp(start: float, end: float, part: float) -> float:
    return start + (end - start) * part


def step(edge: float, number: float) -> float:
    return 1.0 if number >= edge else 0.0


CALLED: Mapping[str, Callable[..., float]] = MappingProxyType(  # by the names that compiled expressions know
    {
        "divided": divided,
        "power": power,
        "sqrt": sqrt,
        "log1p": log1p,
        "sigmoid": sigmoid,
        "clamp": clamp,
        "lerp": lerp,
        "step": step,
        "exp": math.exp,
        "abs": abs,
        "min": min,
        "max": max,
    }
)
