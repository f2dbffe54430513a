"""Sandboxes of special kinds, and what happens to the files and the git in them."""
