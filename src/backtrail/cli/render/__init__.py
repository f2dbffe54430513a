"""Writing a report: as rich, as plain lines, as JSON."""
