"""Keeps the documentation true: generates what the program knows, and checks the rest."""
