"""CorrectionService: what to do about a decision that turned out wrong."""
