"""Literal rebuilds of what others do, to compare with: never imported by the product's routing.

Each class says which document it follows, and a test holds it to the document's own numbers. All of them get the same
three attempts and timeouts. May import `simulator`, `routing` and `domain`.
"""
