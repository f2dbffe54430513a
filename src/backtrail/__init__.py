"""Checkpoints and exact rollback for work that happens in git worktree sandboxes."""

__version__ = "0.1.0"
