"""One invocation: its session and its questions, how its outcome is printed and what ends it."""
