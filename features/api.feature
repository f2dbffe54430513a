Feature: The facade for Python programs
  `backtrail.api.open_repo` gives a program the plans of a repository, and each plan's checkpoints,
  decisions, corrections, runs and tools. Errors are those of the command line.

  Scenario: A program's life with a plan
    Given a repository
    When a program creates plan "auth" through the facade, decides, works, runs and corrects
    Then it found what the command line finds
    And the database was closed

  Scenario: Errors have the codes of the command line
    Given a repository with plan "auth"
    Then through the facade these fail with their codes:
      | what             | code |
      | an unknown plan  | 3    |
      | no guidance      | 2    |
      | unknown decision | 3    |
      | nothing to undo  | 1    |
      | no repository    | 1    |

  Scenario: Importing the facade loads nothing heavy
    Then importing "backtrail.api" loads none of: sqlalchemy, git, alembic, typer, rich
