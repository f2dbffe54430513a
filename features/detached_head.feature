Feature: A detached HEAD is described as it was
  `git status` says what HEAD was detached at or from, in words that git takes from its own log of
  HEAD. After a rollback it says what it said at the checkpoint.

  Background:
    Given a repository with plan "auth"
    And the user runs "git tag v1"

  Scenario Outline: What was checked out: <what>
    Given the agent runs "git branch --quiet release"
    And the agent runs "git update-ref refs/remotes/origin/topic HEAD"
    And the agent runs "git tag -m two v2"
    And the agent runs "<command>"
    And I save checkpoint "one"
    And the agent runs "git switch --quiet plan/auth"
    When I roll back to "one"
    Then the sandbox is exactly as it was at "one"
    And git status begins as at "one", with "<words>"

    Examples:
      | what                        | command                               | words                               |
      | a tag                       | git checkout --quiet v1               | HEAD detached at v1                 |
      | a tag with a message        | git switch --quiet --detach v2        | HEAD detached at v2                 |
      | a branch of a remote        | git checkout --quiet origin/topic     | HEAD detached at origin/topic       |
      | another branch              | git checkout --quiet --detach release | HEAD detached at refs/heads/release |
      | nothing but the same commit | git checkout --quiet --detach         | HEAD detached at                    |
      | an ancestor                 | git checkout --quiet v1^0             | HEAD detached at                    |

  Scenario: A commit that was made since
    Given the agent runs "git checkout --quiet v1"
    And the agent runs "git commit --quiet --allow-empty -m onwards"
    And I save checkpoint "one"
    And the agent runs "git switch --quiet plan/auth"
    When I roll back to "one"
    Then the sandbox is exactly as it was at "one"
    And git status begins with "HEAD detached from v1"

  Scenario: A commit that was made since a commit was checked out
    Given the agent runs "git checkout --quiet --detach"
    And the agent runs "git commit --quiet --allow-empty -m onwards"
    And I save checkpoint "one"
    And the agent runs "git switch --quiet plan/auth"
    When I roll back to "one"
    Then the sandbox is exactly as it was at "one"
    And git status begins as at "one", with "HEAD detached from "

  Scenario: Undo and redo
    Given the agent runs "git checkout --quiet v1"
    And the agent runs "git commit --quiet --allow-empty -m onwards"
    And I save checkpoint "one"
    And the agent runs "git tag v2"
    And the agent runs "git switch --quiet plan/auth"
    And the agent runs "git checkout --quiet v2"
    And the agent runs "git commit --quiet --allow-empty -m 'further still'"
    And I remember the sandbox as "later"
    When I roll back to "one"
    Then git status begins with "HEAD detached from v1"
    And the sandbox is exactly as it was at "one"
    When I undo
    Then the sandbox is exactly as it was at "later"
    And git status begins with "HEAD detached from v2"
    When I redo
    Then git status begins with "HEAD detached from v1"
    And the sandbox is exactly as it was at "one"

  Scenario Outline: HEAD is at that commit already, but not for the same reason: <now>
    Given the agent runs "git tag v2"
    And the agent runs "git checkout --quiet v1"
    And the agent runs "<then>"
    And I save checkpoint "one"
    And the agent runs "git tag v3"
    And the agent runs "git switch --quiet plan/auth"
    And the agent runs "git checkout --quiet <now>"
    And I remember the sandbox as "later"
    When I roll back to "one"
    Then git status begins with "<words>"
    And the sandbox is exactly as it was at "one"
    And branch "plan/auth" is where it was at "initial"
    When I undo
    Then git status begins with "HEAD detached at <now>"
    And the sandbox is exactly as it was at "later"

    Examples:
      | then                                            | now | words                 |
      | git status                                      | v2  | HEAD detached at v1   |
      | git commit --quiet --allow-empty -m onwards     | v3  | HEAD detached from v1 |
      | git commit --quiet --allow-empty -m onwards     | v2  | HEAD detached from v1 |

  Scenario: What HEAD was detached from is gone for good
    Given the agent runs "git checkout --quiet --detach"
    And the agent runs "git commit --quiet --allow-empty -m lost"
    And the agent runs "git tag lost"
    And the agent runs "git switch --quiet plan/auth"
    And the agent runs "git checkout --quiet lost"
    And the agent runs "git reset --quiet --hard v1"
    And I save checkpoint "one"
    And the agent runs "git switch --quiet plan/auth"
    And the agent runs "git tag --delete lost"
    And the agent runs "git reflog expire --expire=now --expire-unreachable=now --all"
    And the agent runs "git gc --quiet --prune=now"
    When I roll back to "one"
    Then HEAD is detached
    And the sandbox's commit is that of "one"

  Scenario: A repository in which git keeps no log of HEAD
    Given the agent runs "git config core.logAllRefUpdates false"
    And there is no log of the sandbox's HEAD
    And the agent runs "git checkout --quiet v1"
    And I save checkpoint "one"
    And the agent runs "git switch --quiet plan/auth"
    When I roll back to "one"
    Then git status begins with "Not currently on any branch."
    And the sandbox is exactly as it was at "one"
    And there is still no log of the sandbox's HEAD

  Scenario: HEAD on a branch costs nothing more, and its state is written as ever
    Given I save checkpoint "one"
    Then the state of "one" says nothing about what HEAD was detached from

  Scenario: A sandbox that belongs to the user
    Given plan "mine" on a worktree of the user's, on branch "feature"
    And the agent runs "git checkout --quiet v1"
    And I save checkpoint "one"
    And the agent runs "git switch --quiet feature"
    And the agent runs "git commit --quiet --allow-empty -m onwards"
    And I remember the sandbox as "later"
    When I roll back to "one"
    Then git status begins with "HEAD detached at v1"
    And the sandbox is exactly as it was at "one"
    And branch "feature" is where it was at "later"
    When I undo
    Then HEAD is on branch "feature"
    When I roll back to "one" and move the branch
    Then git status begins with "HEAD detached at v1"
    And the sandbox is exactly as it was at "one"
    And branch "feature" is where it was at "later"
    When I undo
    Then HEAD is on branch "feature"
    And the sandbox is exactly as it was at "later"
    When I redo
    Then the sandbox is exactly as it was at "one"

  Scenario: A sandbox that belongs to the user has no branch of ours that HEAD could go by
    Given plan "mine" on a worktree of the user's, on branch "feature"
    And the agent runs "git tag v2"
    And the agent runs "git checkout --quiet v1"
    And I save checkpoint "one"
    And the agent runs "git switch --quiet feature"
    And the agent runs "git checkout --quiet v2"
    When I roll back to "one"
    Then git status begins with "HEAD detached at v2"
    And the sandbox's commit is that of "one"

  # The log lies where the agent can write

  Scenario Outline: Whatever is in the log, it is told as git told it: <what>
    Given the agent runs "git checkout --quiet v1"
    And the log of HEAD says last that <what> was checked out
    And I save checkpoint "one"
    And the agent runs "git switch --quiet plan/auth"
    When I roll back to "one"
    Then the sandbox is exactly as it was at "one"
    And git status begins as at "one", with "HEAD detached at "

    Examples:
      | what                          |
      | something with an option      |
      | something with blanks         |
      | a tag and a blank             |
      | something that is not UTF-8   |
      | something with a zero byte    |
      | something without end         |
      | nothing                       |
      | HEAD                          |

  Scenario Outline: A log that is <what> is neither read nor written
    Given the agent runs "git checkout --quiet v1"
    And the log of HEAD is <what>
    When I save checkpoint "one"
    Then the state of "one" says nothing about what HEAD was detached from
    When I put the log of HEAD back
    And the agent runs "git switch --quiet plan/auth"
    And I roll back to "one"
    Then HEAD is detached
    And the sandbox's commit is that of "one"

    Examples:
      | what                              |
      | a link to elsewhere               |
      | in a directory that is elsewhere  |
      | a second name of another file     |

  Scenario: Words of the agent's are not written through a link
    Given the agent runs "git checkout --quiet v1"
    And I save checkpoint "one"
    And the agent runs "git switch --quiet plan/auth"
    When the log of HEAD is a link to elsewhere
    And I roll back to "one"
    Then HEAD is detached
    And nothing of "v1" was written elsewhere

  # Crashes

  Scenario Outline: Killed between the steps in which HEAD comes back
    Given the agent runs "git tag v2"
    And the agent runs "git checkout --quiet v1"
    And the agent runs "<then>"
    And I save checkpoint "one"
    And the agent runs "git tag v3"
    And the agent runs "git switch --quiet plan/auth"
    And the agent runs "git commit --quiet --allow-empty -m 'on the branch'"
    And the agent runs "<where HEAD is now>"
    When "plan rollback auth one --yes" is run while git "<killer>" kills the program
    Then it is killed
    When I run "plan save auth"
    Then it succeeds
    And it notes "finished the rollback"
    And the sandbox is exactly as it was at "one"
    And git status begins with "<words>"
    And rows and refs agree, and nothing is half done

    Examples:
      | then                                        | where HEAD is now       | killer                              | words                 |
      | git commit --quiet --allow-empty -m onwards | git status              | update-ref --no-deref -m backtrail: | HEAD detached from v1 |
      | git commit --quiet --allow-empty -m onwards | git checkout --quiet v2 | update-ref --no-deref -m backtrail: | HEAD detached from v1 |
      | git commit --quiet --allow-empty -m onwards | git checkout --quiet v2 | update-ref --no-deref --create-reflog -m checkout: | HEAD detached from v1 |
      | git status                                  | git checkout --quiet v2 | update-ref --no-deref --create-reflog -m checkout: | HEAD detached at v1 |

  Scenario: A git that was killed has left its lock, which nobody can tell from the user's own
    Given the agent runs "git checkout --quiet v1"
    And I save checkpoint "one"
    And the agent runs "git switch --quiet plan/auth"
    And the agent writes "work\n" to "work.txt"
    And I remember the sandbox as "two"
    When "plan rollback auth one --yes" is run while git "update-ref --no-deref" leaves its lock and kills the program
    Then it is killed
    When I run "plan save auth --wait 0"
    Then it succeeds
    And it notes "an interrupted rollback is not finished yet"
    And it notes "HEAD.lock exists"
    When I run "plan undo auth --wait 0"
    Then it exits with 8 and says "HEAD.lock"
    When the lock "HEAD.lock" is removed
    And I run "plan save auth"
    Then it succeeds
    And it notes "finished the rollback"
    And the sandbox is exactly as it was at "one"
    When I undo
    Then the sandbox is exactly as it was at "two"
    And rows and refs agree, and nothing is half done

  Scenario: Somebody who detached HEAD elsewhere after a crash is left alone
    Given the agent runs "git checkout --quiet v1"
    And the agent runs "git commit --quiet --allow-empty -m onwards"
    And I save checkpoint "one"
    And the agent runs "git switch --quiet plan/auth"
    When "plan rollback auth one --yes" is run while git "update-ref --no-deref -m backtrail:" kills the program
    And the agent runs "git commit --quiet --allow-empty -m mine"
    And I remember the sandbox as "mine"
    And I run "plan save auth"
    Then it succeeds
    And it notes "the sandbox was changed since (HEAD)"
    And the sandbox is exactly as it was at "mine"
