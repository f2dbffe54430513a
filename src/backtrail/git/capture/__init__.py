"""Capturing a sandbox into the store: one look at the disk, made into objects."""
