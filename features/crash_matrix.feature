@unmeasured
Feature: Killed at every step, a command loses nothing
  The program may be killed at any moment. The next command puts everything right by itself:
  what was acknowledged is there byte for byte, the sandbox is as it was or as it was to become,
  and the plan can be used at once.
  With `BACKTRAIL_EXAMPLES` set, every checkpoint is tried after every kill. On PostgreSQL, where
  only what is marked @storage runs, every place is tried once.

  Scenario Outline: <what> is killed at every step
    Given a repository with plan "auth"
    And the agent works and saves: one, two, three
    And work that is in no checkpoint yet
    And already done: "<done before>"
    When "<command>" is killed at each of its failpoints, and each time the next command is run
    Then the failpoints were all those of: <families>
    And every time the plan was usable at once
    And every time complete checkpoints and refs were one to one, connected, and nothing was half done
    And every time the sandbox was wholly as before or wholly as asked for, and undo led back
    And every time each acknowledged checkpoint was exact

    @storage
    Examples:
      | what             | command                      | done before                               | families         |
      | Saving           | plan save auth               |                                           | create           |
      | Rolling back     | plan rollback auth one --yes |                                           | create, rollback |

    Examples: The same places on other ways
      | what             | command                      | done before                               | families         |
      | Undoing          | plan undo auth               | plan rollback auth one --yes              | create, rollback |
      | Redoing          | plan redo auth               | plan rollback auth one --yes; plan undo auth | create, rollback |
      | Saving, when the plan is full, | plan save auth | plan save auth --type pre_tool; plan checkpoint pin auth one; plan checkpoint pin auth two; plan checkpoint pin auth three; plan policy auth --max-checkpoints 5 --keep-recent 0 | create, prune |
