"""Rich, plain and JSON output, all made from one report."""
