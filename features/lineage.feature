Feature: Which part of the past is the present
  Rollback, undo and redo never erase: each opens an epoch, and what is live follows from the
  epochs alone. These rules are pure, and are held against a model that copies whole histories
  instead of computing with epochs.

  Scenario: The lineage of any epoch is its target's history and itself
    Then for any tree of epochs, a lineage holds exactly what copying whole histories gives

  Scenario: Cutting a lineage and reading it from the epochs are the same
    Then for any tree of epochs, branching off a lineage is the same as reading it from the epochs

  Scenario: Marks follow from the lineage
    Then for any tree of epochs, the marks that change make exactly the lineage's rows live

  Scenario: What a rollback would take off the timeline
    Then for any two lineages, what leaves is what is complete, live now and not live then

  Scenario: Undo and redo are two stacks
    Then any order of rollbacks, undos and redos, some of them failing, leaves the stacks of two plain lists
