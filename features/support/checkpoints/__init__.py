"""Naive models of checkpoints and histories, random trees and large files."""
