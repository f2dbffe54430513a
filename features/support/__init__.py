"""Helpers for the step files: real git, real files, the real program."""
