"""The rows, on SQLite or PostgreSQL; no ORM row ever leaves this package."""
