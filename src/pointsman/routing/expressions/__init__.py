"""Score expressions: a small language of numbers, read, checked and compiled once. May import `domain` only.

The text is never run: it is read into a tree of our own that has room for numbers, named scores and listed functions,
and nothing else. What is run is written anew from that tree.
"""
