"""What no tree of files holds: permission bits, empty directories, special files, repositories."""
