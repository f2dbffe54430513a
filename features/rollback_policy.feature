Feature: Whether a plan may be rolled back
  What `[rollback]` in plan.toml says when a plan is created is kept with the plan, so that a later
  edit of the file changes nothing for it; `plan policy` does.

  Background:
    Given a repository with plan "auth"
    And the agent works and saves: one, two

  Scenario: A plan that may not be rolled back
    Given I roll back to "one"
    And I roll back to "two"
    And I undo
    And I run "plan policy auth --forbid-rollback --format json"
    Then its JSON has data.policy.rollback.allowed false
    And its JSON has data.changed true
    Given I take stock of everything
    Then these are refused in every format, with one sentence and a hint:
      | command                              | exit code |
      | plan rollback auth two --yes         | 5         |
      | plan rollback auth two --dry-run     | 5         |
      | plan rollback auth two --path x --yes | 5        |
      | plan undo auth                       | 5         |
      | plan redo auth                       | 5         |
    And no file, no ref, no index and no row has changed
    When I run "plan undo auth"
    Then it notes "plan policy auth --allow-rollback allows them"
    When I run "plan save auth"
    Then it succeeds
    When I run "plan policy auth --allow-rollback"
    And I run "plan undo auth"
    Then it succeeds
    And the sandbox is exactly as it was at "two"

  Scenario: What plan.toml says when a plan is created is kept with the plan
    Given plan.toml is "[rollback]\nallowed = false\nrequire_confirmation = false\n"
    And plan "careful"
    And plan.toml is ""
    When I run "plan rollback careful first --yes"
    Then it exits with 5 and says "the policy of plan 'careful' does not allow rollbacks"
    When I run "plan rollback auth one --yes"
    Then it succeeds
    When I run "plan policy careful --format json"
    Then its JSON has data.policy.rollback {"allowed": false, "require_confirmation": false}
    And its JSON has data.set_for_plan ["rollback.allowed", "rollback.require_confirmation"]
    When I run "plan policy careful --format rich"
    Then it prints "Rollbacks of plan careful"
    When I run "plan policy careful --reset --format json"
    Then its JSON has data.policy.rollback {"allowed": true, "require_confirmation": true}

  Scenario: A plan that is rolled back without a question
    When I run "plan rollback auth one"
    Then it exits with 6
    When I run "plan policy auth --no-confirmation"
    And I run "plan rollback auth one"
    Then it succeeds
    And the sandbox is exactly as it was at "one"
    When I run "plan policy auth --require-confirmation"
    And I run "plan rollback auth two"
    Then it exits with 6

  Scenario Outline: Rules that are damaged forbid
    Given the plan's row holds this policy: <policy>
    When I run "plan rollback auth one --yes"
    Then it exits with 5 and says "about rollbacks are damaged"
    And it notes "plan policy auth --reset sets the usual ones"
    When I run "plan policy auth"
    Then it succeeds
    And it notes "none is allowed until plan policy auth --reset sets the usual ones"
    When I run "plan policy auth --<option> --format json"
    Then its JSON has data.policy.rollback {"allowed": true, "require_confirmation": true}
    When I run "plan rollback auth one --yes"
    Then it succeeds

    Examples:
      | policy                             | option         |
      | }{                                 | reset          |
      | {"rollback": false}                | allow-rollback |
      | {"rollback": {"allowed": "maybe"}} | allow-rollback |

  Scenario: A plan that keeps no rules follows plan.toml
    Given the plan's row holds this policy: {}
    And plan.toml is "[rollback]\nallowed = false\n"
    When I run "plan rollback auth one --yes"
    Then it exits with 5

  Scenario: What a killed rollback left is repaired although rollbacks are forbidden meanwhile
    When "plan rollback auth one --yes" is killed at "rollback.files_restored"
    And I run "plan policy auth --forbid-rollback"
    And I run "plan save auth"
    Then it succeeds
    And it notes "finished the rollback to checkpoint"
    And the sandbox is exactly as it was at "one"
