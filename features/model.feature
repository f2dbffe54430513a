@unmeasured
Feature: A plan behaves as a simple model of it says
  Random work and random checkpoints, rollbacks, undos and redos, compared step by step with a
  model that knows nothing of git: files by path, the timeline as a list, undo and redo as two
  lists. `BACKTRAIL_EXAMPLES=500` makes the search long; a failure prints how to repeat it.

  Scenario: Random work with checkpoints, rollbacks, undos, redos and labels
    Then a plan and its model agree after each of 14 random steps, 8 times over

  Scenario: Random work in which what is ignored changes, too
    Then a plan and its model agree after each of 12 random steps, 4 times over, while ignore rules change
