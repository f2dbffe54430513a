"""The command line: parses, makes one service call, and shows the result through its view."""
