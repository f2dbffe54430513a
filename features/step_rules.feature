Feature: Which steps hold and which must run
  What is recorded of a step is only ever added to; rollback, undo and redo change the lineage
  alone. These rules are pure. They are held against a model that keeps whole histories as lists of
  events and replays them, and that knows neither epochs nor positions.

  Scenario: What holds after any history
    Then after any history of steps, crashes, rollbacks, undos and changed arguments, a plan's steps are those of the model

  Scenario: One entry for each name
    Then after any history at most one step of each name holds, and what holds is in the order of the starts

  Scenario: What is done about a step that is asked for
    Then for any history, a step is reused, run again, replaced or new exactly as the model says

  Scenario: What goes when there is too much output
    Oldest first, no more than needed; nothing that no complete checkpoint covers, nothing of a step
    that has not ended.
    Then for any history and any limit, the output that goes is the oldest that may go, and no more of it than must

  Scenario: Arguments that differ never look the same
    Then any two different commands, directories or sets of variables have different digests
    And any two different arguments of a function have different digests
    And these pairs of commands have different digests:
      | one              | other            |
      | ["a b"]          | ["a", "b"]       |
      | ["a", ""]        | ["a"]            |
      | ["a", "1:b"]     | ["a1:b"]         |
      | ["x_y", "z"]     | ["x", "y_z"]     |
      | ["x/y", "z"]     | ["x", "y/z"]     |
      | ["caf\u00e9"]    | ["cafe\u0301"]   |
      | ["\udcff"]       | ["\\udcff"]      |
      | ["\udcff"]       | ["\u00ff"]       |
    And a variable that is not set differs from an empty one

  Scenario: Keys that cannot name a step
    Then these keys are refused, with a sentence and a hint: "", " ", 201 letters
    And these keys name steps that differ: a_b, a/b, a b, a  b, A_B, ä, a, a#1, 200 letters

  Scenario: Values that can be recorded, and values that cannot
    Then these values come back from JSON as they were: null, true, 1, 1.5, "é", [1, [2]], {"a": {"b": null}}
    And these cannot be recorded, and each says why: a set, bytes, a number as a key, not a number, infinity, a function, itself
