"""Decisions and corrections, as told by plain SQL."""
