"""A checkpoint as commits: its files as the tree, and a state commit for all that is no file."""
