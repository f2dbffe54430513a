"""What Backtrail does, as services: they never print, prompt, exit or read the environment."""
