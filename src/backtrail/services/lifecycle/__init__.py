"""LifecycleService: cancelling, removing, purging and restoring plans."""
