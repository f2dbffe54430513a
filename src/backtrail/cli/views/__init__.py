"""What each result shows: its shape, declared once, its lines and its panels."""
