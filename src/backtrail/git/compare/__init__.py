"""What differs between two states: files, modes, directories, chosen ignored files."""
