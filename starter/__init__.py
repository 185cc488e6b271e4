"""How the starter model is made (docs/starter-model.md)."""
