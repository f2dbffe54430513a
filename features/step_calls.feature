Feature: Steps of Python code
  Inside a run, a function is called through `step`: its result is recorded as JSON, and a later run
  gets it from there. A step is its key and the number of the call with that key within the run.

  Background:
    Given a repository with plan "auth"

  @storage
  Scenario: A result is the same whether it is computed or recorded
    When Python runs the steps: add(1, 2), pair("é", None), add(3, 4), nothing()
    Then they gave: 3, ["é", null], 7, null
    When Python runs the steps: add(1, 2), pair("é", None), add(3, 4), nothing()
    Then they gave: 3, ["é", null], 7, null
    And the functions were called: add 2 times, pair once, nothing once
    And the Python steps are: add 1 reused, pair 1 reused, add 2 reused, nothing 1 reused

  Scenario: Other arguments drop the step and what came after it
    When Python runs the steps: add(1, 2), pair(1, 2), add(3, 4)
    And Python runs the steps: add(1, 2), pair(2, 1), add(3, 4)
    Then they gave: 3, [2, 1], 7
    And it is noted that "step 'pair' was recorded with other arguments"
    And the functions were called: add 3 times, pair 2 times

  Scenario: An exception is recorded and raised, and called again unless that is not wanted
    When Python runs the steps: fail("boom")
    Then ValueError was raised, which says "boom"
    When Python runs the steps: fail("boom")
    Then ValueError was raised, which says "boom"
    And the functions were called: fail 2 times
    When Python runs the steps, failures reused: fail("boom")
    Then FailedError was raised, which says "step 'fail' failed before: builtins.ValueError: boom"
    And the functions were called: fail 2 times

  Scenario Outline: What cannot be recorded: <what>
    When Python runs the steps: <call>
    Then <error> was raised, which says "<words>"
    And the functions were called: <called>
    And the Python steps are: <steps>

    Examples:
      | what        | call           | error       | words                                          | called    | steps           |
      | an argument | pair({1}, 2)   | UsageError  | the arguments of step 'pair' cannot be recorded | nothing   | nothing         |
      | a result    | opaque()       | FailedError | the result of step 'opaque' cannot be recorded  | opaque once | opaque 1 pending |

  Scenario: One after the other, and only in a run
    When Python runs the steps: nested()
    Then RefusedError was raised, which says "step 'nested' of plan 'auth' has not ended yet"
    When Python calls a step without a run
    Then RefusedError was raised, which says "there is no run"

  @storage
  Scenario: After a crash a step is called again, or reconciled
    When Python runs the steps and is killed at "step.ended": add(1, 2)
    And Python runs the steps: add(1, 2)
    Then they gave: 3
    And it is noted that "step 'add' was started before and its end is not known: it runs again"
    When Python runs the steps and is killed at "step.ended": add(1, 2), pair(1, 2)
    And Python runs the steps, reconciled as "found": add(1, 2), pair(1, 2)
    Then they gave: 3, "found"
    And the functions were called: add 2 times, pair once
    And the Python steps are: add 1 reused, pair 1 succeeded

  Scenario: The end of the run is not the end of the step
    When Python runs the steps: aborted()
    Then RunAbortedError was raised, which says "asked for"
    And the Python steps are: aborted 1 pending

  Scenario: A rollback takes back what Python steps did, too
    When I save checkpoint "base"
    And Python runs the steps: add(1, 2)
    And I roll back to "base"
    And Python runs the steps: add(1, 2)
    Then they gave: 3
    And the functions were called: add 2 times
    And the Python steps are: add 1 superseded, add 1 succeeded

  Scenario: A recorded result that somebody damaged is not made up
    When Python runs the steps: add(1, 2)
    And somebody damages the recorded results
    And Python runs the steps: add(1, 2)
    Then StorageError was raised, which says "the recorded result of step 'add' is damaged"
