Feature: Repositories that belong to somebody else
  What a repository's owner wrote into its configuration, git would run. So git refuses to work in
  a repository of another user unless the user has said otherwise, and Backtrail refuses as well:
  before it reads or makes anything there, in every command.

  Background:
    Given a repository with plan "auth"
    And the agent works and saves: one
    And the user's checkout is also at "elsewhere"
    And hostile settings in the repository's own configuration

  Scenario: In somebody else's repository every command is refused
    Given the repository belongs to somebody else
    Then these are refused in every format, with one sentence and a hint:
      | command                        | exit code | because                          |
      | plan create other              | 5         | it would run a filter of theirs  |
      | plan create --sandbox . here   | 5         | the same with their own checkout |
      | plan list                      | 5         | plan.toml is theirs              |
      | plan status auth               | 5         | it would look at the sandbox     |
      | plan save auth                 | 5         | it would write                   |
      | plan rollback auth one --yes   | 5         | it would write                   |
      | plan diff -p auth one          | 5         | it would look at the sandbox     |
      | plan log auth                  | 5         | it would look into the store     |
      | plan run auth -- true          | 125       | the same, as runs say it         |
      | plan remove auth --yes         | 5         | it would move files              |
      | plan restore auth              | 5         | it would make a worktree         |
      | plan config show               | 5         | plan.toml is theirs              |
      | plan db status                 | 5         | the database is theirs           |
      | plan policy show               | 5         | plan.toml is theirs              |
      | plan -C src/lib list           | 5         | it is in that repository         |
      | plan -C .git list              | 5         | it is that repository            |
      | plan -C ../elsewhere list      | 5         | what is behind it is theirs      |
      | plan -C {sandbox of auth} save | 5         | what is behind it is theirs      |
    And a program that opens it is refused with 5
    And no file, no ref, no index and no row has changed
    And nothing was run

  Scenario: A fresh repository of somebody else stays as it was
    Given another repository in "fresh", which belongs to somebody else
    And I take stock of everything
    When I run "plan -C ../fresh create mine" with PLAN_HOME={repository}/../home-of-plans
    Then it exits with 5 and says "git config --global --add safe.directory "
    And no file, no ref, no index and no row has changed

  Scenario Outline: What git calls safe is safe: <what>
    Given the repository belongs to somebody else
    And as the user has it, safe.directory is <what>
    Then plan list says what git says: <verdict>

    Examples:
      | what                                          | verdict |
      | everything, by their own configuration        | yes     |
      | this repository, by their own configuration   | yes     |
      | another one, by their own configuration       | no      |
      | everything, and then nothing                  | no      |
      | this repository, written from their home      | yes     |
      | everything, by a file that theirs includes    | yes     |
      | everything, by GIT_CONFIG_COUNT               | yes     |
      | everything, by GIT_CONFIG_PARAMETERS          | yes     |
      | everything, by the repository's own           | no      |
      | unset, and sudo was called by the owner       | yes     |
      | unset, and sudo was called by a third         | no      |

  Scenario Outline: A part that belongs to somebody else is enough: <part>
    Given <part> belongs to somebody else
    Then plan list says what git says: no

    Examples:
      | part                |
      | the checkout's root |
      | the git directory   |

  Scenario: A sandbox that came to belong to somebody else
    Given the sandbox belongs to somebody else
    And I take stock of everything
    Then each of these exits with 5: plan save auth; plan rollback auth one --yes; plan diff -p auth one; plan remove auth --yes
    And nothing was run
    And no file, no ref, no index and no row has changed
    When I run "plan list"
    Then it succeeds

  Scenario: A checkout of somebody else is neither attached nor taken along
    Given the checkout at "elsewhere" belongs to somebody else
    And I take stock of everything
    Then each of these exits with 5: plan create there --sandbox ../elsewhere; plan -C ../elsewhere create taken --from-dirty
    And nothing was run
    And no file, no ref, no index and no row has changed

  Scenario: Somebody who is not root is refused in the repository of root
    Given a user who is not root
    When that user runs "plan list"
    Then it exits with 5 and says "belongs to another user"
    And nothing was run
