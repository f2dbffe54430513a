"""Pure values and rules of Backtrail: standard library only, no input or output."""
