Feature: Which checkpoints stay and which go
  Retention is a pure function of the checkpoints, the plan's limits and what is still needed. It
  gives each checkpoint a verdict and a reason. These rules are held against random plans.

  Scenario: Nothing is forgotten
    Then every checkpoint is either kept or removed, once and with a reason

  Scenario: What is kept always
    The first, the latest, pinned and labelled ones, the newest live green one, both ends of every
    way back, those before decisions that hold, and the newest live ones that are no part of a
    rollback: the last two as long as the limit has room for them.
    Then what the design keeps always is kept, whatever the limits are

  Scenario: Limits
    Then the limits hold, or all that is left is protected and the decision says by how much
    And the number is exceeded by what was named, is needed or can be undone, and by nothing else
    And no more goes than the limits demand
    And too old is all that is older than the limit and not protected, and nothing else

  @unmeasured
  Scenario: The order of removal
    First what a rollback left although another one has its files, then what is superseded and no
    undo or redo would bring back, then the rest of what is superseded; of what is live first what
    was made for tool calls, then for runs, turns and rollbacks, and at last the rest.
    Then checkpoints go in the order of the design, oldest first among equals
    And a higher limit keeps all that a lower one keeps
    And deciding again on what was kept removes nothing, and the order of the rows does not matter

  Scenario: What cannot be restored
    Then what cannot be restored goes first, unless it was named or is needed, and never counts

  Scenario: What an undo or a redo would revive
    Then for any history, what undo or redo would revive is what its copy of the past holds

  Scenario: Limits that make sense
    Then the usual limits are: max_checkpoints 50, max_age_seconds None, max_bytes None, keep_recent 10, undo_depth 10
    And these limits are refused, with a sentence and a hint:
      | limit           | value             |
      | max_checkpoints | 0                 |
      | max_checkpoints | -1                |
      | max_checkpoints | "many"            |
      | max_checkpoints | 2.5               |
      | max_checkpoints | true              |
      | max_checkpoints | null              |
      | max_checkpoints | 9999999999999999  |
      | keep_recent     | -1                |
      | undo_depth      | 0                 |
      | max_bytes       | 0                 |
      | max_age         | 0                 |
      | max_age         | -1                |
      | max_age         | 99999999999       |
    And these are spans of time and amounts of bytes:
      | written | is                 |
      | 90s     | 90 seconds         |
      | 15m     | 900 seconds        |
      | 12 h    | 43200 seconds      |
      | 30d     | 2592000 seconds    |
      | 2W      | 1209600 seconds    |
      | 17      | 17 bytes           |
      | 17B     | 17 bytes           |
      | 2k      | 2048 bytes         |
      | 1.5MiB  | 1572864 bytes      |
      | 2GB     | 2000000000 bytes   |
      | 2gib    | 2147483648 bytes   |
      | 1T      | 1099511627776 bytes |
    And these are neither: nothing, x, -1, 1.2.3, 3y, 1e3, GiB, 5 apples, 99999999999999999999
    And whatever a plan's row holds as its policy, limits come of it
