"""Durable steps: what is recorded of them, their output, and steps of Python code."""
