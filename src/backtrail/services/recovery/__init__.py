"""Repairing what a crash left behind: unfinished operations, and rows and refs that disagree."""
