"""Entering a sandbox: the repository as services see it, its lock, repairs, guards, journal."""
