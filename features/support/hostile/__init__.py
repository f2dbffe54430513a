"""Sandboxes, users and neighbours that do not mean well."""
