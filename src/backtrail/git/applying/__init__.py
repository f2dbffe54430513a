"""Commits as git itself would make them: filters, merges, hooks, and checkouts that follow."""
