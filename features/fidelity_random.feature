@unmeasured
Feature: Whatever is in a sandbox comes back
  Random trees that mix all kinds of entries, names, modes, attributes, ignore rules and states of
  git: each is saved, replaced by another one, brought back and undone, and compared byte for byte
  by a walk that knows nothing of Backtrail. `nox -s roundtrips` searches through 20,000.

  Scenario: Random trees in a sandbox of the plan's own
    Then 120 random trees come back exactly, in a sandbox of its own
