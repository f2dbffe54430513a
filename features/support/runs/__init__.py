"""Runs, steps and scripts: their processes, their kills and their models."""
