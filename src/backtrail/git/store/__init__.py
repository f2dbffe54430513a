"""The private store: one bare repository per user repository, which only we write."""
