"""ToolService: calls of tools, with the checkpoints that are declared for them."""
