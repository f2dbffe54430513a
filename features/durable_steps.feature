Feature: What is done is not done again
  A step is a command with a key. It is recorded before it starts and after it ended, with its exit
  code and what it printed. A script made of steps can be run again after any crash, rollback or
  undo, and does only what is not done. Every command here counts its own runs, outside the sandbox.

  Background:
    Given a repository with plan "auth"

  @storage
  Scenario: A step that succeeded is reused
    When the script runs: one, two
    And the script runs: one, two
    Then each ran once: one, two
    And the second time each said the same on both streams, and exited with the same code
    And it notes "step 'two' is reused"
    And the steps are: one reused, two reused
    And the plan has 2 runs and 1 "pre_run" checkpoints

  Scenario: A failure is not reused, unless that is asked for
    When step "one" runs "exit 3"
    Then it exits with 3
    And the steps are: one failed
    When step "one" runs "exit 3"
    Then it exits with 3
    And "one" ran 2 times
    When step "one" runs "exit 3" with --reuse-failed
    Then it exits with 3
    And it notes "step 'one' is reused"
    And "one" ran 2 times
    And the steps are: one failed

  Scenario: JSON tells of the step; what it prints goes to standard error
    When step "one" runs "echo hello" with --format json
    Then its JSON has data.step.status "succeeded"
    And its JSON has data.reused false
    And it notes "hello"
    When step "one" runs "echo hello" with --format json
    Then its JSON has data.step.status "reused"
    And its JSON has data.reused true
    And its JSON has data.run null
    And it notes "hello"

  @storage
  Scenario: Steps after the target of a rollback do not replay, and undo revives them
    When the script runs: one
    And I save checkpoint "after-one"
    And the script runs: two, three
    And I roll back to "after-one"
    Then the steps are: one succeeded, two superseded, three superseded
    And the rollback told of 2 superseded steps, and of 0 that are pending again
    When the script runs: one, two, three
    Then one ran once, and two and three twice
    And the steps are: one reused, two superseded, three superseded, two succeeded, three succeeded
    When I undo
    Then on the timeline is one entry each: one, two, three
    When the script runs: one, two, three
    Then one ran once, and two and three twice
    When I redo
    And the script runs: one, two, three
    Then one ran once, and two and three twice
    And on the timeline is one entry each: one, two, three

  Scenario: Three checkpoints, a rollback, and the next run sees the restored state
    Given the agent works and saves: one, two, three
    When I roll back to "one"
    And step "look" runs "cat work.txt; test ! -e 'made at two.txt'"
    Then it succeeds
    And it prints "at one"

  @storage
  Scenario: A step in flight at the target, which ended after it, is pending again, in its old order
    When the script runs: one
    And step "two" runs, and while it is in flight checkpoint "in-flight" is saved
    And the script runs: three
    And I roll back to "in-flight"
    Then the steps are: one succeeded, two pending, three superseded
    And the rollback told of 1 superseded steps, and of 1 that are pending again
    When the script runs: one, two
    Then it notes "step 'two' was started before and its end is not known: it runs again"
    When the script runs: three
    Then the steps are: one reused, two succeeded, three superseded, three succeeded
    And one ran once, and two and three twice
    When I undo
    Then on the timeline is one entry each: one, two, three
    And the steps are: one succeeded, two succeeded, three succeeded, three superseded

  @storage
  Scenario: Other arguments under the same key
    When the script runs: one, two, three
    And I save checkpoint "first-way"
    And step "two" runs "echo another way"
    Then it succeeds
    And it notes "step 'two' was recorded with another command: it is dropped, and so is 1 later step, and runs anew"
    And it prints "another way"
    And the steps are: one succeeded, two dropped, three dropped, two succeeded
    When step "two" runs "echo another way"
    Then it notes "step 'two' is reused"
    When I roll back to "first-way"
    Then on the timeline is one entry each: one, two, three
    When the script runs: one, two, three
    Then each ran once: one, three
    And "two" ran 2 times

  Scenario: The directory and the variables that matter are arguments, too
    When step "one" runs "pwd"
    And step "one" runs "pwd" with --cwd src
    Then it notes "another directory"
    When step "one" runs "pwd" with --cwd src --env TARGET
    Then it notes "another value of a variable"
    When step "one" runs "pwd" with --cwd src --env TARGET
    Then it notes "is reused"
    When TARGET is "é ü" and step "one" runs "pwd" with --cwd src --env TARGET
    Then it notes "another value of a variable"
    When TARGET is "other" and step "one" runs "pwd" with --cwd src
    Then it notes "another value of a variable"
    And "one" ran 5 times

  Scenario: A step whose end is not known runs again, with a warning
    When step "one" is killed while its command runs
    Then the steps are: one pending
    When the script runs: one
    Then it notes "step 'one' was started before and its end is not known: it runs again"
    And "one" ran 2 times
    And the steps are: one succeeded

  Scenario Outline: A step whose end is not known is reconciled: <outcome>
    When step "one" is killed while its command runs
    And step "one" runs as usual with --reconcile "echo looked; exit <code>"
    Then it exits with <code>
    And it notes "it is reconciled"
    And it prints "looked"
    And "one" ran once
    And the steps are: one <outcome>
    When step "one" runs as usual with --reconcile "exit 9"
    Then "one" ran <times>

    Examples:
      | code | outcome   | times   |
      | 0    | succeeded | once    |
      | 4    | failed    | 2 times |

  Scenario Outline: Killed at <place>, the script goes on where it was
    When the script runs: one
    And step "two" is killed at "<place>"
    And the script runs: one, two, three
    Then each ran once: one, three
    And "two" ran <times>
    And the steps are: one reused, two <status>, three succeeded

    Examples:
      | place             | times   | status    |
      | run.admitted      | once    | succeeded |
      | step.started      | once    | succeeded |
      | run.launched      | once    | succeeded |
      | step.ended        | 2 times | succeeded |
      | step.completed    | once    | reused    |
      | run.finalizing    | once    | reused    |

  Scenario: A command that is ended from outside has no known end
    When step "one" runs "sleep 60" with --timeout 0.3
    Then it exits with 124
    And the steps are: one pending
    When step "one" runs "sleep 60" with --timeout 0.3 --reconcile "exit 0"
    Then it succeeds
    And the steps are: one succeeded

  Scenario: A failed run that is rolled back leaves no step behind
    When step "one" runs "echo half > half.txt; exit 7" with --on-failure rollback
    Then it exits with 7
    And the steps are: one superseded
    When step "one" runs "echo half > half.txt; exit 7" with --on-failure rollback --reuse-failed
    Then "one" ran 2 times
    And the steps are: one superseded, one superseded

  Scenario: A step succeeded only if its check does, and a green checkpoint knows that it is done
    When step "one" runs "echo 1 > one.txt" with --verify "exit 5"
    Then it exits with 5
    And the steps are: one failed
    When step "one" runs "echo 1 > one.txt" with --verify true
    Then it succeeds
    And the steps are: one succeeded
    And checkpoint "post_run" was made after step "one"
    When the script runs: two
    And I roll back to "last-green"
    Then the steps are: one succeeded, two superseded

  Scenario: Only some paths go back: what was done stays reusable, and the result says how much
    Given the agent works and saves: base
    When the script runs: one, two
    And I roll back only "work.txt" to "base"
    Then the result says "2 completed steps came after checkpoint 2: they stay reusable"
    And the steps are: one succeeded, two succeeded

  Scenario: A checkpoint knows which step was done last
    When the script runs: one, two
    And step "three" runs "exit 1"
    And I save checkpoint "here"
    Then checkpoint "here" was made after step "two"
    When I roll back to "first"
    And I save checkpoint "there"
    Then checkpoint "there" was made after no step

  Scenario: The state in which a pending step began is kept
    Given the agent writes "by hand\n" to "work.txt"
    When step "one" is killed while its command runs
    And I run "plan policy auth --max-checkpoints 1"
    And I run "plan policy auth --keep-recent 0"
    And I run "plan save auth"
    And I run "plan save auth"
    Then the "pre_run" checkpoint was kept for a step
    When I run "plan checkpoint delete -p auth 2 --yes"
    Then it exits with 5 and says "a step that has not come to its end began there"

  Scenario: Keys that look alike are different steps
    When the steps with these keys run, twice over:
      | key        |
      | a_b        |
      | a/b        |
      | a b        |
      | a  b       |
      | -a         |
      | "a"        |
      | \\u0041    |
      | \udcff     |
      | \\udcff    |
      | é          |
      | e\u0301    |
      | 日本語     |
      | a\nb       |
      | one\ttwo   |
    Then each of them ran once
    And all of them are listed, each with its own key

  Scenario: Words that make no step
    Then these are refused in every format, with one sentence and a hint:
      | command                                             | exit code |
      | plan run auth --reconcile true -- true              | 125       |
      | plan run auth --reuse-failed -- true                | 125       |
      | plan run auth --env HOME -- true                    | 125       |
      | plan run auth --step '' -- true                     | 125       |
      | plan run auth --step ' ' -- true                    | 125       |
      | plan run auth --step one --env A=1 -- true          | 125       |
      | plan run auth --step one                            | 125       |
      | plan steps nothing                                  | 3         |
    And no file, no ref, no index and no row has changed
