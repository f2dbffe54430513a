Feature: Python code under protection
  `with services.runs.run(plan) as run:` protects a block of code as `plan run` does a command.

  Background:
    Given a repository with plan "auth"
    And the agent works and saves: one

  Scenario: A block that succeeds is kept, and checked
    When a block of Python code writes "good" to "work.txt", verified by "grep good work.txt"
    Then the block succeeded
    And run 1 is success and ended with 0
    And "last-green" is a checkpoint of type post_run

  Scenario: A block that raises is rolled back, and its exception comes through
    When a block of Python code writes "bad" to "work.txt" and raises ValueError
    Then the block raised ValueError
    And run 1 is rolled_back and ended with 1
    And the sandbox is exactly as it was at "one"

  Scenario: A block notices that somebody asked for its end
    When a block of Python code writes "bad" to "work.txt" and is aborted with rollback
    Then the block raised RunAbortedError
    And the sandbox is exactly as it was at "one"

  Scenario: A block that did not notice did not succeed either
    When a block of Python code writes "bad" to "work.txt" and is aborted, and does not look
    Then the block raised RunAbortedError
    And run 1 is interrupted and ended with 0

  Scenario: A block whose check fails
    When a block of Python code writes "bad" to "work.txt", verified by "false"
    Then the block raised RunAbortedError
    And run 1 is error and ended with 1

  Scenario: A rollback that fails is raised
    When a block of Python code raises ValueError after it made a link of a note of git
    Then the block raised RefusedError
    And run 1 is error and ended with 1

  Scenario: A program that was killed inside a block cannot be resumed from the command line
    When a block of Python code is killed by SIGKILL
    And I run "plan save auth"
    Then it notes "run 1 crashed"
    When I run "plan resume auth"
    Then it exits with 125 and says "was a block of Python code"
    When I run "plan runs auth"
    Then it prints "(Python code)"
