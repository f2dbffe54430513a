@unmeasured
Feature: Whatever is in a sandbox comes back
  Random trees that mix all kinds of entries, names, modes, attributes, ignore rules and states of
  git: each is saved, replaced by another one, brought back and undone, and compared byte for byte
  by a walk that knows nothing of Backtrail. `BACKTRAIL_EXAMPLES=20000` makes the search long.

  Scenario: Random trees in a sandbox of the plan's own
    Then 40 random trees come back exactly, in a sandbox of its own

  Scenario: Random trees in a checkout of the user's
    Then 20 random trees come back exactly, in a sandbox of the user's own
