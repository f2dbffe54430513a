"""The world of a scenario: its directories, and independent looks at them."""
