@unmeasured
Feature: Directories that are exchanged for links meanwhile
  While a rollback works, somebody exchanges a directory of the sandbox for a link to a directory
  elsewhere, and back, as often as a machine can. Nothing that lies there is written, created,
  deleted or given other permission bits: the rollback succeeds, or fails and can be undone.
  With BACKTRAIL_EXAMPLES set, that many rollbacks are raced.

  Background:
    Given a repository with plan "auth"
    And plan.toml says: include_ignored = [".secret"]
    And two checkpoints that differ below a directory, and a directory outside with the same names

  Scenario Outline: Rollbacks beside a process that exchanges directories and links: <where>
    When rollbacks race with a process that exchanges it for a link to there: <where>
    Then every rollback succeeds, or fails with 9 or 11, and nothing outside was touched

    Examples:
      | where                      |
      | the link is in the sandbox |
      | the link is elsewhere      |
