"""Which checkpoints a plan keeps, what needs them, and how the others go."""
