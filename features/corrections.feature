Feature: Corrections
  A decision turns out wrong. `plan correct --mode revert` takes the sandbox, the decisions and the
  steps back to just before it and puts the guidance in its place; everything before it stays.
  `--mode append` only adds to it. Undo takes a revert back as it takes a rollback back.

  Background:
    Given a repository with plan "auth"

  Scenario: A middle one of twelve decisions, with thirty checkpoints, runs, steps and child plans
    Given 12 decisions in a tree, with work, runs, steps and child plans between them: at least 30 checkpoints
    When decision D5 is reverted with "do it otherwise"
    Then exactly what came after its checkpoint has left the timeline, by an independent count
    And the sandbox is exactly as it was at "before D5"
    And what has to be done again is what left, in its old order
    And child plans that began after it are invalidated, and no others
    And the corrective decision stands in the place of D5, with the revert's result as its checkpoint
    When I undo
    Then the sandbox is exactly as it was at "after everything"
    And decisions, steps, runs and child plans hold as they did at first
    When I redo
    Then the sandbox is exactly as it was at "before D5"
    And the decisions that hold are: D1, D2, D3, D4, D13
    When I undo
    And decision D3 is reverted with "and this otherwise, too"
    Then exactly what came after its checkpoint has left the timeline, by an independent count
    And the sandbox is exactly as it was at "before D3"
    When I undo
    Then the sandbox is exactly as it was at "after everything"
    And decisions, steps, runs and child plans hold as they did at first
    And rows and refs agree, and nothing is half done

  Scenario: One correction after the other, each undone
    Given the decisions: one
    And the decision "two" after D1
    And the agent works and saves: a
    And the decision "three" after D2
    And the agent works and saves: b
    When I run "plan correct auth D2 --mode revert --guidance 'two, better' --yes"
    And the agent works and saves: c
    And I run "plan correct auth D4 --mode revert --guidance 'two, best' --yes --format json"
    Then its JSON has data.history.0.decision "D2"
    And its JSON has data.history.1.decision "D4"
    And its JSON has data.history.1.corrective_decision "D5"
    And the decisions that hold are: D1, D5
    And "made at c.txt" is not there
    When I undo
    Then the decisions that hold are: D1, D4
    And "made at c.txt" holds "c\n"
    When I undo
    Then the decisions that hold are: D1, D2, D3
    And "work.txt" holds "at b\n"
    When I redo
    And I redo
    Then the decisions that hold are: D1, D5

  Scenario: A dry run tells what would happen, and changes nothing
    Given the decisions: one, two
    And the agent works and saves: a
    And I take stock of everything
    When I run "plan correct auth D2 --mode revert --guidance other --dry-run --format json"
    Then it succeeds
    And no file, no ref, no index and no row has changed
    When I then run "plan correct auth D2 --mode revert --guidance other --yes --format json"
    Then what happened is what the dry run told
    And what the dry run told of decisions happened, too

  Scenario: Adding to a decision changes no file
    Given the decisions: one
    And the decision "two" after D1
    And the agent writes "unsaved\n" to "work.txt"
    And I remember the sandbox as "before"
    When I run "plan correct auth D1 --mode append --guidance 'but not so' --dry-run"
    Then it shows: mode: append | affected | D1 | corrected | D2 | descendant | Dry run: nothing was changed.
    When I run "plan correct auth D1 --mode append --guidance 'but not so' --format rich"
    Then it shows: Correction of decision D1 (append) | D3 below it | but not so | It is about: 2 decisions
    And the sandbox is exactly as it was at "before"
    And the decisions that hold are: D1, D2, D3
    And the checkpoint before D3 is of type "pre_decision" and has its id
    When I run "plan decision tree auth"
    Then it prints exactly:
      """
      `- D1 one
         |- D2 two
         `- D3 but not so [current]
      """
    When I run "plan correct auth D1 --mode append --guidance x --dry-run --format rich"
    Then it shows: dry run | Dry run: nothing was changed.

  Scenario: A checkpoint that was pruned is named with the nearest one, which will do if asked for
    Given the decisions: one
    And the agent works and saves: a
    And the decision "two" after D1
    And the decision "three" after D2
    And the agent works and saves: b
    And the checkpoints before D2 and D3 were deleted
    When I run "plan correct auth D3 --mode revert --guidance other --yes"
    Then it exits with 5 and says "taken before decision D3, is pruned"
    And it notes "--nearest goes back to checkpoint 3"
    When I run "plan correct auth D3 --mode revert --guidance other --yes --format json"
    Then its JSON has error.details.nearest_seq 3
    When I run "plan correct auth D3 --mode revert --guidance other --nearest --yes --format json"
    Then its JSON has data.correction.nearest true
    And its JSON has data.affected_subtree.decisions.0.relation "earlier"
    And its JSON has data.correction.corrective_decision.parent "D1"
    And the decisions that hold are: D1, D4
    And "work.txt" holds "at a\n"
    When I undo
    Then the decisions that hold are: D1, D2, D3

  Scenario: A checkpoint that was never taken
    Given plan.toml is "triggers = []\n"
    And the decisions: one
    When I run "plan correct auth D1 --mode revert --guidance other --yes"
    Then it exits with 5 and says "no checkpoint was taken before decision D1"
    When I run "plan correct auth D1 --mode revert --guidance other --nearest --yes --format rich"
    Then it shows: Nearest checkpoint | 1, since its own is gone
    Given plan "other"
    And the decisions: one
    And no checkpoint of the plan can be restored
    When I run "plan correct other D1 --mode revert --guidance x --yes --nearest"
    Then it exits with 5 and says "no checkpoint was taken before decision D1"
    And it notes "--mode append"

  Scenario: What cannot be corrected is refused, and nothing changes
    Given the decisions: one, two
    And I roll back to "before:D2"
    And plan "other"
    And a decision of plan "other"
    And plan "over"
    And a decision of plan "over"
    And plan "over" is in state "applied"
    Then these are refused in every format, with one sentence and a hint:
      | command                                                                  | exit code |
      | plan correct auth D1 --mode revert --guidance '' --yes                   | 2         |
      | plan correct auth D1 --mode append --guidance ' '                        | 2         |
      | plan correct auth D1 --mode revert --yes                                 | 2         |
      | plan correct auth D1 --guidance x --yes                                  | 2         |
      | plan correct auth --mode revert --guidance x --yes                       | 2         |
      | plan correct auth D9 --mode revert --guidance x --yes                    | 3         |
      | plan correct auth D2 --mode revert --guidance x --yes                    | 5         |
      | plan correct auth D2 --mode append --guidance x                          | 5         |
      | plan correct auth {id of other's D1} --mode revert --guidance x --yes    | 5         |
      | plan correct auth {beginning of D1 and D2} --mode append --guidance x    | 4         |
      | plan correct over D1 --mode revert --guidance x --yes                    | 5         |
      | plan correct over D1 --mode append --guidance x                          | 5         |
      | plan correct auth D1 --mode revert --guidance x                          | 6         |
    And no file, no ref, no index and no row has changed

  @storage
  Scenario: Killed on its way, a revert is done altogether or not at all after the next command
    Given 12 decisions in a tree, with work, runs, steps and child plans between them: at least 30 checkpoints
    When reverting D5 is killed at sampled failpoints, and each time the next command is run
    Then every time the plan was usable at once
    And every time complete checkpoints and refs were one to one, connected, and nothing was half done
    And every time files, timeline, child plans and correction were all as before or all as asked for

  Scenario: A revert that cannot be proven takes nothing off the timeline
    Given the decisions: one
    And the decision "two" after D1
    And the agent works and saves: a
    When somebody writes to "work.txt" while D2 is reverted
    Then it is refused with exit code 11
    And the decisions that hold are: D1, D2
    And no correction is recorded
    When I undo
    Then the sandbox is exactly as it was at "a"

  Scenario: What could be reverted is in the plan's status
    When I run "plan status auth"
    Then it shows: rollback: asks first | decision: - | revertible: -
    Given the decisions: one, two
    And the checkpoints before D1 and D1 were deleted
    When I run "plan status auth --format json"
    Then its JSON has data.current_decision.number "D2"
    And its JSON has data.revertible ["D2"]
    And its JSON has data.rollback_policy.allowed true
    When I run "plan policy auth --no-confirmation"
    And I run "plan status auth --format rich"
    Then it shows: Decision | D2 two | Can be reverted | D2 | Rollback | does not ask
    When I run "plan correct auth D2 --mode revert --guidance other"
    Then it succeeds
    When I run "plan policy auth --forbid-rollback"
    And I run "plan status auth"
    Then it shows: rollback: not allowed | revertible: -
    When I run "plan correct auth D3 --mode revert --guidance other --yes"
    Then it exits with 5 and says "does not allow rollbacks"

  Scenario: A run that is active is ended first, if that is asked for
    Given the decisions: one
    And plan "auth" runs "sleep 600" in the background
    When I run "plan correct auth D1 --mode revert --guidance other --yes"
    Then it exits with 5 and says "run 1 of plan 'auth' is active"
    When I run "plan correct auth D1 --mode revert --guidance other --abort-run --dry-run"
    Then it succeeds
    And it notes "run 1 of plan auth would be ended first"
    When I run "plan correct auth D1 --mode revert --guidance other --abort-run --yes"
    Then it succeeds
    And it notes "run 1 was ended: interrupted"
    And the decisions that hold are: D2

  Scenario: Python code that has to be run again is told as such
    Given the decisions: one
    When Python runs the steps: add(1, 2)
    And I run "plan correct auth D1 --mode revert --guidance other --dry-run --format json"
    Then its JSON has data.recompute.0.text "(Python code)"
    When I run "plan correct auth D1 --mode revert --guidance other --dry-run --print id"
    Then it shows the id behind D1

  Scenario: The report on a terminal
    Given the decisions: one, two, three
    When I run "plan correct auth D2 --mode revert --guidance other --yes --format rich"
    Then it shows: Correction of decision D2 (revert) | D4 in its place | Left the timeline: 2 decisions | D2 | corrected | D3 | later | To be decided and run again | D3 | Corrections of this place so far | D2 → D4 | Revert of plan auth | plan undo auth brings everything back
    When I run "plan log auth"
    Then it shows: revert to 3: other
    When I run "plan correct auth D4 --mode revert --guidance again --yes --print id"
    Then it shows the id behind D5
