"""The demonstration over the public API: a throw-away repository is wrecked and brought back."""
