Feature: The database of the rows
  Checkpoints are in the private store; what is known about them is in a database: a SQLite file
  beside the store, or where `PLAN_DATABASE_URL` says.

  Background:
    Given a repository

  @storage
  Scenario: A database that was never used is made at first use, or when asked
    When I run "plan db status --format json"
    Then its JSON has data.state "empty"
    And its JSON has data.revision null
    When I run "plan db upgrade"
    Then it succeeds
    When I run "plan db status --format json"
    Then its JSON has data.state "current"
    When I run "plan db upgrade"
    Then it succeeds
    When I run "plan list --format json"
    Then its JSON has data.plans []

  @storage
  Scenario: A database of a newer program is looked at, and left as it is
    Given plan "auth"
    And the database was made by a newer program
    When I run "plan db status --format json"
    Then its JSON has data.state "newer"
    And its JSON has data.revision "9999"
    When I run "plan db upgrade" in every format
    Then every format says so in one sentence with a hint, and exits with 10
    And no file, no ref, no index and no row has changed

  @storage
  Scenario Outline: A revision that no version has written is damage: <revision>
    Given plan "auth"
    And its rows say that the revision is <revision>
    When I run "plan list" in every format
    Then every format says so in one sentence with a hint, and exits with 10
    When I run "plan db status"
    Then it exits with 10 and says "is damaged: its alembic_version is"
    And it notes "hint: restore it from a backup"

    Examples:
      | revision |
      | wörld    |
      | 00       |
      | 1e3      |
      | nothing  |

  Scenario: Looking does not make a database
    When I run "plan db status --format json" with the rows in "rows.db"
    Then its JSON has data.state "empty"
    When I run "plan db path" with the rows in "rows.db"
    Then it prints "rows.db"
    And there is no file "rows.db"
    When I run "plan db upgrade" with the rows in "rows.db"
    And I run "plan db status --format json" with the rows in "rows.db"
    Then its JSON has data.state "current"

  Scenario: Where the rows are is told without the password
    When I run "plan db path" with PLAN_DATABASE_URL=postgresql://me:tell-nobody@db.example:5433/plans?password=tell-nobody&sslkey=tell-nobody
    Then it prints "postgresql://me@db.example:5433/plans"
    And "tell-nobody" is nowhere in what it says

  Scenario: What cannot be a database is refused, and passwords are not repeated
    Given plan "auth"
    Then these values of PLAN_DATABASE_URL are refused with 10, one sentence and a hint:
      | url                                      | because                        |
      | nonsense                                 | it is no URL                   |
      | mysql://me:tell-nobody@host/plans        | that is not supported          |
      | postgresql://me:tell@nobody@host/plans   | the password is not escaped    |
      | postgresql://me:te@ll/nobody@host/plans  | the password is not escaped    |
      | postgresql://me:tell-nobody@host:x/plans | the port is no number          |
      | postgresql://me:tell-nobody\xff@host/plans | it is not UTF-8              |
      | sqlite://                                | it would forget everything     |
      | sqlite:///:memory:                       | it would forget everything     |
      | sqlite:///plan.db                        | it depends on where one is     |
      | sqlite:////nosuch/folder/plan.db         | the folder is not there        |
    And no file, no ref, no index and no row has changed

  Scenario: PostgreSQL without its driver
    When "plan create auth" is run for PostgreSQL, but its driver is not installed
    Then it exits with 10 and says "the PostgreSQL driver is not installed"
    And it notes "pip install 'backtrail[postgres]'"

  @storage
  Scenario Outline: Whatever words people use are stored: <words>
    Given plan "auth"
    When a checkpoint is saved with <words> as its reason
    Then the reason comes back as it was given
    And the log of the plan can be read
    And the checkpoint can be rolled back to and undone

    Examples:
      | words                    |
      | a million letters        |
      | a NUL                    |
      | bytes that are not UTF-8 |
      | quotes and placeholders  |
      | letters of all scripts   |

  @storage
  Scenario: A sandbox whose path is not UTF-8
    Given a worktree whose path is not UTF-8
    When a plan is attached to it, saved, changed and rolled back
    Then its files are as they were saved
    And the plan is found from inside it, and its path is told exactly
