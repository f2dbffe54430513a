Feature: A worktree is there whole, or not at all
  Making a sandbox registers a worktree of the user's repository. Whatever ends it half-way, git
  or power or a full disk: the user's own git works, the next command goes on, and nothing of
  anybody's is lost or left lying about.

  Scenario Outline: <what> is killed before every name that it makes or changes
    Given a repository with plan "origin"
    And already done: "<done before>"
    When "<command>" is killed before each of its changes, every <stride>
    Then every time the user's git worked, "<next>" went on, and no litter was left

    Examples:
      | what                   | done before                                                                     | command                  | next                                  | stride |
      | Creating a plan        |                                                                                 | plan create auth         | plan create auth --if-exists use      | 3      |
      | Creating, then another |                                                                                 | plan create auth         | plan rollback auth latest --yes       | 9      |
      | Forking                |                                                                                 | plan fork origin 1 auth  | plan save auth                        | 11     |
      | Restoring a checkpoint | plan create auth; plan remove auth --yes --purge-files --confirm auth           | plan restore auth        | plan restore auth                     | 11     |
      | Restoring files        | plan create auth; plan remove auth --yes                                        | plan restore auth        | plan restore auth                     | 7      |

  Scenario Outline: The git that fills the new sandbox <way>
    Given a repository
    When "plan create auth" is run while git "read-tree" <way>
    Then it exits with 9
    And the user's git works, and no litter is left
    When I run "plan create auth"
    Then it succeeds
    And the sandbox of "auth" holds the files of the repository

    Examples:
      | way                       |
      | is killed                 |
      | finds the disk full       |

  Scenario: The git that fills the new sandbox is killed together with the program
    Given a repository
    When "plan create auth" is run while git "read-tree" is killed with the program, and leaves its lock
    Then the user's git works
    When I run "plan create auth"
    Then it succeeds
    And the user's git works, and no litter is left beside plan "auth"
    And the sandbox of "auth" holds the files of the repository

  Scenario Outline: The disk is full at <place>
    Given a repository
    When the disk is full from <place> on while I run "plan create auth"
    Then it did not succeed
    And the user's git works
    When I run "plan create auth"
    Then it succeeds
    And the user's git works, and no litter is left beside plan "auth"
    And the sandbox of "auth" holds the files of the repository

    Examples:
      | place               |
      | plan.announced      |
      | plan.branch_made    |
      | plan.worktree_added |

  Scenario: What somebody put into a half-made sandbox stays when it cannot be made
    Given a repository
    And creating plan "auth" was killed at plan.worktree_added
    And somebody writes "precious\n" to "notes.txt" in the sandbox of "auth"
    When "plan create auth" is run while git "read-tree" finds the disk full
    Then it exits with 9
    And "notes.txt" in the place of plan "auth" holds "precious\n"

  Scenario: git's own commands on worktrees work beside ours
    Given a repository with plan "auth"
    When the user runs "git worktree prune"
    And the user runs "git worktree lock '../my repo.plans/auth'"
    And I run "plan save auth"
    Then it succeeds
    When the user runs "git worktree unlock '../my repo.plans/auth'"
    And the user runs "git worktree repair"
    And the user runs "git worktree add --quiet ../second"
    And I run "plan create second"
    Then it succeeds
    And the user's git works
    When I run "plan remove second --yes"
    And I run "plan restore second"
    Then it succeeds

  Scenario: A worktree of the user's whose place is not there is not forgotten
    Given a repository
    And the user runs "git worktree add --quiet ../away"
    And the user runs "mv ../away ../unplugged"
    When "plan create auth" is run while git "read-tree" finds the disk full
    Then it exits with 9
    When the user runs "mv ../unplugged ../away"
    Then the user runs "git -C ../away status"
