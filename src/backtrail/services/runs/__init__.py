"""RunService: commands, steps and Python code under the protection of a checkpoint."""
