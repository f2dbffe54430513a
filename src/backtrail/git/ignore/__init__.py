"""Which paths of a sandbox belong to a checkpoint: ignore rules, new files, included ones."""
