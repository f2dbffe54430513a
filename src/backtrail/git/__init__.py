"""Everything that talks to git: the private store, snapshots, restores and the user's worktrees."""
