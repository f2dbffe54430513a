"""Plans, their settings, and applying them."""
