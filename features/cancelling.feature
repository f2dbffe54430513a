Feature: Cancelling a plan
  Cancelling says that nothing more is to come of a plan. Its sandbox and checkpoints stay: it can
  be looked at, saved, rolled back and removed. --reopen takes the cancellation back, and so does a
  rollback, which makes any plan ready to be worked on.

  Background:
    Given a repository with plan "auth"
    And the agent works and saves: one, two

  @storage
  Scenario: Cancelled and reopened
    Given the plan is in phase "execute" and state "errored"
    When I run "plan cancel auth -m 'not wanted any more' --format json"
    Then it succeeds
    And its JSON has data.plan.state "cancelled"
    And its JSON has data.plan.phase "execute"
    When I run "plan cancel auth --format json"
    Then its JSON has data.changed false
    When I run "plan save auth"
    Then it succeeds
    When I run "plan cancel auth --reopen --format json"
    Then its JSON has data.plan.state "errored"
    When I run "plan cancel auth --reopen"
    Then it exits with 5 and says "is not cancelled"
    When I run "plan ops auth"
    Then it prints "not wanted any more"

  Scenario: A rollback gets a cancelled plan going again
    When I run "plan cancel auth"
    And I run "plan rollback auth one --yes"
    Then it succeeds
    And the plan is now in phase "execute" and state "queued"
    When I run "plan undo auth"
    Then the plan is now in phase "strategize" and state "cancelled"

  Scenario Outline: A plan that is <state> cannot be cancelled
    Given the plan is in phase "execute" and state "<state>"
    When I run "plan cancel auth"
    Then it exits with 5

    Examples:
      | state       |
      | applied     |
      | invalidated |

  Scenario: A plan whose sandbox is gone, or whose rollback was interrupted, can be cancelled
    When "plan rollback auth one --yes" is killed at "rollback.files_restored"
    And I run "plan cancel auth"
    Then it succeeds
    And it notes "finished the rollback"
    And the plan is now in phase "execute" and state "cancelled"
    Given the sandbox was deleted
    When I run "plan cancel auth --reopen"
    Then it succeeds
