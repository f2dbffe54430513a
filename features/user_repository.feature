Feature: The user's repository stays as it is
  Checkpoints live in a private store. The user's refs, indexes, stash, hooks and signing keys are
  none of Backtrail's business, and neither garbage collection nor pruning can hurt a checkpoint.

  Background:
    Given a repository

  Scenario: Twenty checkpoints leave no trace
    Given the user has a stash, a tag, staged work and work that is not staged
    And plan "auth"
    And the agent writes "staged\n" to "staged.txt"
    And the agent runs "git add staged.txt"
    And the agent writes "not staged\n" to "README.md"
    And I take stock of the user's repository
    When 20 checkpoints are saved while a file changes and changes back
    Then 21 checkpoints are listed, numbered from 1 without a gap
    And the user's repository is as it was
    When the user runs "git stash pop --quiet --index"
    Then the user finds "stashed\n" in "src/app.py"

  Scenario: A plan adds one branch and one worktree, and nothing else
    Given the user has a stash, a tag, staged work and work that is not staged
    And I take stock of the user's repository
    And plan "auth"
    And the agent works and saves: one
    Then the user's repository is as it was, but for branch "plan/auth"

  Scenario Outline: No hook runs and nothing is signed: hooks <where>
    Given every hook <where> shouts
    And commits are signed by a program that shouts
    When the user runs "git commit --quiet --allow-empty -m shout"
    Then there was shouting
    Given silence
    When I run "plan create auth"
    And I speak of the plan "auth" that was created
    And the agent works and saves: one
    Then there was no shouting
    When the agent runs "git add ."
    And the agent runs "git commit --quiet -m work"
    Then there was shouting
    Given silence
    When the agent works and saves: two
    And I roll back to "one"
    And I undo
    And I redo
    And I roll back only "work.txt" to "two"
    Then there was no shouting

    Examples:
      | where                          |
      | of the repository              |
      | in the user's own hooks folder |

  Scenario: Garbage collection and pruning lose no checkpoint
    Given plan "auth"
    And the agent works and saves: one
    And the agent runs "git add ."
    And the agent runs "git commit --quiet -m one"
    And the agent works and saves: committed
    And the agent writes "staged only\n" to "staged.txt"
    And the agent runs "git add staged.txt"
    And the agent works and saves: staged
    And the agent runs "git reset --quiet --hard main"
    And the agent works and saves: four, five
    When the user runs "git reflog expire --expire=now --expire-unreachable=now --all"
    And the user runs "git gc --quiet --prune=now --aggressive"
    And the user runs "git worktree prune --expire=now"
    And the user runs "git prune --expire=now"
    Then every checkpoint can be brought back exactly

  Scenario: Checkpoints survive the loss of the plan's branch and its commits
    Given plan "auth"
    And the agent writes "work\n" to "work.txt"
    And the agent runs "git add ."
    And the agent runs "git commit --quiet -m work"
    And the agent works and saves: one
    And the agent runs "git checkout --quiet --force --detach main"
    When the user runs "git branch --quiet -D plan/auth"
    And the user runs "git reflog expire --expire=now --all"
    And the user runs "git gc --quiet --prune=now"
    Then every checkpoint can be brought back exactly

  Scenario: Stashes and commits of the user outlive a rollback
    Given the user has a stash, a tag, staged work and work that is not staged
    And plan "auth"
    And the agent works and saves: one, two
    And I take stock of the user's repository
    When I roll back to "one"
    And I undo
    Then the user's repository is as it was, but for the sandbox
