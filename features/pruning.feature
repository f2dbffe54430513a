Feature: Pruning, pinning and deleting checkpoints
  What goes is decided and marked in one step, then its ref goes, then a tombstone is left. A crash
  in between is finished by the next command, and trouble with it never spoils what came before.

  Background:
    Given a repository with plan "auth"
    And the agent works and saves unlabelled: one, two, three, four

  Scenario: A dry run says exactly what would go and what would stay, and why
    Given I run "plan policy auth --keep-recent 1"
    And I take stock of everything
    When I run "plan checkpoint prune auth --max 3 --dry-run --format json"
    Then these would go: one because oldest, two because oldest
    And these would stay: initial, three, four
    And its JSON has data.prune.limit 3
    And its JSON has data.prune.over_limit 0
    And no file, no ref, no index and no row has changed
    When I then run "plan checkpoint prune auth --max 3 --yes --format json"
    Then what went and what stayed is what the dry run told, and something went
    And these numbers are tombstones, and no ref is left of them: 2, 3
    And the log tells of 1 operations of kind prune
    And rows and refs agree, and nothing is half done

  Scenario: In words for people, and in lines for scripts
    Given I run "plan policy auth --keep-recent 1"
    When I run "plan checkpoint prune auth --max 4 --dry-run --format rich"
    Then it prints "the oldest"
    And it prints "1 checkpoint would be removed from plan auth, 4 kept"
    When I run "plan checkpoint prune auth --max 4 --yes --format plain"
    Then it prints "removed	2"
    And it prints "within_limits"

  Scenario: Nothing to prune
    When I run "plan checkpoint prune auth --yes --format json"
    Then its JSON has data.prune.removed []
    And the log tells of 0 operations of kind prune

  Scenario: What is protected may exceed the limit, and that is said
    Given I run "plan checkpoint pin auth 2"
    And I run "plan checkpoint label auth 3 kept"
    When I run "plan checkpoint prune auth --max 2 --yes"
    Then it succeeds
    And it notes "2 checkpoints more than the limit of 2 stay"
    And 4 checkpoints are complete and 1 are tombstones

  Scenario: A pinned checkpoint stays until it is unpinned
    Given I run "plan policy auth --max-checkpoints 3 --keep-recent 1"
    When I run "plan checkpoint pin auth 2 --format json"
    Then the checkpoint it tells of has pinned true
    When the agent works and saves unlabelled: five
    Then the timeline is: initial, one, five
    When I run "plan checkpoint unpin auth 2 --format json"
    Then the checkpoint it tells of has pinned false
    When the agent works and saves unlabelled: six
    Then the timeline is: initial, five, six

  Scenario: A tombstone is listed, and what needs it is told when and by what it was pruned
    When I run "plan checkpoint delete auth 3 --yes --format json"
    Then it succeeds
    And its JSON has data.delete.removed.0.seq 3
    And its JSON has data.delete.removed.0.reason "asked_for"
    And these numbers are tombstones, and no ref is left of them: 3
    When I run "plan checkpoint list auth --format plain"
    Then it lists, line by line: 1 initial, 2 manual, 4 manual, 5 manual
    When I run "plan checkpoint show auth 3 --format json"
    Then the checkpoint it tells of has state "pruned"
    And the checkpoint it tells of has metadata.pruned.reason "asked_for"
    When I run "plan rollback auth 3 --yes"
    Then it exits with 5 and says "checkpoint 3 cannot be restored: it was pruned at 20"
    And it notes " UTC by delete 6, plan checkpoint delete auth 3 --yes"
    When I run "plan diff -p auth 3"
    Then it exits with 5 and says "it was pruned at 20"
    When I run "plan checkpoint delete auth 3 --yes"
    Then it exits with 5 and says "it was pruned at 20"
    When I run "plan status auth --format json"
    Then its JSON has data.counts.pruned 1
    And its JSON has data.counts.complete 4
    And the log tells of 1 operations of kind delete

  Scenario: The label of a tombstone is free for another, and until then it tells what became of it
    Given I run "plan checkpoint delete auth 3 --yes"
    And an earlier version has pruned checkpoint 3, whose label was "login"
    When I run "plan rollback auth login --yes"
    Then it exits with 3 and says "checkpoint 'login', number 3 of plan 'auth', is pruned"
    When I run "plan checkpoint label auth 4 login"
    And I run "plan rollback auth login --yes"
    Then it succeeds
    And the sandbox is exactly as it was at "three"

  Scenario: What failed or is damaged can be deleted, and pruning takes it
    Given checkpoint 2 has failed, although it got a ref
    And the ref of checkpoint "two" is deleted
    And the content of "work.txt" at checkpoint "two" is lost from the store
    And I run "plan save auth"
    Then it notes "checkpoint 3 of plan auth is DAMAGED"
    When I run "plan checkpoint delete auth 2 3 --dry-run --format json"
    Then its JSON has data.delete.removed.1.seq 3
    When I run "plan checkpoint delete auth 2 --yes"
    Then these numbers are tombstones, and no ref is left of them: 2
    When I run "plan checkpoint prune auth --yes --format json"
    Then its JSON has data.prune.removed.0.reason "broken"
    And its JSON has data.prune.over_limit 0
    And these numbers are tombstones, and no ref is left of them: 2, 3
    And rows and refs agree, and nothing is half done
    When I run "plan save auth"
    Then it succeeds

  Scenario: What was damaged and is whole again is no reason to prune it
    Given the content of "work.txt" at checkpoint "two" is lost from the store, and kept elsewhere
    When I run "plan rollback auth 3 --yes"
    Then it exits with 5
    When that content is brought back to the store
    And I run "plan checkpoint prune auth --yes"
    Then it succeeds
    And checkpoint "two" is complete
    And these checkpoints can be brought back exactly: two

  Scenario: A damaged checkpoint that somebody named stays until its name is taken away
    Given I run "plan checkpoint label auth 3 kept"
    And the ref of checkpoint "kept" is deleted
    And the content of "work.txt" at checkpoint "kept" is lost from the store
    And I run "plan save auth"
    When I run "plan checkpoint prune auth --max 1 --yes"
    And I run "plan checkpoint delete auth kept --yes"
    Then it exits with 5 and says "it has a label"
    When I run "plan checkpoint label auth kept --clear"
    And I run "plan checkpoint delete auth 3 --yes"
    Then it succeeds

  Scenario: Several go at once, or none
    When I run "plan checkpoint delete auth 2 4 2 --yes"
    Then the timeline is: initial, two, four
    When I run "plan checkpoint delete auth 3 5 --yes"
    Then it exits with 5 and says "checkpoint 5 cannot be deleted: it is the latest"
    And the timeline is: initial, two, four

  Scenario: In a sandbox the plan need not be named
    When I run "plan checkpoint delete 2 3 --yes" in the sandbox
    Then the timeline is: initial, three, four
    When I run "plan checkpoint delete auth 4 --yes" in the sandbox
    Then the timeline is: initial, four
    When I run "plan checkpoint prune --max 1 --yes" in the sandbox
    Then it succeeds

  Scenario: A word that is a plan and a checkpoint is neither
    Given plan "one"
    And I speak of plan "auth"
    And I run "plan checkpoint label auth 2 one"
    When I run "plan checkpoint delete one 3 --yes" in the sandbox
    Then it exits with 4 and says "'one' is a plan, and a checkpoint of plan 'auth', too"
    When I run "plan checkpoint delete -p auth 3 4 --yes" in the sandbox
    Then the timeline is: initial, one, four

  Scenario: What is needed cannot be deleted, and nothing goes unless somebody agrees
    Given I run "plan checkpoint delete auth 3 --yes"
    And I run "plan checkpoint pin auth 4"
    And I roll back to "one"
    And I save checkpoint "five"
    Then these are refused in every format, with one sentence and a hint:
      | command                                     | exit code | because                      |
      | plan checkpoint delete auth 1 --yes         | 5         | it is the first              |
      | plan checkpoint delete auth latest --yes    | 5         | it is the latest             |
      | plan checkpoint delete auth 4 --yes     | 5         | it is pinned                 |
      | plan checkpoint delete auth 2 --yes       | 5         | a rollback went there        |
      | plan checkpoint delete auth 6 --yes         | 5         | undo needs it                |
      | plan checkpoint delete auth 3 --yes         | 5         | it is a tombstone            |
      | plan checkpoint delete auth 3 --dry-run     | 5         | also when only looked at     |
      | plan checkpoint delete auth 5            | 6         | nobody said yes              |
      | plan checkpoint delete auth 5 first      | 6         | nobody said yes              |
      | plan checkpoint delete auth nosuch --yes    | 3         | there is no such checkpoint  |
      | plan checkpoint delete auth --yes           | 2         | none is named                |
      | plan checkpoint delete                      | 2         | none is named                |
      | plan checkpoint prune auth                  | 6         | nobody said yes              |
      | plan checkpoint prune auth --max 0 --yes    | 2         | something must stay          |
      | plan checkpoint prune auth --max many       | 2         | that is no number            |
      | plan checkpoint prune nosuch --yes          | 3         | there is no such plan        |
      | plan checkpoint pin auth                    | 2         | none is named                |
      | plan checkpoint pin auth 3                  | 5         | it is a tombstone            |
      | plan checkpoint label auth 3 two            | 5         | it is a tombstone            |
      | plan policy auth --max-checkpoints 0        | 2         | something must stay          |
      | plan policy auth --undo-depth 0             | 2         | a rollback must be undoable  |
      | plan policy auth --max-age tomorrow         | 2         | that is no span of time      |
      | plan policy auth --max-bytes plenty         | 2         | that is no amount of bytes   |
    And no file, no ref, no index and no row has changed
    When I run "plan checkpoint delete auth 5 --dry-run"
    Then it succeeds
    And no file, no ref, no index and no row has changed

  Scenario: A dry run of a rollback reckons with what is pruned afterwards
    Given I run "plan policy auth --max-checkpoints 5 --keep-recent 1"
    When I run "plan rollback auth latest --dry-run --format json"
    And I then run "plan rollback auth latest --yes --format json"
    Then what is left on the timeline is as many as the dry run told
    When I run "plan undo auth --dry-run --format json"
    And I then run "plan undo auth --format json"
    Then what is left on the timeline is as many as the dry run told
    When I run "plan redo auth --dry-run --format json"
    And I then run "plan redo auth --format json"
    Then what is left on the timeline is as many as the dry run told
    When I run "plan rollback auth first --path work.txt --dry-run --format json"
    And I then run "plan rollback auth first --path work.txt --yes --format json"
    Then what is left on the timeline is as many as the dry run told

  Scenario: A plan's limits are shown and changed
    When I run "plan policy auth --format json"
    Then its JSON has data.policy.retention {"max_checkpoints": 50, "max_age_seconds": null, "max_bytes": null, "keep_recent": 10, "undo_depth": 10}
    And its JSON has data.set_for_plan []
    And its JSON has data.changed false
    When I run "plan policy auth --max-age 30d --max-bytes 2GiB --format json"
    Then its JSON has data.policy.retention {"max_checkpoints": 50, "max_age_seconds": 2592000, "max_bytes": 2147483648, "keep_recent": 10, "undo_depth": 10}
    And its JSON has data.set_for_plan ["retention.max_age_seconds", "retention.max_bytes"]
    And its JSON has data.changed true
    When I run "plan policy auth --format rich"
    Then it prints "30 days"
    And it prints "2.0 GiB"
    When I run "plan policy auth --max-age none --max-checkpoints 3 --format json"
    Then its JSON has data.policy.retention.max_age_seconds null
    And its JSON has data.policy.retention.max_bytes 2147483648
    And its JSON has messages ["the plan has 2 checkpoints more than that; the next checkpoint or plan checkpoint prune removes what is not protected"]
    When I run "plan policy auth --reset --format plain"
    Then it prints "max_checkpoints: 50"
    And it prints "max_bytes: none"
    And the log tells of 3 operations of kind policy

  Scenario: Other parts of a plan's policy are left alone
    Given the plan's row holds this policy: {"rollback": {"allowed": false}, "retention": {"new": 1}, "later": {"a": 1}}
    When I run "plan policy auth --max-checkpoints 20"
    Then the plan's row has under rollback {"allowed": false}
    And the plan's row has under retention {"new": 1, "max_checkpoints": 20}
    When I run "plan policy auth --reset"
    Then the plan's row has under later {"a": 1}
    And the plan's row has under rollback {"allowed": true, "require_confirmation": true}
    And the plan's row has under retention {"new": 1}

  Scenario Outline: Limits that are damaged prune nothing
    Given the plan's row holds this policy: <policy>
    And I run "plan save auth"
    When I run "plan policy auth --format json"
    Then its JSON has data.policy.retention.max_checkpoints 50
    When I run "plan save auth"
    Then it succeeds
    And it notes "the limits of plan auth are damaged"
    And 7 checkpoints are complete and 0 are tombstones
    When I run "plan policy auth --max-checkpoints 3 --keep-recent 1"
    And I run "plan save auth"
    Then 3 checkpoints are complete and 5 are tombstones

    Examples:
      | policy                                                     |
      | }{                                                         |
      | {"retention": []}                                          |
      | {"retention": {"max_checkpoints": "x", "keep_recent": 1}}  |
      | {"retention": {"max_checkpoints": 2, "keep_recent": -1}}   |

  Scenario: A checkpoint is made although an old one cannot be pruned
    Given I run "plan policy auth --max-checkpoints 5 --keep-recent 1"
    When "plan save auth" is run while git "update-ref --stdin" fails
    Then it succeeds
    And it notes "old checkpoints could not be pruned"
    When I run "plan save auth"
    Then it succeeds
    And 5 checkpoints are complete and 2 are tombstones
    And rows and refs agree, and nothing is half done

  Scenario: Nothing goes while an operation is open
    Given I run "plan policy auth --max-checkpoints 3 --keep-recent 1"
    And a rollback to checkpoint "one" is open
    When somebody tries to prune in the middle of it
    Then it is refused with exit code 5
    And the refusal names "rollback"
    When somebody looks whether "one" could be deleted
    Then it is refused with exit code 5
    And the refusal names "an operation that is under way needs it"
    When pruning by itself is due in the middle of it
    Then a notice says "old checkpoints could not be pruned"
    And 5 checkpoints are complete and 0 are tombstones

  Scenario: A lock that a killed git left does not stop pruning
    Given a killed git left the lock that it takes to delete refs
    When I run "plan checkpoint delete auth 3 --yes"
    Then it succeeds
    And these numbers are tombstones, and no ref is left of them: 3
    And rows and refs agree, and nothing is half done

  Scenario: Refs that somebody has packed are deleted, too
    Given somebody packs the refs of the store
    When I run "plan checkpoint delete auth 3 --yes"
    Then it succeeds
    And these numbers are tombstones, and no ref is left of them: 3
    And rows and refs agree, and nothing is half done

  Scenario: A ref that comes back does not bring the checkpoint back
    Given I run "plan checkpoint delete auth 3 --yes"
    And the ref of tombstone 3 is put back
    When I run "plan save auth"
    Then it succeeds
    And these numbers are tombstones, and no ref is left of them: 3
    And rows and refs agree, and nothing is half done

  Scenario Outline: <command> is killed at <place>
    Given I run "plan policy auth --max-checkpoints 5 --keep-recent 1"
    And I run "plan checkpoint pin auth 3"
    When "<command>" is killed at "<place>"
    And I run "plan save auth"
    Then it succeeds
    And rows and refs agree, and nothing is half done
    And at most 5 checkpoints are complete
    And these checkpoints can be brought back exactly: two

    Examples:
      | command                                    | place            |
      | plan save auth                             | prune.marked     |
      | plan save auth                             | prune.unpinned   |
      | plan save auth                             | prune.tombstoned |
      | plan rollback auth latest --yes            | prune.marked     |
      | plan rollback auth latest --yes            | prune.unpinned   |
      | plan rollback auth latest --yes            | prune.tombstoned |
      | plan checkpoint prune auth --max 3 --yes   | prune.marked     |
      | plan checkpoint prune auth --max 3 --yes   | prune.unpinned   |
      | plan checkpoint prune auth --max 3 --yes   | prune.tombstoned |
      | plan checkpoint delete auth 2 --yes      | prune.marked     |
      | plan checkpoint delete auth 2 --yes      | prune.unpinned   |
      | plan checkpoint delete auth 2 --yes      | prune.tombstoned |

  Scenario: Killed while pruning, and killed again while that is repaired
    Given I run "plan policy auth --max-checkpoints 5 --keep-recent 1"
    When "plan save auth" is killed at "prune.marked"
    And "plan save auth" is killed at "recovery.done"
    And I run "plan save auth"
    Then it succeeds
    And 5 checkpoints are complete and 2 are tombstones
    And rows and refs agree, and nothing is half done
