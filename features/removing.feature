Feature: Removing a plan loses nothing, and restore brings it back
  A removal saves the sandbox first and then sets its directory aside, ignored files and all. A
  sandbox that somebody deleted, pruned or moved comes back from its latest checkpoint, proven as
  any rollback is. Only a purge, asked for twice, loses anything.

  Background:
    Given a repository with plan "auth"

  Scenario: Uncommitted work of every kind survives a removal, byte for byte
    Given the sandbox holds files of every kind
    And the agent works and saves: one
    And the agent commits its work, stages some and leaves some
    And the sandbox holds what no checkpoint can: ignored and huge files, a pipe, another repository
    And I remember the sandbox as "before"
    When I run "plan remove auth --yes --format json"
    Then it succeeds
    And its JSON has data.removal.sandbox "set_aside"
    And its JSON has data.removal.branch_deleted true
    And its JSON has data.plan.state "removed"
    And the newest checkpoint is of type "pre_remove"
    And the sandbox is gone, for git as well
    And there is no branch "plan/auth"
    And the plans are: nothing
    When I run "plan restore auth --format json"
    Then it succeeds
    And its JSON has data.restore.source "set_aside"
    And its JSON has data.restore.verified true
    And the sandbox is exactly as it was at "before"
    And the repository inside the sandbox has its history
    And rows and refs agree, and nothing is half done
    When I run "plan undo auth"
    Then it exits with 1

  Scenario: Without what was set aside, the checkpoint alone brings it back
    Given the agent works and saves: one
    And the agent commits its work, stages some and leaves some
    And I remember the sandbox as "before"
    When I run "plan remove auth --purge-files --yes --confirm auth --format json"
    Then it succeeds
    And its JSON has data.removal.purge.checkpoints 0
    And nothing is set aside any more
    And the user runs "git gc --quiet --prune=now"
    When I run "plan restore auth --format json"
    Then it succeeds
    And its JSON has data.restore.source "checkpoint"
    And the sandbox is exactly as it was at "before"

  @storage
  Scenario Outline: A sandbox that was destroyed comes back from its latest checkpoint: <how>
    Given the agent commits its work, stages some and leaves some
    And I save checkpoint "one"
    When the sandbox is destroyed: <how>
    And I run "plan status auth --format json"
    Then it exits with 0
    And its problem and hint say "plan restore auth"
    When I run "plan save auth"
    Then it exits with 7
    When I run "plan list"
    Then it prints "auth"
    When I run "plan restore auth --dry-run --format json"
    Then its JSON has data.restore.source "checkpoint"
    When I run "plan restore auth --format json"
    Then it succeeds
    And its JSON has data.restore.verified true
    And the sandbox is exactly as it was at "one"
    And rows and refs agree, and nothing is half done
    When I run "plan log auth --format json"
    Then it succeeds
    When I run "plan restore auth"
    Then it exits with 1 and says "nothing to restore"

    Examples:
      | how                                              |
      | rm -rf                                           |
      | git worktree remove --force                      |
      | rm -rf, git worktree prune, and the branch too   |
      | mv to another place, and git worktree prune      |

  Scenario: Files of a sandbox whose git directory was pruned are saved before it is restored
    Given the agent works and saves: one
    When the sandbox is destroyed: its git directory alone
    Given the agent writes "an hour of work\n" to "work.txt"
    When I run "plan status auth --format json"
    Then its problem and hint say "was pruned"
    When I run "plan restore auth"
    Then it succeeds
    And the sandbox is exactly as it was at "one"
    When I run "plan diff -p auth 3 --patch"
    Then it prints "-an hour of work"

  Scenario: A sandbox that was moved is taken up where it is
    Given the agent works and saves: one
    And the agent writes "newer\n" to "work.txt"
    When the user runs "git worktree move '../my repo.plans/auth' ../elsewhere"
    And I run "plan status auth --format json"
    Then its problem and hint say "elsewhere"
    When I run "plan restore auth"
    Then it exits with 5 and says "is still there"
    When I run "plan remove auth --yes"
    Then it exits with 7
    When I run "plan restore auth --path ../elsewhere --format json"
    Then it succeeds
    And its JSON has data.restore.source "moved"
    When I run "plan diff -p auth one"
    Then it prints "work.txt"
    When the user runs "mv ../elsewhere ../again"
    And I run "plan restore auth --path ../again"
    Then it succeeds
    When I run "plan save auth"
    Then it succeeds

  Scenario: A sandbox of the user's own stays, and can be taken up again
    Given plan "mine" on a worktree of the user's, on branch "feature"
    And the agent works and saves: one
    And the agent writes "newer\n" to "work.txt"
    And I remember the sandbox as "before"
    When I run "plan remove mine --yes --format json"
    Then its JSON has data.removal.sandbox "left_in_place"
    And the sandbox is exactly as it was at "before"
    When I run "plan restore mine --format json"
    Then its JSON has data.restore.source "attached"
    And the sandbox is exactly as it was at "before"
    When I roll back to "one"
    Then "work.txt" holds "at one\n"
    Given the user runs "git worktree remove --force '../users worktree'"
    When I run "plan restore mine"
    Then it succeeds
    And "work.txt" holds "at one\n"
    And HEAD is on branch "feature"

  Scenario: What stands in the way of a removal
    Given the agent works and saves: one
    When I run "plan remove auth"
    Then it exits with 6
    Given the agent runs "git switch --quiet --detach"
    And the user runs "git worktree add --quiet ../twin plan/auth"
    When I run "plan remove auth --yes"
    Then it exits with 5 and says "another worktree"
    Given the user runs "git worktree remove ../twin"
    And the user runs "git worktree lock '../my repo.plans/auth'"
    When I run "plan remove auth --yes"
    Then it exits with 5 and says "git worktree unlock"
    Given the user runs "git worktree unlock '../my repo.plans/auth'"
    And the agent runs "git update-ref MERGE_HEAD HEAD"
    When I run "plan remove auth --yes"
    Then it exits with 5 and says "a merge is under way"
    And the plans are: auth

  Scenario: While a run is live the plan can be neither removed nor cancelled
    Given plan "auth" runs "sleep 600" in the background
    When I run "plan remove auth --yes"
    Then it exits with 5 and says "plan abort auth"
    When I run "plan cancel auth"
    Then it exits with 5 and says "is active"
    When I run "plan abort auth"
    Then what ran in the background exits with 130 and says "interrupted"
    When I run "plan remove auth --yes"
    Then it succeeds

  Scenario: A dry run tells and does nothing
    Given the agent works and saves: one
    And I take stock of everything
    When I run "plan remove auth --purge --dry-run --format json"
    Then its JSON has data.removal.dry_run true
    And its JSON has data.removal.sandbox "set_aside"
    And its JSON has data.removal.purge.checkpoints 2
    And no file, no ref, no index and no row has changed

  Scenario: Removing a plan whose sandbox is gone
    Given the agent works and saves: one
    And the sandbox was deleted
    When I run "plan remove auth --yes --format json"
    Then it succeeds
    And its JSON has data.removal.sandbox "missing"
    And its JSON has data.removal.branch_deleted true
    And there is no branch "plan/auth"
    And the sandbox is gone, for git as well
    When I run "plan restore auth"
    Then it succeeds
    And the sandbox is exactly as it was at "one"

  Scenario: A branch with commits that no checkpoint holds stays
    Given the agent works and saves: one
    And the agent runs "git commit --quiet --allow-empty -m newer"
    And the sandbox was deleted
    When I run "plan remove auth --yes --format json"
    Then its JSON has data.removal.branch_deleted false
    And it prints "no checkpoint holds what it points at"
    When I run "plan restore auth"
    Then it exits with 5 and says "git branch -m plan/auth"

  Scenario: Something else where the sandbox was is left alone
    Given the agent works and saves: one
    And the sandbox was replaced by an ordinary folder
    When I run "plan restore auth"
    Then it exits with 5 and says "--path"
    When I run "plan remove auth --yes --keep-branch --format plain"
    Then it prints "left_in_place"
    And it prints "was not saved. Once it is moved away, plan restore auth brings back"
    And "README.md" holds "not a worktree\n"
    When I run "plan restore auth --path ../other-place"
    Then it succeeds
    And "README.md" holds "not a worktree\n"

  @storage
  Scenario: A name is free again, and the last plan that had it comes back
    When I run "plan remove auth --yes"
    And I run "plan create auth"
    Then it succeeds
    When I run "plan restore {id of plan auth}"
    Then it exits with 5 and says "now"
    When I run "plan remove auth --yes"
    And I run "plan restore auth"
    Then it succeeds
    And it notes "2 removed plans had the name auth"
    When I run "plan remove auth --yes"
    And I run "plan restore {id of plan auth}"
    Then it succeeds

  Scenario: A purge wants to be confirmed twice, and is final
    Given the agent works and saves: one
    When I run "plan remove auth --purge --yes"
    Then it exits with 6 and says "--confirm auth"
    When I run "plan remove auth --purge --yes --confirm other"
    Then it exits with 6
    When I run "plan remove auth --purge --purge-files --yes"
    Then it exits with 2
    And the plans are: auth
    When I run "plan remove auth --yes"
    And I run "plan remove auth --purge --yes --confirm auth --format json"
    Then it succeeds
    And its JSON has data.removal.purge.checkpoints 3
    And nothing is set aside any more
    And rows and refs agree, and nothing is half done
    When I run "plan restore auth"
    Then it exits with 5 and says "no checkpoint"
    When I run "plan remove auth --yes"
    Then it exits with 3

  @storage
  Scenario Outline: <what> is killed at every step, and nothing is lost
    Given the agent works and saves: one
    And the agent commits its work, stages some and leaves some
    And I remember the sandbox as "before"
    And already done: "<done before>"
    When "<command>" is killed at its failpoints <families>, and each time I run "plan restore auth"
    Then every time the sandbox was as it was at "before", and nothing was half done

    Examples:
      | what                       | command                | done before                                             | families |
      | Removing                   | plan remove auth --yes |                                                         | remove   |
      | Restoring what is set aside | plan restore auth     | plan remove auth --yes                                  | restore, rollback |
      | Restoring a checkpoint     | plan restore auth      | plan remove auth --yes --purge-files --confirm auth     | restore, rollback |

  Scenario: A purge that is killed at any step is finished
    Given the agent works and saves: one
    And already done: "plan remove auth --yes"
    When "plan remove auth --purge --yes --confirm auth" is killed at its failpoints purge, and each time it is run again
    Then every time nothing was left of the plan but tombstones

  Scenario: A removal that was interrupted is finished by whatever comes next
    Given the agent works and saves: one
    When "plan remove auth --yes" is killed at "remove.unregistered"
    And I run "plan save auth"
    Then it exits with 5
    And it notes "finished the removal"
    And the plans are: nothing
    When I run "plan restore auth"
    Then the sandbox is exactly as it was at "one"
