Feature: A plan keeps what matters and no more
  A plan keeps fifty checkpoints unless it was told otherwise. What goes is marked as gone and its
  ref is taken away; its row stays as a tombstone. What undo and redo need never goes.

  Background:
    Given a repository with plan "auth"

  @unmeasured
  Scenario: Of sixty checkpoints fifty remain
    Given I save checkpoint "kept"
    And I run "plan checkpoint pin auth kept"
    When 58 checkpoints of type "manual" are saved
    Then 50 checkpoints are complete and 10 are tombstones
    And "first" names checkpoint "initial"
    And checkpoint 60 is complete
    And checkpoint "kept" is complete
    And these numbers are tombstones, and no ref is left of them: 3, 4, 5, 6, 7, 8, 9, 10, 11, 12
    And rows and refs agree, and nothing is half done

  @unmeasured
  Scenario: Sixty tool calls do not push out what was saved by hand
    Given I save checkpoint "by-hand"
    When 60 checkpoints of type "pre_tool" are saved
    Then 50 checkpoints are complete and 12 are tombstones
    And checkpoint "by-hand" is complete
    And these checkpoints can be brought back exactly: by-hand

  @unmeasured
  Scenario: A rollback to the second oldest of fifty does not prune its own target
    Given I save checkpoint "second"
    And 47 checkpoints of type "manual" are saved
    And I save checkpoint "last"
    When I roll back to "second"
    Then the sandbox is exactly as it was at "second"
    And 50 checkpoints are complete and 2 are tombstones
    And checkpoint "second" is complete
    When I undo
    Then the sandbox is exactly as it was at "last"
    And the result says "2 checkpoints that return to the timeline were pruned and cannot be restored"
    And rows and refs agree, and nothing is half done

  @unmeasured
  Scenario: After sixty rollbacks the last ten can be undone
    Given the agent works and saves unlabelled: one, two
    And I roll back between "one" and "two" 60 times
    Then at most 50 checkpoints are complete
    When I undo 10 times
    Then the sandbox is exactly as it was at "two"
    And at most 50 checkpoints are complete
    When I try to undo
    Then it is refused with exit code 1
    And rows and refs agree, and nothing is half done

  @unmeasured
  Scenario: A redo is still there after many checkpoints
    Given the agent works and saves unlabelled: one, two
    And I roll back to "one"
    And I undo
    When 47 checkpoints of type "manual" are saved
    Then 50 checkpoints are complete and 4 are tombstones
    When I redo
    Then the sandbox is exactly as it was at "one"
    And rows and refs agree, and nothing is half done

  Scenario: Nothing is pruned while a rollback is under way
    Given I run "plan policy auth --max-checkpoints 4 --keep-recent 1"
    And the agent works and saves unlabelled: one, two, three
    When "plan rollback auth 2 --yes" is killed at "rollback.safety_made"
    Then 5 checkpoints are complete and 0 are tombstones
    When I run "plan rollback auth 2 --yes"
    Then it succeeds
    And the sandbox is exactly as it was at "one"
    And rows and refs agree, and nothing is half done

  Scenario: What is superseded goes before what is live, and what an undo would not revive before that
    Given the agent works and saves unlabelled: one, two, three
    And I run "plan policy auth --max-checkpoints 10 --keep-recent 0 --undo-depth 1"
    And I roll back to "two"
    And the agent works and saves unlabelled: four
    And I roll back to "one"
    When I run "plan checkpoint prune auth --max 6 --dry-run --format json"
    Then these would go: pre_rollback because same_files, rollback because same_files, three because superseded
    And these would stay: initial, one, two, four, pre_rollback, rollback

  Scenario: A limit below the number that stays by itself is kept
    Given I run "plan policy auth --max-checkpoints 5"
    When the agent works and saves unlabelled: one, two, three, four, five, six, seven
    Then the timeline is: initial, four, five, six, seven

  Scenario: Labels protect, and what they protect may exceed the limit
    Given I run "plan policy auth --max-checkpoints 3"
    And I save checkpoint "login"
    And I save checkpoint "tokens"
    When the agent works and saves unlabelled: one, two, three
    Then the timeline is: initial, login, tokens, two, three
    When I run "plan checkpoint prune auth --yes"
    Then it notes "2 checkpoints more than the limit of 3 stay"
    When I run "plan checkpoint delete auth login --yes"
    Then it exits with 5 and says "checkpoint 2 cannot be deleted: it has a label"
    And it notes "plan checkpoint label auth 2 --clear takes it away"
    When I run "plan checkpoint label auth 2 --clear"
    And I run "plan checkpoint prune auth --yes"
    Then the timeline is: initial, tokens, two, three

  Scenario: A command after which more stays than the limit says so, once
    Given I run "plan policy auth --max-checkpoints 3"
    And I save checkpoint "login"
    When I run "plan save auth --format json"
    Then it does not tell "checkpoints stay"
    Given I save checkpoint "tokens"
    When I run "plan save auth --label third"
    Then it notes "checkpoints stay, 1 more than the limit of 3: labels, pins, undo or the like keep them"
    And it notes "plan checkpoint prune auth --dry-run -v says which"
    Given the agent writes "other\n" to "work.txt"
    When I run "plan rollback auth login --yes --format json"
    Then it says only once "more than the limit of 3"
    Given the agent writes "more\n" to "work.txt"
    When I run "plan run auth --post-checkpoint -- sh -c 'echo >> work.txt'"
    Then it says only once "more than the limit of 3"

  Scenario: What is shown of the newest ones that stay is what the limit has room for
    When I run "plan policy auth --max-checkpoints 5 --format json"
    Then its JSON has data.policy.retention.keep_recent 5
    And its JSON has messages []
    When I run "plan policy auth --keep-recent 7"
    Then it prints "keep_recent: 5"
    And it notes "keep_recent was set to 7, but max_checkpoints leaves room for 5 at most"

  Scenario: Each plan has limits of its own
    Given I run "plan policy auth --max-checkpoints 3 --keep-recent 1"
    And plan "other"
    When the agent works and saves unlabelled: one, two, three, four
    Then 5 checkpoints are complete and 0 are tombstones
    When I speak of plan "auth"
    And the agent works and saves unlabelled: one, two, three, four
    Then 3 checkpoints are complete and 2 are tombstones

  Scenario: A plan can be created with a limit
    When I run "plan create small --max-checkpoints 15 --format json"
    And I run "plan policy small --format json"
    Then its JSON has data.policy.retention.max_checkpoints 15
    And its JSON has data.set_for_plan ["retention.max_checkpoints"]
    When I run "plan create wrong --max-checkpoints 0"
    Then it exits with 2 and says "max_checkpoints cannot be 0"
    And the plans are: auth, small

  Scenario: How deep undo goes is a limit, too
    Given the agent works and saves unlabelled: one, two
    And I run "plan policy auth --undo-depth 2"
    And I roll back between "one" and "two" 3 times
    When I undo 2 times
    Then the sandbox is exactly as it was at "one"
    When I try to undo
    Then it is refused with exit code 1

  Scenario: Old checkpoints go, but not all of them
    Given the agent works and saves unlabelled: one, two, three
    And every checkpoint is 40 days old
    And I run "plan policy auth --max-age 30d --keep-recent 2"
    When the agent works and saves unlabelled: four
    Then the timeline is: initial, three, four

  Scenario: Bytes can be limited
    Given I run "plan policy auth --max-bytes 40KiB --keep-recent 1"
    And the agent saves as "big" something of 30 KiB that does not compress
    And the agent saves as "bigger" something of 30 KiB that does not compress
    Then the timeline is: initial, bigger

  Scenario: Before a decision that holds
    Given the decisions: use SQLite
    And I run "plan policy auth --max-checkpoints 4 --keep-recent 1"
    When the agent works and saves unlabelled: one, two, three, four
    Then the timeline is: initial, pre_decision, three, four

  Scenario: Before decisions that hold, newest first, up to half of the limit
    Given I run "plan policy auth --max-checkpoints 6 --keep-recent 1"
    And the decisions: one, two, three, four, five
    When the agent works and saves unlabelled: a, b, c, d
    Then the timeline is: initial, pre_decision, pre_decision, pre_decision, c, d
    And the checkpoints before D3, D4, D5 are kept, and those before D1, D2 are not

  Scenario: Before a decision that no longer holds
    Given I run "plan policy auth --max-checkpoints 4 --keep-recent 1"
    And the decisions: one, two
    And I roll back to "first"
    When the agent works and saves unlabelled: a, b, c, d
    Then the timeline is: initial, c, d

  Scenario: A plan whose limits cannot be read any more loses nothing
    Given I run "plan policy auth --max-checkpoints 60"
    And 51 checkpoints of type "manual" are saved
    And the plan's row holds this policy: {"retention": {"max_checkpoints": 6
    When I run "plan save auth"
    Then it succeeds
    And it notes "the limits of plan auth are damaged"
    And 53 checkpoints are complete and 0 are tombstones
    When I run "plan rollback auth latest --yes"
    Then it exits with 5 and says "about rollbacks are damaged"
    When I run "plan policy auth --allow-rollback"
    And I run "plan rollback auth latest --dry-run --format json"
    And I then run "plan rollback auth latest --yes --format json"
    Then what is left on the timeline is as many as the dry run told
    And 55 checkpoints are complete and 0 are tombstones
    When I run "plan policy auth --reset"
    And I run "plan save auth"
    Then 50 checkpoints are complete and 6 are tombstones
