"""Processes of the operating system: who is who, starting one, and ending all that came of it."""
