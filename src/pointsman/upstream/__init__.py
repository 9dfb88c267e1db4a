"""Sending one attempt to a provider. May import `http1`, `config` and the core; knows no routing rule."""
