"""The demonstration: a throw-away repository is wrecked and brought back before the user's eyes."""
