"""Starting git: fixed arguments, a scrubbed environment, an end to everything, and what it says."""
