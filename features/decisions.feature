Feature: Decisions
  A plan records its choices as a tree. Before each one a checkpoint is taken, so that the sandbox
  can be brought back to just before it. A decision holds while the plan's timeline holds it; the
  newest one that holds is the current one, and new checkpoints carry its id.

  Background:
    Given a repository with plan "auth"

  Scenario: A choice is recorded, with a checkpoint before it
    Given the agent writes "begun\n" to "work.txt"
    When I run "plan decision add auth 'use SQLite' --rationale 'no server' --alternative PostgreSQL --alternative ' ' --format json"
    Then it succeeds
    And its JSON has data.decision.number "D1"
    And its JSON has data.decision.state "live"
    And its JSON has data.decision.current true
    And its JSON has data.decision.checkpoint.state "complete"
    And its JSON has data.decision.rationale "no server"
    And its JSON has data.decision.alternatives ["PostgreSQL"]
    And the checkpoint before D1 is of type "pre_decision" and has its id
    Given the agent writes "gone wrong\n" to "work.txt"
    When I run "plan rollback auth before:D1 --yes"
    Then it succeeds
    And "work.txt" holds "begun\n"
    And no decision holds

  Scenario: What is made while a decision is current carries its id
    Given the decisions: one, two
    And the agent works and saves: a
    And the decision "three" after D1
    And the agent works and saves: b
    Then the checkpoints carry: initial none, pre_decision D1, pre_decision D2, a D2, pre_decision D3, b D3
    When I roll back to "a"
    Then the newest checkpoints carry: pre_rollback D3, rollback D2
    And the decisions that hold are: D1, D2
    When I undo
    Then the newest checkpoints carry: pre_rollback D2, rollback D3
    And the decisions that hold are: D1, D2, D3
    When I run "plan save auth --decision D1 --label c"
    Then the newest checkpoints carry: c D1
    And the rollback to "a" counts 1 decision after it

  @storage
  Scenario: Runs and steps that begin while a decision is current carry its id
    Given I run "plan run auth -- true"
    And the decisions: one
    And I run "plan run auth --step build -- touch built"
    And the decisions: two
    And I run "plan run auth --step test -- touch tested"
    And I run "plan run auth --step build -- touch built"
    And I run "plan run auth -- true"
    Then the runs carry: 1 none, 2 D1, 3 D2, 4 D2
    And the steps carry: build D1, test D2
    And a run that carries a decision that does not exist is refused by the database
    When I run "plan runs show auth 2 --format json"
    Then its JSON says that run 2 is of D1
    When I run "plan steps auth --format json"
    Then its JSON says that step "test" is of D2
    When I run "plan decision show auth D2 --format json"
    Then its JSON has data.made {"checkpoints": [5, 6], "runs": [3, 4], "steps": ["test"]}
    When I run "plan decision show auth D1"
    Then it shows: made_checkpoints: 3 | made_runs: 2 | made_steps: build
    When I run "plan decision show auth D2 --format rich"
    Then it shows: Made checkpoints | 5, 6 | Made runs | 3, 4 | Made steps | test

  Scenario: A run and a step that begin after a decision was taken back belong to the one before
    Given the decisions: one
    And the agent works and saves: a
    And the decisions: two
    When I roll back to "a"
    And I run "plan run auth --step build -- touch built"
    Then the runs carry: 1 D1
    And the steps carry: build D1

  Scenario: A block of Python code and its steps carry the current decision, too
    Given the decisions: one
    When Python runs the steps: add(1, 2), nothing()
    Then the runs carry: 1 D1
    And the steps carry: add D1, nothing D1

  @storage
  Scenario: Rows of an earlier version learn which decision was current
    Given I run "plan run auth --step early -- true"
    And the decisions: one
    And I run "plan run auth --step build -- touch built"
    And I run "plan run auth -- true"
    When the database is taken back to revision 0005
    And I run "plan list"
    Then it succeeds
    And the runs carry: 1 none, 2 D1, 3 D1
    And the steps carry: early none, build D1

  Scenario: A decision that was taken off the timeline comes back with an undo
    Given the decisions: one, two, three
    When I roll back to "before:D2"
    Then the decisions that hold are: D1
    And the result counts 2 decisions after it
    When I run "plan decision add auth four --parent D1"
    Then the decisions that hold are: D1, D4
    When I undo
    Then the decisions that hold are: D1, D2, D3
    And the current decision is D3
    When I redo
    Then the decisions that hold are: D1, D4

  Scenario: The tree
    Given the decisions: storage
    And the decision "use SQLite" after D1
    And the decision "write ahead" after D2
    And the decision "command line" after none
    And the decision "keep a copy" after D1
    When I run "plan decision tree auth"
    Then it prints exactly:
      """
      |- D1 storage
      |  |- D2 use SQLite
      |  |  `- D3 write ahead
      |  `- D5 keep a copy [current]
      `- D4 command line
      """
    When I roll back to "before:D3"
    And I run "plan decision tree auth"
    Then it prints exactly:
      """
      `- D1 storage
         `- D2 use SQLite [current]
      """
    When I run "plan decision tree auth --all"
    Then it prints exactly:
      """
      |- D1 storage
      |  |- D2 use SQLite [current]
      |  |  `- D3 write ahead [superseded]
      |  `- D5 keep a copy [superseded]
      `- D4 command line [superseded]
      """
    When I run "plan decision tree auth --all --format json"
    Then its JSON has data.decisions.2.number "D3"
    And its JSON has data.decisions.2.depth 2
    And its JSON has data.decisions.2.parent "D2"

  Scenario: The tree on a terminal
    Given the decisions: use SQLite for the rows because it is everywhere and needs no server that somebody has to look after
    And the decision "write ahead" after D1
    And I roll back to "before:D2"
    When I run "plan decision tree auth --all --format rich" with COLUMNS=80
    Then it prints exactly:
      """
      Decisions of plan auth
      └─ D1 use SQLite for the rows because it is everywhere and needs no server that
            somebody has to look after  current
         └─ D2 write ahead  superseded
      """
    When I run "plan decision tree auth --all --format rich" with COLUMNS=160
    Then it shows: └─ D1 use SQLite | look after  current | checkpoint 2  just now | └─ D2 write ahead  superseded | checkpoint 3  just now
    And no line is longer than 160
    When I run "plan decision tree auth --format rich"
    Then it shows: D1 use SQLite | 1 other not shown (--all shows them)
    When I run "plan decision tree auth --format rich -v" with COLUMNS=160
    Then it shows the id behind D1

  Scenario: Lists and single ones
    When I run "plan decision list auth --format rich"
    Then it shows: Plan auth has no decisions that hold; plan decision add auth TEXT records one.
    And I run "plan decision tree auth"
    And it prints exactly:
      """
      """
    When I run "plan decision add auth 'use SQLite' --rationale why --format rich"
    Then it shows: ✓ Decision D1 of plan auth is recorded, after checkpoint 2
    When I run "plan decision add auth 'write ahead' --parent current --format rich -v" in the sandbox
    Then it shows: Decision D2 | Follows | D1 | Checkpoint | 3 complete
    When I run "plan decision list auth"
    Then it shows: D1 | live | 2 | use SQLite | D2 | current | D1 | 3 | write ahead
    When I run "plan decision list auth --format rich -v"
    Then it shows: decision | follows | what | D1 | D2 | current
    And it shows the id behind D2
    When I run "plan decision show" in the sandbox
    Then it shows: decision: D2 | state: current | follows: D1 | text: write ahead | rationale: - | checkpoint: 3 complete
    When I run "plan decision show auth 1 --format rich"
    Then it shows: Decision D1 | live | use SQLite | why
    When I run "plan decision show auth {id of D1} --print id"
    Then it shows the id behind D1
    When I run "plan ops auth --format rich -v"
    Then it shows: decision | done | write ahead

  Scenario: What cannot be decided is refused, and nothing changes
    Given the decisions: one, two
    And I roll back to "before:D2"
    And plan "other"
    And a decision of plan "other"
    And plan "over"
    And a decision of plan "over"
    And plan "over" is in state "applied"
    Then these are refused in every format, with one sentence and a hint:
      | command                                              | exit code |
      | plan decision add auth ''                            | 2         |
      | plan decision add auth '  '                          | 2         |
      | plan decision add auth                               | 2         |
      | plan decision add auth a b                           | 2         |
      | plan decision add nothing x                          | 3         |
      | plan decision add auth x --parent D9                 | 3         |
      | plan decision add auth x --parent D2                 | 5         |
      | plan decision add auth x --parent ''                 | 3         |
      | plan decision add auth x --parent {id of other's D1} | 5         |
      | plan decision add over x                             | 5         |
      | plan decision show auth {beginning of D1 and D2}     | 4         |
      | plan decision show auth nothing                      | 3         |
      | plan decision show auth 99                           | 3         |
      | plan decision show auth -- --help                    | 3         |
      | plan save auth --decision D2                         | 5         |
      | plan save auth --decision D9                         | 3         |
      | plan rollback auth before:D9 --yes                   | 3         |
      | plan rollback auth before:{id of other's D1} --yes   | 5         |
    And no file, no ref, no index and no row has changed

  Scenario: A text without end is refused
    When I try to decide something of 10001 characters
    Then it is refused with exit code 2
    When I try to decide something of 10000 characters
    Then it is not refused

  Scenario: Text that would play tricks is kept and shown harmless
    When I decide "a bell \x07, a colour \x1b[31m, a line\nand a byte \udcff"
    And I run "plan decision tree auth"
    Then it shows: a bell \x07, a colour \x1b[31m, a line\nand a byte
    When I run "plan decision show auth --format rich"
    Then it shows: a bell \x07, a colour \x1b[31m

  @storage
  Scenario: Killed at every step, a decision is there with its checkpoint or not at all
    Given the decisions: one
    And the agent writes "unsaved\n" to "work.txt"
    When deciding "two" is killed at each of its failpoints, and each time the next command is run
    Then the failpoints were all those of: create, decision
    And every time the plan was usable at once
    And every time complete checkpoints and refs were one to one, connected, and nothing was half done
    And every time the decision held with its checkpoint, or was listed as unfinished and nothing followed from it

  Scenario: A project that wants no checkpoints before decisions
    Given plan.toml is "triggers = []\n"
    When I run "plan decision add auth one --format json"
    Then its JSON has data.decision.checkpoint null
    And its JSON has data.decision.revertible false
    And the decisions that hold are: D1
    And the checkpoints carry: initial none
    When I run "plan decision tree auth"
    Then it prints "D1 one [current] [no checkpoint]"
    When I run "plan rollback auth before:D1 --yes"
    Then it exits with 3 and says "has no checkpoint 'before:D1'"

  Scenario: A checkpoint that cannot be taken is a decision that was not made
    Given the decisions: one
    When "plan decision add auth two" meets a full disk at "create.objects_written"
    Then it exits with 1
    And the decisions that hold are: D1
    And decision D2 is unfinished
    When I run "plan decision add auth x --parent D2"
    Then it exits with 5 and says "never finished"

  Scenario: Rows that are lost come back from the refs with their decision
    Given the decisions: one
    And the row of the checkpoint before D1 is lost
    When I run "plan save auth"
    Then it succeeds
    And the checkpoint before D1 is of type "pre_decision" and has its id

  @storage
  Scenario: Several decide at once
    When 4 processes each decide something
    Then 4 decisions hold, each with its own number and checkpoint
    And rows and refs agree, and nothing is half done
