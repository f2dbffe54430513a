"""The program as a process, forked or on a terminal, alone or as one of many; and its answers."""
