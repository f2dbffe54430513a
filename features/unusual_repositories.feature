Feature: Repositories of every shape
  Objects may be packed, borrowed or on another disk; the branch may have no commit; settings and
  attributes may come from anywhere. Checkpoints work in all of them.

  Background:
    Given a repository

  Scenario Outline: Objects that are <stored>
    Given the user's objects are <stored>
    And plan "auth"
    When the agent works and saves: one, two
    And the user's repository loses all its objects
    And I roll back to "one"
    Then "work.txt" holds "at one\n"
    And "README.md" holds "hello\n"

    Examples:
      | stored                    |
      | packed                    |
      | borrowed from another one |

  Scenario: The store is on another disk, where no object can be linked
    Given Backtrail's home is on another disk, if there is one
    When I run "plan create auth"
    Then it succeeds
    And the sandbox of "auth" holds the files of the repository
    When I run "plan save auth --label one"
    Then it succeeds
    Given somebody writes "edited\n" to "README.md" in the sandbox of "auth"
    When I run "plan rollback auth one --yes"
    Then it succeeds
    And the sandbox of "auth" holds the files of the repository

  Scenario: A repository whose ids are SHA-256
    Given a repository with SHA-256
    And plan "auth"
    When the agent works and saves: one, two
    And the agent runs "git add ."
    And the agent runs "git commit --quiet -m two"
    And I save checkpoint "three"
    And I roll back to "one"
    Then the sandbox is exactly as it was at "one"
    When I roll back to "three"
    Then the sandbox is exactly as it was at "three"

  Scenario: The first commit comes after the checkpoint
    Given a repository without commits
    And the user writes "one\n" to "work.txt"
    And the user runs "git add work.txt"
    When I run "plan create here --sandbox ."
    Then it succeeds
    When the user writes "two\n" to "work.txt"
    And I run "plan rollback first --yes"
    Then it succeeds
    And the user finds "one\n" in "work.txt"
    When the user writes "two\n" to "work.txt"
    And the user runs "git commit --quiet -am two"
    And I run "plan rollback first --yes"
    Then it succeeds
    And it notes "HEAD stays where it is: main had no commit then"
    And the user finds "one\n" in "work.txt"

  Scenario: A sandbox of ours was on a branch without commits
    Given plan "auth"
    And the agent runs "git switch --quiet --orphan fresh"
    And I save checkpoint "orphan"
    When the agent runs "git switch --quiet plan/auth"
    And I roll back to "orphan"
    Then the sandbox is exactly as it was at "orphan"
    When the agent runs "git commit --quiet --allow-empty -m born"
    And I roll back to "orphan"
    Then the result says "fresh had no commit then and has one now"

  Scenario: A worktree of the user's without a branch
    Given plan "mine" on a worktree of the user's, on branch "feature"
    And the agent runs "git switch --quiet --detach"
    And I save checkpoint "detached"
    When the agent runs "git switch --quiet feature"
    And the agent writes "more\n" to "README.md"
    And I roll back to "detached"
    Then HEAD is detached
    And the sandbox is exactly as it was at "detached"

  Scenario: A worktree of the user's that was on another branch
    Given plan "mine" on a worktree of the user's, on branch "feature"
    And I save checkpoint "on-feature"
    When the agent runs "git switch --quiet -c elsewhere"
    And the agent writes "more\n" to "README.md"
    And I roll back to "on-feature"
    Then HEAD is on branch "feature"
    And the sandbox is exactly as it was at "on-feature"
    When the agent runs "git commit --quiet --allow-empty -m more"
    And the agent runs "git switch --quiet elsewhere"
    And I roll back to "on-feature"
    Then the result says "only with --move-branch"
    When the agent runs "git branch --quiet -D feature"
    And I roll back to "on-feature"
    Then the result says "HEAD stays where it is: the branch feature, which was at"
    When I roll back to "on-feature" and move the branch
    Then the sandbox is exactly as it was at "on-feature"

  Scenario: A required filter that is not installed
    Given a file that needs a filter "big" which is not installed
    When I run "plan create auth"
    Then it succeeds
    And it notes "filter big does not work here: its files hold what git stores for them"

  Scenario: Making a sandbox fails: git cannot check it out
    When "plan create auth" is run while git "read-tree" fails
    Then it exits with 9
    And the plans are: nothing
    And there is no branch "plan/auth"
    And there is no folder "my repo.plans/auth"
    When I run "plan create auth"
    Then it succeeds
    And the plans are: auth

  Scenario: A branch stands where branches of plans would go
    Given the user runs "git branch plan"
    When I run "plan create auth"
    Then it exits with 5 and says "while a branch 'plan' exists"
    And it notes "or set another branch_prefix under [sandbox] in plan.toml"
    And the plans are: nothing

  Scenario: A submodule
    Given a submodule "library"
    When I run "plan create auth"
    And I speak of the plan "auth" that was created
    Then it succeeds
    When the agent works and saves: one, two
    And I roll back to "one"
    Then the sandbox is exactly as it was at "one"

  Scenario Outline: Bytes that change on checkout: <by>
    Given the user runs "git config core.eol <eol>"
    And the user's own attributes, in <place>, say "*.md <attribute>"
    When I run "plan create auth"
    Then the first checkpoint of "auth" holds what is on disk

    Examples:
      | by                                     | eol    | place           | attribute     |
      | a setting                              | crlf   | the usual place | text          |
      | the user's attributes                  | native | the usual place | text eol=crlf |
      | attributes in a place of the user's    | native | another place   | text eol=crlf |

  Scenario Outline: The user's own ignore rules: <where>
    Given plan "auth"
    And the user's own settings ignore "*.private", <where>
    And the agent writes "mine\n" to "a.private"
    When I run "plan save auth --label one" under these settings
    Then it succeeds
    And "a.private" is not in the latest checkpoint

    Examples:
      | where                                |
      | in a file that they name             |
      | in a configuration folder they named |

  Scenario: Nobody's home
    Given plan "auth"
    When I run "plan save auth" without HOME
    Then it succeeds

  Scenario: Names that git does not store
    Given plan "auth"
    And the agent writes "x\n" to ".GIT/x"
    And the agent writes "y\n" to "new.txt"
    When I save checkpoint "one"
    Then the latest checkpoint tells that it does not hold: .GIT/x
    When I roll back to "first"
    Then ".GIT/x" holds "x\n"

  Scenario: From inside the git directory, and from nowhere
    Given plan "auth"
    When I run "plan path auth" in "my repo/.git/refs"
    Then it prints nothing but the path of the sandbox of "auth"
    When I run "plan -C nosuch list"
    Then it exits with 1 and says "there is no directory"

  Scenario: A home of Backtrail's that belongs to another repository
    Given another repository in "stranger"
    When I run "plan create mine" with PLAN_HOME={repository}/../shared
    Then it succeeds
    When I run "plan -C ../stranger list" with PLAN_HOME={repository}/../shared
    Then it exits with 5 and says "holds the checkpoints of another repository"

  Scenario: The sandbox of another plan lies inside this one
    When I run "plan create here --sandbox ."
    Then it succeeds
    When the user writes "[sandbox]\nroot = 'in'\n" to "plan.toml"
    And I run "plan create other"
    Then it succeeds
    When the user writes "precious\n" to "in/other/work.txt"
    And I run "plan rollback here first --yes"
    Then it exits with 5 and says "belongs to plan 'other', whose sandbox lies inside this one"
    When I run "plan rollback here first --dry-run"
    Then it exits with 5 and says "belongs to plan 'other'"
    And the user finds "precious\n" in "in/other/work.txt"
    When the user writes "in\n" to ".gitignore"
    And I run "plan rollback here first --yes"
    Then it succeeds
    And the user finds "precious\n" in "in/other/work.txt"
