"""ApplyService: bringing the outcome of a plan onto a branch of the user's."""
