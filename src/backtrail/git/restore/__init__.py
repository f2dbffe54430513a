"""Bringing a state back into a sandbox: goal, plan, writing, and an independent proof."""
