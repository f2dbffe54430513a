Feature: Plans that come out of another plan
  A child plan has a place on its parent's timeline. A rollback of the parent to before that place
  invalidates the child, and whatever brings the place back brings back the child's state.

  Background:
    Given a repository with plan "auth"
    And the agent works and saves: one

  Scenario: A child leaves the parent's timeline and returns to it
    When I run "plan create child --parent auth --format json"
    Then it succeeds
    When I run "plan create later --parent auth"
    And I run "plan checkpoint list auth --format json"
    Then its JSON has data.checkpoints.2.checkpoint_type "subplan_spawn"
    And its JSON has data.checkpoints.2.metadata.reason "before child plan child"
    When I run "plan rollback auth 4 --yes --format json"
    Then its JSON has data.impact.child_plans_invalidated 1
    And the states of plans are: auth queued, child queued, later invalidated
    When I run "plan rollback auth one --dry-run --format json"
    And I then run "plan rollback auth one --yes --format json"
    Then what is left on the timeline is as many as the dry run told
    And its JSON has data.impact.child_plans_invalidated 1
    And the states of plans are: auth queued, child invalidated, later invalidated
    When I run "plan rollback child first --yes"
    Then it exits with 5 and says "was invalidated by a rollback of its parent plan"
    When I run "plan undo auth"
    Then the states of plans are: auth queued, child queued, later invalidated
    When I run "plan undo auth"
    Then the states of plans are: auth queued, child queued, later queued
    When I run "plan redo auth"
    Then the states of plans are: auth queued, child queued, later invalidated
    When I run "plan rollback child first --yes"
    Then it succeeds

  Scenario: A child returns to the state that it had, and an applied one is only told of
    Given I run "plan create child --parent auth"
    And I run "plan create done --parent auth"
    And child plan "child" has become "errored"
    And child plan "done" has become "applied"
    When I run "plan rollback auth one --yes"
    Then it succeeds
    And it notes "child plan done leaves the timeline, but has been applied and stays so"
    And the states of plans are: auth queued, child invalidated, done applied
    When I run "plan undo auth"
    Then the states of plans are: auth queued, child errored, done applied

  Scenario: The status of a child names its parent
    Given I run "plan create child --parent auth"
    When I run "plan status child"
    Then it shows: parent: auth
    When I run "plan status child --format rich"
    Then it shows: Child of | auth
    When I run "plan status child --format json"
    Then its JSON has data.parent "auth"

  Scenario: Children of a child leave and return with it
    Given I run "plan create child --parent auth"
    And I run "plan create grandchild --parent child"
    And child plan "grandchild" has become "complete"
    And the agent writes "more\n" to "work.txt"
    When I run "plan rollback auth one --dry-run --format json"
    And I then run "plan rollback auth one --yes --format json"
    Then what happened is what the dry run told
    And its JSON has data.impact.child_plans_invalidated 2
    And the states of plans are: auth queued, child invalidated, grandchild invalidated
    And these are refused in every format, with one sentence and a hint:
      | command                     | exit code |
      | plan apply grandchild --yes | 5         |
    When I run "plan undo auth"
    Then the states of plans are: auth queued, child queued, grandchild complete
    When I run "plan rollback child first --yes"
    Then the states of plans are: auth queued, child queued, grandchild invalidated
    When I run "plan rollback auth one --yes --format json"
    Then its JSON has data.impact.child_plans_invalidated 1
    When I run "plan undo auth"
    Then the states of plans are: auth queued, child queued, grandchild invalidated
    When I run "plan undo child"
    Then the states of plans are: auth queued, child queued, grandchild complete

  Scenario: What came out of an applied child stays with it
    Given I run "plan create child --parent auth"
    And I run "plan create grandchild --parent child"
    And child plan "child" has become "applied"
    When I run "plan rollback auth one --yes --format json"
    Then its JSON has data.impact.child_plans_invalidated 0
    And the states of plans are: auth queued, child applied, grandchild queued

  Scenario: A child that was removed meanwhile comes back as the timeline has it
    Given I run "plan create child --parent auth"
    And child plan "child" has become "complete"
    And I run "plan remove child --yes"
    When I run "plan rollback auth one --yes"
    And I run "plan restore child"
    Then it succeeds
    And it notes "comes back invalidated"
    And the states of plans are: auth queued, child invalidated
    When I run "plan apply child --yes"
    Then it exits with 5 and says "was invalidated by a rollback of its parent plan"
    When I run "plan create child --parent auth --if-exists use"
    Then it notes "was invalidated by a rollback of its parent plan"
    When I run "plan undo auth"
    Then the states of plans are: auth queued, child complete

  Scenario: A child that was invalidated and removed comes back alive if the timeline holds it again
    Given I run "plan create child --parent auth"
    And child plan "child" has become "complete"
    When I run "plan rollback auth one --yes"
    And I run "plan remove child --yes"
    And I run "plan undo auth"
    And I run "plan restore child"
    Then it succeeds
    And the states of plans are: auth queued, child complete

  Scenario: A child that its applied parent had taken off its timeline stays invalidated
    Given I run "plan create child --parent auth"
    And I run "plan create grandchild --parent child"
    And I run "plan rollback child first --yes"
    And child plan "child" has become "applied"
    When I run "plan remove grandchild --yes"
    And I run "plan restore grandchild"
    Then the states of plans are: auth queued, child applied, grandchild invalidated

  Scenario: A child whose parent was taken off the timeline comes back invalidated, too
    Given I run "plan create child --parent auth"
    And I run "plan create grandchild --parent child"
    And I run "plan remove grandchild --yes"
    When I run "plan rollback auth one --yes"
    And I run "plan restore grandchild"
    Then the states of plans are: auth queued, child invalidated, grandchild invalidated
    When I run "plan undo auth"
    Then the states of plans are: auth queued, child queued, grandchild queued

  Scenario: Restoring some paths leaves children alone
    Given I run "plan create child --parent auth"
    When I run "plan rollback auth one --path work.txt --yes"
    Then the states of plans are: auth queued, child queued

  Scenario: The trigger can be off
    Given plan.toml is "triggers = []\n"
    When I run "plan create child --parent auth"
    Then it succeeds
    And the timeline is: initial, one
    When I run "plan rollback auth one --yes"
    Then the states of plans are: auth queued, child invalidated

  Scenario: Parents that cannot be
    Given I run "plan create child --parent auth"
    And plan "other"
    And plan "other" is in state "invalidated"
    Then these are refused in every format, with one sentence and a hint:
      | command                                         | exit code |
      | plan create more --parent other                 | 5         |
      | plan create more --parent nothing               | 3         |
      | plan create child --parent auth                 | 5         |
      | plan create other --parent auth --if-exists use | 5         |
    And no file, no ref, no index and no row has changed

  Scenario Outline: Killed at "<place>" while the parent goes back, children follow all or nothing
    Given I run "plan create child --parent auth"
    When "plan rollback auth one --yes" is killed at "<place>"
    Then the states of plans are: auth queued, child <before>
    When I run "plan save auth"
    Then the states of plans are: auth queued, child <after>
    And rows and refs agree, and nothing is half done

    Examples:
      | place                     | before      | after       |
      | rollback.safety_made      | queued      | queued      |
      | rollback.result_pinned    | queued      | invalidated |
      | rollback.landed           | invalidated | invalidated |

  Scenario Outline: Killed at "<place>" while a child is made, a re-run makes one child
    When "plan create child --parent auth" is killed at "<place>"
    And I run "plan create child --parent auth"
    Then it succeeds
    And the states of plans are: auth queued, child queued
    When I run "plan rollback auth one --yes --format json"
    Then its JSON has data.impact.child_plans_invalidated 1
    And rows and refs agree, and nothing is half done

    Examples:
      | place                |
      | plan.spawn_recorded  |
      | plan.announced       |
