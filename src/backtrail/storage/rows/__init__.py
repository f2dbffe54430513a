"""The tables, the types of their columns, and the mapping between rows and domain values."""
