"""Files as the operating system has them, without following links or hanging; no git."""
