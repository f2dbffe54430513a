Feature: Nothing of a run outlives it
  Whatever a command starts ends with it, wherever it hides; only then are files restored.

  Background:
    Given a repository with plan "auth"
    And the agent works and saves: one

  Scenario Outline: A process that <hides> ends before files are restored
    When a command leaves a process that <hides> and writes all the time, and fails
    Then it exits with 1
    And the process whose id is in "../../pid" is gone
    And the sandbox is exactly as it was at "one"

    Examples:
      | hides                                   |
      | ignores SIGTERM                         |
      | has a session of its own                |
      | has become a daemon                     |
      | has become a daemon without environment |
      | is stopped                              |

  Scenario Outline: <signal> ends a run as an abort does: <on abort>
    Given plan "auth" is run with --on-abort <on abort> until it gets <signal>
    Then what ran in the background exits with 130 and says "run 1 was interrupted"
    And run 1 is <status>
    And "work.txt" in the sandbox holds "<text>"
    And the process whose id is in "../../pid" is gone

    Examples:
      | signal  | on abort  | status      | text   |
      | SIGINT  | rollback  | rolled_back | at one |
      | SIGTERM | interrupt | interrupted | bad    |
      | SIGHUP  | rollback  | rolled_back | at one |

  Scenario: A signal before the command has started: it never is
    Given the agent writes "by hand\n" to "work.txt"
    When a run gets SIGTERM while its checkpoint is made
    Then it exits with 130
    And "ran" is not in the sandbox
    And run 1 is interrupted

  Scenario: A process that cannot be ended is named, and nothing is rolled back
    When a run leaves a process that may not be ended, and fails
    Then it exits with 125 and says "cannot be ended"
    And the error names that process, and the files are kept
