"""The control plane: what operators ask. Its own listener, never on the request path; may not import `proxy`."""
