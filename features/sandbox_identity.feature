Feature: A sandbox that claims to be another repository
  Whoever works in a sandbox can write its .git. It is believed only if it leads to the git
  directory that was recorded, and nothing else is moved, deleted, or given a HEAD or an index.

  Background:
    Given a repository with plan "auth"
    And the user has a stash, a tag, staged work and work that is not staged
    And the agent works and saves: one, two

  Scenario Outline: No command believes <what>
    Given the sandbox has <what>
    And I take stock of everything
    Then each of these exits with 7: plan save auth; plan rollback auth one --yes; plan rollback auth one --dry-run; plan undo auth; plan apply auth --yes; plan diff -p auth one
    And each of these exits with 5: plan restore auth
    And each of these exits with 0: plan list; plan status auth; plan log auth; plan diff -p auth one two; plan checkpoint show auth one
    And no file, no ref, no index and no row has changed
    Given I take stock of the user's repository
    Then each of these exits with 125: plan run auth -- true; plan tool auth pytest -- true
    When I run "plan remove auth --yes --keep-branch --format json"
    Then its JSON has data.removal.sandbox "left_in_place"
    And the user's repository is as it was

    Examples:
      | what                                                               |
      | a .git that leads to the user's own                                |
      | a .git that leads to the user's own, and no registration any more |

  Scenario Outline: Neither saving nor going back nor removing believes <what>
    Given the sandbox has <what>
    And I take stock of the user's repository
    Then each of these exits with 7: plan save auth; plan rollback auth one --yes
    And each of these exits with 5: plan restore auth
    When I run "plan remove auth --yes --keep-branch"
    Then it succeeds
    And the user's repository is as it was

    Examples:
      | what                                                                    |
      | a .git that leads to the user's own, which bears its mark               |
      | a .git with a relative path to the user's own, and blanks after it      |
      | a .git that is a link to the user's own                                 |
      | a registration that is a link to the user's .git                        |
      | a registration that is a link to another worktree, forged to agree      |
      | another worktree's git directory, forged to agree                       |

  Scenario: What is gone or forged is put right by git, and the plan goes on
    Given the sandbox has a .git that leads to the user's own
    When I run "plan save auth"
    Then it exits with 7 and says "git worktree repair"
    When the user runs "git worktree repair"
    And I run "plan rollback auth one --yes"
    Then it succeeds
    And the sandbox is exactly as it was at "one"

  Scenario Outline: While a removal is under way, <what> is exchanged
    Given I take stock of the user's repository
    When <what> is exchanged for a link while "plan remove auth --yes --keep-branch" is at remove.removing
    Then it exits with 7 and says "was exchanged for something else meanwhile"
    And what was exchanged is where it was put
    And nothing is set aside any more
    When what was exchanged is put back
    Then the user's repository is as it was
    When I run "plan save auth"
    Then it succeeds

    Examples:
      | what                                |
      | the sandbox                         |
      | the git directory of the sandbox    |

  Scenario: While a rollback is under way, the git directory of the sandbox is exchanged
    Given I take stock of the user's repository
    When the git directory of the sandbox is exchanged for a link while "plan rollback auth one --yes" is at rollback.files_restored
    Then it exits with 7
    When what was exchanged is put back
    Then the user's own HEAD, index and refs are as they were
    When I run "plan undo auth"
    Then it succeeds
    And the sandbox is exactly as it was at "two"

  Scenario: The main checkout can be a sandbox, and is never moved
    Given plan "here" on the main checkout
    And I take stock of the user's repository
    When I run "plan save here"
    Then it succeeds
    When I run "plan remove here --yes"
    Then it succeeds
    And the user's repository is as it was

  Scenario: A directory that only claims to be a checkout cannot be attached
    Given a directory "claims" whose .git leads to the user's own
    And I take stock of everything
    Then each of these exits with 7: plan create other --sandbox ../claims
    And no file, no ref, no index and no row has changed

  Scenario: An attached main checkout that is a linked worktree by now
    Given plan "here" on the main checkout of a repository with a separate git directory
    And its .git leads to the git directory of a linked worktree
    And I take stock of everything
    Then each of these exits with 7: plan save here; plan rollback here 1 --yes
    And no file, no ref, no index and no row has changed
