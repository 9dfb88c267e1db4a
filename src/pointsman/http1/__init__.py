"""HTTP/1.1 on asyncio: the edge callers reach and the connections to upstreams. Knows nothing of LLMs.

May import `domain` only.
"""
