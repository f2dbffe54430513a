"""The command line: parses, makes one service call, and hands the result to the output package."""
