@unmeasured
Feature: Killed again and again, a command loses nothing
  The program may be killed while it repairs what an earlier kill left, somebody may have worked in
  between, and no kill asks whether its moment is a named one. The next command still puts
  everything right by itself. With `BACKTRAIL_EXAMPLES` set, every pair of places is tried.

  Scenario: A rollback is killed at every step, and its recovery as well, at some steps
    Given a repository with plan "auth"
    And the agent works and saves: one, two, three
    And work that is in no checkpoint yet
    When "plan rollback auth one --yes" is killed at each of its failpoints, and each time the next command is killed at every fourth failpoint of its recovery
    Then at least 25 crashes of crashes were lived through
    And every time the plan was usable at once
    And every time complete checkpoints and refs were one to one, connected, and nothing was half done
    And every time the sandbox was wholly as before or wholly as asked for, and undo led back
    And every time each acknowledged checkpoint was exact

  @storage
  Scenario Outline: <what> is killed at every step, and its recovery as well
    Given a repository with plan "auth"
    And the agent works and saves: one, two, three
    And work that is in no checkpoint yet
    And already done: "<done before>"
    When "<command>" is killed at each of its failpoints, and each time the next command is killed at another one
    Then at least <count> crashes of crashes were lived through
    And the recovery was killed, among others, at: <recovery>
    And every time the plan was usable at once
    And every time complete checkpoints and refs were one to one, connected, and nothing was half done
    And every time the sandbox was wholly as before or wholly as asked for, and undo led back
    And every time each acknowledged checkpoint was exact

    Examples:
      | what    | command        | done before                  | count | recovery                      |
      | Saving  | plan save auth |                              | 4     | recovery.done                 |
      | Undoing | plan undo auth | plan rollback auth one --yes | 13    | recovery.looked, recovery.done |

  Scenario: Work done between a crash and the next command is never overwritten
    Given a repository with plan "auth"
    And the agent works and saves: one, two, three
    And work that is in no checkpoint yet
    When "plan rollback auth one --yes" is killed wherever files may be half changed, and each time somebody edits a file that comes back before the next command
    Then it happened at least 7 times
    And every time the plan was usable at once
    And every time the edit stayed in place, and undo led back to before the command
    And every time a notice said what to type
    And every time the edited state was kept as a checkpoint
    And every time complete checkpoints and refs were one to one, connected, and nothing was half done

  @storage
  Scenario: Killed at random moments, git and all
    Given a repository with plan "auth"
    And the agent works and saves: one, two, three
    When "plan rollback auth one --yes" is killed at random moments 12 times, git and all
    Then after the next command rows and refs agreed every time, and nothing was lost
    And every checkpoint can be brought back exactly
