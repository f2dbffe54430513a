"""The user's repository: whose it is, worktrees, HEAD, branches, index, and what is under way."""
