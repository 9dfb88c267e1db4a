"""The Beta distribution (pure)."""

import math

_TINY = 1e-30
_PRECISION = 1e-10
_MAX_TERMS = 300


def cdf(x: float, a: float, b: float) -> float:
    """Probability of a value up to `x`, for a, b > 0: the regularized incomplete beta function."""
    if x <= 0.0:
        return 0.0
    if x >= 1.0:
        return 1.0
    log_factor = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    if x < (a + 1.0) / (a + b + 2.0):  # where the fraction converges fast
        return math.exp(log_factor) * _fraction(x, a, b) / a
    return 1.0 - math.exp(log_factor) * _fraction(1.0 - x, b, a) / b


def _fraction(x: float, a: float, b: float) -> float:
    """Lentz's evaluation of the continued fraction (DLMF 8.17.22)."""
    above, below = 1.0, _inverse(1.0 - (a + b) * x / (a + 1.0))
    value = below
    for term in range(1, _MAX_TERMS):
        even = term * (b - term) * x / ((a + 2 * term - 1.0) * (a + 2 * term))
        odd = -(a + term) * (a + b + term) * x / ((a + 2 * term) * (a + 2 * term + 1.0))
        for step in (even, odd):
            below = _inverse(1.0 + step * below)
            above = 1.0 + step / above
            value *= below * above
        if abs(below * above - 1.0) < _PRECISION:
            break
    return value


def _inverse(value: float) -> float:
    return 1.0 / (value if abs(value) > _TINY else _TINY)
