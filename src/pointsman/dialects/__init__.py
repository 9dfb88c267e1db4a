"""Wire formats (pure): bytes to facts and back. May import `domain` only. The registry is `registry.DIALECTS`."""
