"""Kills and failures at chosen places, and what is found afterwards."""
