"""Pointsman: an LLM gateway whose routing you can prove."""

__version__ = "0.1.0"
