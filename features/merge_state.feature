Feature: A merge that is under way goes and comes back
  "The agent is stuck in a conflict, take me back" is when people reach for rollback. What git has
  noted of a merge, rebase, cherry-pick, revert or bisect is saved with everything else, so that a
  rollback leads out of it and into it, and it goes on as if nothing had been.

  Scenario Outline: <what>
    Given a repository with plan "auth"
    And branches that do not go together
    And a twin of the sandbox that is left alone
    And I save checkpoint "before"
    And the agent is stuck in <what>
    And I remember the sandbox as "stuck at first"
    When I roll back to "before"
    Then the sandbox is exactly as it was at "before"
    And nothing is under way in the sandbox
    When I undo
    Then the sandbox is exactly as it was at "stuck at first"
    When I save checkpoint "stuck"
    And the agent gives it up
    And I roll back to "stuck"
    Then the sandbox is exactly as it was at "stuck"
    When the agent destroys all that git knows of it
    And I roll back to "stuck"
    Then the sandbox is exactly as it was at "stuck"
    When the agent goes on with it to its end
    And I remember the sandbox as "done"
    And I roll back to "stuck"
    Then the sandbox is exactly as it was at "stuck"
    When I undo
    Then the sandbox is exactly as it was at "done"
    When I redo
    And the agent goes on with it to its end
    Then all is as in the twin, where it was begun and ended without any of this
    And rows and refs agree, and nothing is half done

    Examples:
      | what                                            |
      | a merge with a conflict                         |
      | a merge of three branches that is not committed |
      | a merge of a tag, with a message of its own     |
      | a merge with work set aside                     |
      | a merge that is squashed                        |
      | an interactive rebase with a conflict           |
      | an interactive rebase that stopped at an edit   |
      | a rebase with work set aside                    |
      | a rebase that makes merges anew                 |
      | a rebase by patches                             |
      | patches that do not apply                       |
      | a series of cherry-picks                        |
      | a series of reverts                             |
      | a bisect                                        |

  Scenario: What it goes by comes back although the user's repository has lost it
    Given a repository with plan "auth"
    And branches that do not go together
    And the agent is stuck in a rebase with work set aside
    And I save checkpoint "stuck"
    When the agent gives it up
    And the agent runs "git stash clear"
    And the agent runs "git reset --quiet --hard main"
    And the user deletes every other branch and tag and collects all garbage
    And I roll back to "stuck"
    Then the sandbox is exactly as it was at "stuck"
    When the agent goes on with it to its end
    Then "two.txt" holds "edited\n"
    And "README.md" holds "resolved\n"
    And the agent's commits are: README.md, two.txt, three.txt, on top of README.md, four.txt, five.txt

  Scenario: A dry run says it, and so does the rollback
    Given a repository with plan "auth"
    And branches that do not go together
    And I save checkpoint "before"
    And the agent is stuck in a rebase by patches
    When I run "plan rollback auth before --dry-run"
    Then it succeeds
    And it notes "a rebase was under way and is no longer: plan undo brings that back as well"
    When I run "plan rollback auth before --yes"
    Then it succeeds
    And it notes "a rebase was under way and is no longer"
    And it prints "proven: files, index, HEAD, under_way"
    When I run "plan undo auth"
    Then it notes "a rebase is under way again, as it was at the checkpoint"

  Scenario: A path of its own comes back in the middle of a conflict
    Given a repository with plan "auth"
    And branches that do not go together
    And I save checkpoint "before"
    And the agent is stuck in a merge with a conflict
    And I remember the sandbox as "stuck"
    When I roll back only "README.md" to "before"
    Then "README.md" holds "ours\n"
    When I undo
    Then the sandbox is exactly as it was at "stuck"

  # Sandboxes that belong to the user

  Scenario: In a sandbox of the user's it is the user's to say so
    Given a repository
    And plan "mine" on a worktree of the user's, on branch "feature"
    And branches that do not go together
    And I save checkpoint "before"
    And the agent is stuck in a merge with a conflict
    And I save checkpoint "stuck"
    When I run "plan rollback mine before --yes"
    Then it exits with 5 and says "a merge is under way in the sandbox"
    And it notes "--during-merge"
    When I run "plan rollback mine before --yes --during-merge"
    Then it succeeds
    And the sandbox is exactly as it was at "before"
    And nothing is under way in the sandbox
    When I run "plan undo mine"
    Then it succeeds
    And the sandbox is exactly as it was at "stuck"
    When the agent gives it up
    And I run "plan rollback mine stuck --yes"
    Then it succeeds
    And it notes "a merge was under way at the checkpoint; in an attached sandbox it comes back only with --during-merge"
    And it prints "Not brought back: what was under way."
    And nothing is under way in the sandbox
    When I run "plan rollback mine stuck --yes --during-merge"
    Then it succeeds
    And the sandbox is exactly as it was at "stuck"
    When the agent goes on with it to its end
    And I run "plan rollback mine stuck --yes --during-merge"
    Then it succeeds
    And it notes "with HEAD elsewhere it is not again"
    And nothing is under way in the sandbox
    When I run "plan rollback mine stuck --yes --during-merge --move-branch"
    Then it succeeds
    And the sandbox is exactly as it was at "stuck"

  # What lies there is the agent's to write

  Scenario Outline: Notes that are no plain files are neither read nor written: <what>
    Given a repository with plan "auth"
    And branches that do not go together
    And I save checkpoint "before"
    And the agent is stuck in a rebase with work set aside
    And git's note <what>
    When I run "plan save auth --label odd"
    Then it succeeds
    When I run "plan rollback auth before --yes"
    Then it exits with 5 and says "the state of git in the sandbox cannot be saved"
    And it notes "<why>"
    And something outside of the sandbox is as it was

    Examples:
      | what                                       | why                                     |
      | "rebase-merge/onto" is a link to outside   | rebase-merge/onto is a link             |
      | "rebase-merge/done" is a pipe              | rebase-merge/done is no plain file      |
      | "rebase-merge" is a link to outside        | rebase-merge                            |
      | "MERGE_MSG" is larger than all may be      | there is too much of it                 |
      | "rebase-merge" is deeper than git makes it | there is too much of it                 |
      | "rebase-merge/done" is naming too many commits | it names too many objects               |

  Scenario: While a merge is taken back, somebody puts a link to another git directory in its place
    Given a repository with plan "auth"
    And branches that do not go together
    And I save checkpoint "one"
    And the agent is stuck in a merge with a conflict
    And git has notes of a merge of the user's own
    When the git directory of the sandbox is exchanged for a link while "plan rollback auth one --yes" is at merge_state.begun
    Then git still has the notes of the user's merge
    When what was exchanged is put back
    And I run "plan undo auth"
    Then it succeeds

  Scenario: What a list of things to do says is not done by Backtrail
    Given a repository with plan "auth"
    And branches that do not go together
    And the agent is stuck in an interactive rebase with a conflict
    And the agent adds "exec touch ../was-run" to what the rebase has still to do
    And I save checkpoint "stuck"
    When the agent gives it up
    And I roll back to "stuck"
    Then the sandbox is exactly as it was at "stuck"
    And no file called was-run was written anywhere

  Scenario: A checkpoint that knows nothing of it, made by an older version
    Given a repository with plan "auth"
    And branches that do not go together
    And I save checkpoint "before" as an older version did
    And the agent is stuck in a series of cherry-picks
    And I save checkpoint "stuck"
    When I roll back to "before"
    Then the sandbox is exactly as it was at "before"
    When I undo
    Then the sandbox is exactly as it was at "stuck"
    When I save checkpoint "old" as an older version did
    And the agent gives it up
    And I roll back to "old"
    Then the result says "a cherry-pick was under way at the checkpoint and is not again"
    And nothing is under way in the sandbox

  # Crashes, and others at work

  @unmeasured
  Scenario: Out of a merge and into a series of cherry-picks, killed at every step
    Given a repository with plan "auth"
    And branches that do not go together
    And the agent is stuck in a series of cherry-picks
    And I save checkpoint "one"
    And the agent gives it up
    And the agent is stuck in a merge with a conflict
    And work that is in no checkpoint yet
    When "plan rollback auth one --yes" is killed at each of its failpoints, and after those of merge_state and branch the next command is run
    Then the failpoints were all those of: create, rollback, merge_state
    And every time the plan was usable at once
    And every time complete checkpoints and refs were one to one, connected, and nothing was half done
    And every time the sandbox was wholly as before or wholly as asked for, and undo led back

  Scenario Outline: Somebody went on with it after the crash: <they>
    Given a repository with plan "auth"
    And branches that do not go together
    And I save checkpoint "before"
    And the agent is stuck in a series of cherry-picks
    And I save checkpoint "stuck"
    When "plan rollback auth before --yes" is killed at "<place>"
    And the agent runs "<command>"
    And I remember the sandbox as "theirs"
    And I run "plan save auth"
    Then it succeeds
    And it notes "the sandbox was changed since"
    And the sandbox is exactly as it was at "theirs"

    Examples:
      | they               | place               | command                              |
      | skipped one        | merge_state.begun   | git cherry-pick --skip               |
      | began another work | rollback.git_restored | git merge --no-commit --no-ff fourth |

  Scenario Outline: Somebody else writes there at this very moment: <what>
    Given a repository with plan "auth"
    And branches that do not go together
    And the agent is stuck in a series of cherry-picks
    And I save checkpoint "stuck"
    And the agent gives it up
    And I remember the sandbox as "given up"
    When git's note "<note>" becomes <what> at "<place>" of a rollback to "stuck"
    Then it is refused with exit code <code>
    And the refusal names "<words>"
    And something outside of the sandbox is as it was

    Examples:
      | what              | note            | place                   | code | words                                         |
      | a folder          | CHERRY_PICK_HEAD | merge_state.cleared    | 9    | cannot be written: Is a directory             |
      | a link to outside | sequencer       | merge_state.cleared     | 9    | cannot be written                             |
      | a file            | MERGE_HEAD      | rollback.files_restored | 9    | another program has changed .git/MERGE_HEAD   |
      | a file            | MERGE_HEAD      | rollback.git_restored   | 11   | .git/MERGE_HEAD                               |
      | a link to outside | MERGE_MSG       | rollback.git_restored   | 11   | .git/MERGE_MSG                                |
      | a link to outside | MERGE_MSG       | rollback.files_restored | 9    | the state of git: MERGE_MSG is a link         |

  Scenario: What the repository has lost already is nobody's to keep
    Given a repository with plan "auth"
    And branches that do not go together
    And the agent is stuck in a merge with a conflict
    And the repository has lost what the merged branch comes from
    When I run "plan save auth --label stuck"
    Then it succeeds
    When the agent runs "git reset --quiet --hard"
    And I run "plan rollback auth stuck --yes"
    Then it succeeds
    And it notes "a merge is under way again, as it was at the checkpoint"

  Scenario Outline: A note that names <what> does not take the others along: <work>
    Given a repository with plan "auth"
    And branches that do not go together
    And the agent is stuck in <work>
    And git's note "<note>" names <what>
    When I run "plan save auth --label stuck"
    Then it succeeds
    And the checkpoint <lists> what "<note>" names as not captured
    When the agent gives it up
    And the agent runs "git reset --quiet --hard main"
    And the user deletes every other branch and tag and collects all garbage
    And I run "plan rollback auth stuck --yes"
    Then it succeeds
    And it prints "proven: files, index, HEAD, under_way"
    When the agent goes on with it to its end
    Then "<file>" holds "<text>\n"

    Examples:
      | work                                  | note        | what                                | lists         | file | text |
      | a merge with a conflict               | ORIG_HEAD   | a commit without its parent         | lists         | README.md | resolved |
      | an interactive rebase with a conflict | BISECT_HEAD | a commit without its parent         | lists         | README.md | resolved |
      | an interactive rebase with a conflict | BISECT_HEAD | a tag that is damaged               | lists         | README.md | resolved |
      | a rebase with work set aside          | BISECT_HEAD | a directory in place of an object   | does not list | two.txt | edited |

  Scenario: What a merge goes by is lost for good
    Given a repository with plan "auth"
    And branches that do not go together
    And the agent is stuck in a merge with a conflict
    And the repository has lost what the merged branch comes from
    When I run "plan save auth --label stuck"
    Then it notes "not captured: .git/MERGE_HEAD (names objects that git does not have, or not whole)"
    When the agent runs "git reset --quiet --hard"
    And the repository has lost the merged branch as well
    And I run "plan rollback auth stuck --yes"
    Then it succeeds
    And it notes "git cannot go on by them: .git/MERGE_HEAD names commit"
    And it prints "proven: files, index, HEAD"
    And it prints "Not brought back: what was under way."

  Scenario: A sandbox that was deleted comes back in the middle of a rebase
    Given a repository with plan "auth"
    And branches that do not go together
    And a twin of the sandbox that is left alone
    And the agent is stuck in an interactive rebase with a conflict
    And I save checkpoint "stuck"
    When the sandbox is destroyed: git worktree remove --force
    And I run "plan restore auth"
    Then it succeeds
    And the sandbox is exactly as it was at "stuck"
    When the agent goes on with it to its end
    Then all is as in the twin, where it was begun and ended without any of this

  Scenario: A fork begins without it
    Given a repository with plan "auth"
    And branches that do not go together
    And the agent is stuck in an interactive rebase with a conflict
    And I save checkpoint "stuck"
    When I run "plan fork auth stuck other"
    Then it succeeds
    And it notes "a rebase was under way at the checkpoint and is not again: a new sandbox begins without it"
