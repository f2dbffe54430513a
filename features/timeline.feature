@storage
Feature: The timeline
  After a rollback "latest" is what is there now, for everybody and at once.
  What was left behind is superseded: still listed, still restorable. Nothing is ever lost,
  and undo and redo bring back the files, the timeline and where the plan stood.

  Background:
    Given a repository with plan "auth"

  Scenario: Rolling back, undoing it, doing it again
    Given the agent works and saves: one, two, three
    When I roll back to "one"
    Then the sandbox is exactly as it was at "one"
    And "latest" in a new process is a new checkpoint with the files of "one"
    And a new process lists with --all as superseded: two, three, pre_rollback
    And the timeline is: initial, one, rollback
    When I undo
    Then the sandbox is exactly as it was at "three"
    And the timeline is: initial, one, two, three, pre_rollback, rollback
    And "latest" in a new process is a new checkpoint with the files of "three"
    And superseded are: rollback, pre_rollback
    When I redo
    Then the sandbox is exactly as it was at "one"
    And the timeline is: initial, one, rollback, pre_rollback, rollback
    And "latest" in a new process is a new checkpoint with the files of "one"

  Scenario: Work that was never saved comes back as well
    Given the agent works and saves: one, two
    And the agent writes "not saved yet\n" to "work.txt"
    And the agent writes "nor this\n" to "another.txt"
    And I remember the sandbox as "unsaved"
    When I roll back to "one"
    Then "another.txt" is not there
    When I undo
    Then the sandbox is exactly as it was at "unsaved"

  Scenario: Two rollbacks are undone in turn, and each timeline is as it was
    Given the agent works and saves: c2, c3, c4, c5, c6, c7
    When I roll back to "5"
    Then the timeline is: initial, c2, c3, c4, c5, rollback
    And superseded are: c6, c7, pre_rollback
    And the superseded checkpoints it counts are 2
    When the agent works and saves: later
    And I roll back to "2"
    Then the timeline is: initial, c2, rollback
    When I undo
    Then the sandbox is exactly as it was at "later"
    And the timeline is: initial, c2, c3, c4, c5, rollback, later, pre_rollback, rollback
    When I undo
    Then the sandbox is exactly as it was at "c7"
    And the timeline is: initial, c2, c3, c4, c5, c6, c7, pre_rollback, rollback
    When I try to undo
    Then it is refused with exit code 1
    When I redo
    Then the sandbox is exactly as it was at "later"
    When I redo
    Then the sandbox is exactly as it was at "c2"

  Scenario: An edit made between undo and redo is not lost
    Given the agent works and saves: one, two
    When I roll back to "one"
    And I undo
    And the agent writes "an afterthought\n" to "work.txt"
    And I remember the sandbox as "edited"
    And I redo
    Then the sandbox is exactly as it was at "one"
    When I undo
    Then the sandbox is exactly as it was at "edited"
    And "work.txt" holds "an afterthought\n"

  Scenario: Rolling back to a superseded checkpoint revives its own history and no other
    Given the agent works and saves: one, two
    When I roll back to "one"
    And the agent works and saves: other, another
    And I roll back to "first"
    And the agent works and saves: third
    And I roll back to "two"
    Then the sandbox is exactly as it was at "two"
    And the timeline is: initial, one, two, rollback
    When I roll back to "other"
    Then the sandbox is exactly as it was at "other"
    And the timeline is: initial, one, rollback, other, rollback
    When I undo
    Then the timeline is: initial, one, two, rollback, pre_rollback, rollback

  Scenario: A rollback after an undo leaves nothing to redo
    Given the agent works and saves: one, two, three
    When I roll back to "one"
    And I undo
    And I roll back to "two"
    And I try to redo
    Then it is refused with exit code 1
    And the sandbox is exactly as it was at "two"
    When I undo
    Then the sandbox is exactly as it was at "three"

  Scenario: Rolling back to where one is already
    Given the agent works and saves: one
    When I roll back to "latest"
    Then the sandbox is exactly as it was at "one"
    And the timeline is: initial, one, rollback
    When I undo
    Then the sandbox is exactly as it was at "one"
    And the timeline is: initial, one, pre_rollback, rollback

  @unmeasured
  Scenario: The last ten rollbacks can be undone
    Given the agent works and saves: one, two
    And I roll back between "one" and "two" 11 times
    When I undo 10 times
    Then the sandbox is exactly as it was at "one"
    When I try to undo
    Then it is refused with exit code 1
    And the sandbox is exactly as it was at "one"

  Scenario: A rollback makes the plan ready for work, and undo and redo bring back where it stood
    Given the agent works and saves: one, two
    And the plan is in phase "apply" and state "errored"
    When I roll back to "one"
    Then the plan is now in phase "execute" and state "queued"
    When I undo
    Then the plan is now in phase "apply" and state "errored"
    When the plan is in phase "strategize" and state "processing"
    And I redo
    Then the plan is now in phase "execute" and state "queued"
    When I undo
    Then the plan is now in phase "strategize" and state "processing"

  Scenario: A rollback that cannot be proven fails, supersedes nothing and can be undone
    Given the agent works and saves: one, two, three
    When somebody writes to "work.txt" while I roll back to "one"
    Then it is refused with exit code 11
    And the refusal names "work.txt"
    And the refusal names "plan undo"
    And the refusal names "'safety_checkpoint_seq': 5"
    And the timeline is: initial, one, two, three, pre_rollback
    And superseded are: nothing
    When I undo
    Then the sandbox is exactly as it was at "three"
    And the timeline is: initial, one, two, three, pre_rollback, rollback
    When I try to redo
    Then it is refused with exit code 1

  Scenario Outline: An undo of <what> that cannot be proven tells the way back
    Given the agent works and saves: one, two
    When <I roll back> to "one"
    And somebody writes to "work.txt" while I undo
    Then it is refused with exit code 11
    And the refusal names "<command> brings back the state before the undo"
    And the refusal names "plan undo auth tries again"
    When I run "<command> --yes"
    Then it succeeds
    And the sandbox is exactly as it was at "just before"

    Examples:
      | what       | I roll back                 | command                              |
      | everything | I roll back                 | plan rollback auth 6                 |
      | one path   | I roll back only "work.txt" | plan rollback auth 6 --path work.txt |

  Scenario: Each plan has a timeline of its own
    Given the agent works and saves: one, two
    And plan "other"
    And the agent works and saves: one, two
    When I roll back to "one"
    Then the timeline is: initial, one, rollback
    When I speak of plan "auth"
    Then the timeline is: initial, one, two
    When I try to undo
    Then it is refused with exit code 1

  Scenario: The log tells who did what
    Given the agent works and saves: one, two
    When I run "plan rollback auth one --yes -m 'the agent went wrong'"
    And I run "plan undo auth"
    And I run "plan ops auth --format json"
    Then the log, newest first, tells of: undo, rollback, checkpoint, checkpoint, create_plan
    And its JSON has data.operations.1.reason "the agent went wrong"
    And its JSON has data.operations.1.state "done"
    And its JSON has data.operations.1.command_line "plan rollback auth one --yes -m 'the agent went wrong'"
