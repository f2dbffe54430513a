"""Making one checkpoint: the create protocol, its metadata, and when it is not made again."""
