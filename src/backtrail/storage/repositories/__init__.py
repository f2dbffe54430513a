"""One repository per kind of row; each speaks domain values and flushes what it writes at once.

Rows have foreign keys but no ORM relationships, so that the order of writes is the callers' own.
"""
