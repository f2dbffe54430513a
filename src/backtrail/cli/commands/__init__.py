"""One module per verb: each function parses, calls a service and returns a report."""
