"""From words to parameters: options, targets, groups of commands, completion."""
