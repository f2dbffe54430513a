"""Opening a database: its address, its engine, its schema, and its errors in our words."""
