"""What each result shows: its fields, its lines, its panels."""
