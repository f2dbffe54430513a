@storage
Feature: Several processes at once
  Agents, scripts and people use one repository at the same time. Who comes second waits; nobody
  loses a checkpoint, gets a number twice, or sees an error.

  @unmeasured
  Scenario: Two processes save fifty checkpoints each on one plan
    Given a repository with plan "auth"
    And I run "plan policy auth --max-checkpoints 200"
    When 2 processes save 50 checkpoints each on plan "auth" at once
    Then none of them complained
    And there are 1 plans with 101 complete checkpoints each, without a gap
    And ids of plan "auth" grow with its numbers
    And rows and refs agree, and nothing is half done

  @unmeasured
  Scenario: Ten plans are created and saved in one repository, which has never seen Backtrail
    Given a repository
    When 10 processes each create a plan and save once, all at once
    Then none of them complained
    And there are 10 plans with 2 complete checkpoints each, without a gap
    And rows and refs agree, and nothing is half done

  Scenario: Who will not wait long is told so
    Given a repository with plan "auth"
    And the agent works and saves: one
    And I take stock of everything
    When "plan save auth --wait 0.5" is run while another process holds the sandbox
    Then it exits with 8
    And it waited for 0.5 seconds, and not for the usual 30
    And no file, no ref, no index and no row has changed
    When "plan rollback auth one --yes --wait 0" is run while another process holds the sandbox
    Then it exits with 8
    And no file, no ref, no index and no row has changed

  Scenario: Looking does not wait
    Given a repository with plan "auth"
    And the agent works and saves: one
    When "plan status auth" is run while another process holds the sandbox
    Then it succeeds
    When "plan diff -p auth first one" is run while another process holds the sandbox
    Then it succeeds

  Scenario: A killed command's git still holds the sandbox until it ends
    Given a repository with plan "auth"
    And the agent works and saves: one
    And "plan save auth" was killed while its git still runs
    When I run "plan save auth --wait 0.2"
    Then it exits with 8
    When that git ends
    And I run "plan save auth"
    Then it succeeds
    And rows and refs agree, and nothing is half done

  @unmeasured
  Scenario: Two processes save beyond the limit of one plan
    Given a repository with plan "auth"
    And I run "plan policy auth --max-checkpoints 12 --keep-recent 5"
    When 2 processes save 15 checkpoints each on plan "auth" at once
    Then none of them complained
    And 12 checkpoints are complete and 19 are tombstones
    And ids of plan "auth" grow with its numbers
    And rows and refs agree, and nothing is half done

  @unmeasured
  Scenario: Plans of one repository prune at the same time
    Given a repository with plan "auth"
    And I run "plan policy auth --max-checkpoints 3 --keep-recent 1"
    And plan "other"
    And I run "plan policy other --max-checkpoints 3 --keep-recent 1"
    When a process each saves 10 checkpoints on these plans at once: auth, other
    Then none of them complained
    And 3 checkpoints are complete and 8 are tombstones
    And rows and refs agree, and nothing is half done
