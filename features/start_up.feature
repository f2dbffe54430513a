Feature: Start-up
  A command loads only what it needs: the heavy libraries cost more than the work itself.

  Background:
    Given a repository with plan "auth"

  Scenario: Asking for the version loads nothing heavy
    When I look at what "plan --version" loads
    Then it loads none of: sqlalchemy, alembic, git, rich

  Scenario: A checkpoint is made without Alembic and without GitPython
    When I look at what "plan checkpoint create auth" loads
    Then it loads: sqlalchemy
    And it loads none of: alembic, git, rich

  Scenario: Rollback and undo need neither
    Given the agent works and saves: one, two
    When I look at what "plan rollback auth one --yes" loads
    Then it loads: sqlalchemy
    And it loads none of: alembic, git

  Scenario: A plan needs GitPython to be made, and a new database needs Alembic
    When I look at what "plan create another" loads
    Then it loads: git, sqlalchemy
    Given the database is not there yet
    When I look at what "plan db upgrade" loads
    Then it loads: alembic, sqlalchemy
