"""CheckpointService: recording states of a sandbox, bringing them back, taking them elsewhere."""
