"""Rollback, undo and redo: guard, save, plan, restore, prove, commit."""
