"""Makes the starter model (docs/starter-model.md)."""
