@storage
Feature: Databases of versions that were never released
  The first released version makes all tables in one revision. A database that an earlier version
  made is upgraded if it lacks little, see `decisions.feature`; an older one is looked at, refused
  and left as it is.

  Background:
    Given a repository

  Scenario: One that is too old is looked at, and left as it is
    Given plan "auth"
    And the database was made by a version that was never released
    When I run "plan db status --format json"
    Then its JSON has data.state "outdated"
    And its JSON has data.revision "0003"
    When I run "plan db upgrade" in every format
    Then every format says so in one sentence with a hint, and exits with 10
    When I run "plan save auth"
    Then it exits with 10 and says "was never released"
    And no file, no ref, no index and no row has changed
