"""How a result is written: the shape of its JSON, plain lines, rich drawings; knows no result."""
