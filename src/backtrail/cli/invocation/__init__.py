"""One invocation of the program: its session, questions, signals, and how failures end it."""
