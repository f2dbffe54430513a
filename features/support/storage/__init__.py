"""The rows, their servers, and the files that the program keeps for itself."""
