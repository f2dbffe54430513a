Feature: Runs
  `plan run -- COMMAND` takes a checkpoint, runs a command in the sandbox and says how it went with
  the command's own exit code. What a failed or interrupted command did can be taken back.

  Background:
    Given a repository with plan "auth"
    And the agent works and saves: one

  Scenario: A command runs in the sandbox, and its words, streams and code are its own
    When I run "plan run auth -- sh -c 'echo to out; echo to err >&2; pwd -P >where; exit 3'"
    Then it exits with 3
    And it prints nothing but "to out"
    And it notes "to err"
    And it notes "plan rollback auth before:1 takes its changes back"
    And "where" in the sandbox holds the path of the sandbox
    And run 1 is error and ended with 3

  Scenario: What follows -- is not ours to read
    When I run "plan run -- sh -c 'echo $0 $* >words' --help -p -- --format json" in the sandbox
    Then it succeeds
    And "words" in the sandbox holds "--help -p -- --format json"

  Scenario: The command knows its plan, its run and its sandbox, and keeps its own environment
    When I run "plan run auth -- sh -c 'env | grep -E ^PLAN_\|^GIT_ >variables'" with GIT_EDITOR=mine
    Then it succeeds
    And its variables are those of the caller, and of plan "auth" and run 1

  Scenario: The checkpoint before it is complete when the command starts, and before:RUN names it
    Given the agent writes "by hand\n" to "work.txt"
    And I remember the sandbox as "there"
    When I run "plan run auth -- sh -c 'plan_was_here=1; cp work.txt seen; echo new >work.txt'"
    Then it succeeds
    And "before:1" is a checkpoint of type pre_run
    When I roll back to "before:1"
    Then the sandbox is exactly as it was at "there"

  Scenario: If nothing has moved since the latest checkpoint, that one protects the run
    When I run "plan run auth --post-checkpoint -- sh -c 'echo new >work.txt'"
    Then "before:1" and "one" are the same checkpoint
    And the timeline is: initial, one, post_run
    When I run "plan run auth --on-failure rollback -- sh -c 'echo bad >work.txt; exit 3'"
    Then it exits with 3
    And "before:2" is a checkpoint of type post_run
    And "work.txt" in the sandbox holds "new"

  Scenario: An unchanged run after another adds no checkpoint
    When I run "plan run auth -- true"
    And I run "plan run auth -- false"
    And I run "plan run auth --verify true -- true"
    Then "before:1" and "one" are the same checkpoint
    And "before:3" and "one" are the same checkpoint
    And "last-green" and "one" are the same checkpoint
    And the timeline is: initial, one
    When I run "plan rollback auth before:2 --yes --format json"
    Then its JSON has data.impact.runs_after_cp 3

  Scenario: A run after something that a rollback could take back has a checkpoint of its own
    Given I run "plan run auth --step build -- true"
    When I run "plan run auth -- true"
    Then "before:2" is a checkpoint of type pre_run
    When I run "plan run auth -- true"
    Then "before:2" and "before:3" are the same checkpoint
    When I run "plan decision add auth 'cookies'"
    And I run "plan rollback auth latest --yes"
    And I run "plan run auth -- touch new"
    And I run "plan run auth -- true"
    Then "before:4" is a checkpoint of type rollback
    And "before:5" is a checkpoint of type pre_run
    And the plan has 5 runs and 2 "pre_run" checkpoints

  Scenario: After a rollback over three checkpoints the next run sees the restored state
    Given the agent works and saves: two, three
    When I roll back to "one"
    And I run "plan run auth -- cp work.txt seen"
    Then it succeeds
    And "seen" and "work.txt" in the sandbox are the same
    When I roll back to "before:1"
    Then the sandbox is exactly as it was at "one"

  Scenario: A command that fails is rolled back if that is wanted, and undo brings its files back
    When I run "plan run auth --on-failure rollback -- sh -c 'echo bad >work.txt; touch more; exit 7'"
    Then it exits with 7
    And it notes "plan undo auth brings its files back"
    And the sandbox is exactly as it was at "one"
    And run 1 is rolled_back and ended with 7
    When I undo
    Then "work.txt" in the sandbox holds "bad"

  Scenario: What succeeds is kept
    When I run "plan run auth --on-failure rollback -- sh -c 'echo good >work.txt'"
    Then it succeeds
    And "work.txt" in the sandbox holds "good"
    And run 1 is success and ended with 0

  Scenario: A run that takes too long is ended
    When I run "plan run auth --timeout 0.3 --on-failure rollback -- sh -c 'echo bad >work.txt; sleep 100'"
    Then it exits with 124
    And it notes "was ended after 0.3 s"
    And the sandbox is exactly as it was at "one"
    When I run "plan run auth --timeout 0.3 -- sh -c 'echo kept >work.txt; sleep 100'"
    Then it exits with 124
    And run 2 is timeout and ended with 143
    And "work.txt" in the sandbox holds "kept"

  Scenario: A check must pass, too, and makes the checkpoint green
    When I run "plan run auth --verify 'grep -q good work.txt' -- sh -c 'echo good >work.txt'"
    Then it succeeds
    And "last-green" is a checkpoint of type post_run
    And run 1 is success and ended with 0
    When I run "plan run auth --verify 'exit 9' --on-failure rollback -- sh -c 'echo bad >work.txt'"
    Then it exits with 9
    And it notes "run 2 did not pass its check, which ended with 9"
    And run 2 is rolled_back and ended with 9
    And run 2 started before the checkpoint after it, and its command ended with 0
    And "work.txt" in the sandbox holds "good"
    And "last-green" is the checkpoint after run 1

  Scenario: What a command left can be saved, also when it failed
    When I run "plan run auth --post-checkpoint -- sh -c 'echo half >work.txt; exit 1'"
    Then it exits with 1
    And "latest" is a checkpoint of type post_run

  Scenario Outline: A command that cannot be started: <what>
    Given the agent writes "no program" to "file"
    When I run "plan run auth --on-failure rollback -- <command>"
    Then it exits with <code>
    And it notes "<words>"
    And run 1 is error and ended with <code>

    Examples:
      | what           | command | code | words              |
      | not there      | ./nope  | 127  | ./nope was not found |
      | not executable | ./file  | 126  | ./file cannot be executed |

  Scenario: A command that is killed ends as a shell would say it
    When I run "plan run auth -- sh -c 'kill -9 $$'"
    Then it exits with 137

  Scenario: With JSON the command's output makes room for the envelope
    Given the agent writes "by hand\n" to "work.txt"
    When I run "plan run auth --format json -- echo hello"
    Then it succeeds
    And it notes "hello"
    And its JSON has data.run.status "success"
    And its JSON has data.checkpoint.checkpoint_type "pre_run"
    When I run "plan run auth --format json --on-failure rollback -- false"
    Then its JSON has exit_code 1
    And its JSON has status "ok"
    And its JSON has data.rollback.rollback_summary.verified true

  Scenario: The envelope can go to a file of its own, and the streams stay as they are
    When I run "plan run auth --format json --result answer.json -- echo hello"
    Then it succeeds
    And it prints nothing but "hello"
    And the envelope in "answer.json" has data.run.exit_code 0
    When I run "plan run auth --result answer.json -- false"
    Then it exits with 1
    And the envelope in "answer.json" has exit_code 1
    When I run "plan run auth --result answer.json --cwd nowhere -- true"
    Then it exits with 125
    And the envelope in "answer.json" has error.details.exit_code 2
    When I run "plan run auth --result answer.json -- true"
    And I run "plan run auth --nonsense --result answer.json -- true"
    Then it exits with 125
    And the envelope in "answer.json" has error.code "usage"
    And no other file was left beside it

  Scenario: That the envelope cannot be written is told before anything is run
    Given the agent runs "mkfifo pipe"
    When I run "plan run --result pipe -- touch ran" in the sandbox
    Then it exits with 125 and says "is not a plain file"
    Given the user runs "mkdir -m 0555 closed"
    When somebody without privileges runs "plan run auth --result closed/a.json -- touch ran"
    Then it exits with 125 and says "nothing can be written"
    And "ran" is not in the sandbox

  Scenario: A directory of the sandbox can be chosen, and none outside of it
    Given the agent links "out" to ".."
    When I run "plan run auth --cwd src/lib -- touch here"
    Then it succeeds
    And "src/lib/here" in the sandbox holds nothing
    And these are refused with 125, and nothing is run:
      | command                              | code | says                          |
      | plan run auth --cwd .. -- true       | 2    | is not inside the sandbox     |
      | plan run auth --cwd out -- true      | 2    | is not inside the sandbox     |
      | plan run auth --cwd / -- true        | 2    | is not inside the sandbox     |
      | plan run auth --cwd README.md -- true | 2   | there is no directory         |
      | plan run auth                        | 2    | no command is given           |
      | plan run auth --                     | 2    | no command is given           |
      | plan run nothing -- true             | 3    | there is no plan              |
      | plan run auth --timeout soon -- true | 2    | is not a span of time         |
      | plan run auth --timeout 0 -- true    | 2    | is not a time to wait         |
      | plan run auth --nonsense -- true     | 2    | no such option                |
      | plan run auth more -- true           | 2    | unexpected extra argument     |
      | plan run auth --result no/dir -- true | 2   | does not exist                |

  Scenario: Without a checkpoint nothing is run, unless that is allowed
    When "plan run auth -- touch ran" is run while git "write-tree" fails
    Then it exits with 125 and says "No space left on device: git write-tree could not write"
    And "ran" is not in the sandbox
    And run 1 is error
    When "plan run auth --allow-unprotected -- touch ran" is run while git "write-tree" fails
    Then it exits with 0 and says "this run is not protected"
    When "plan run auth --allow-unprotected --on-failure rollback -- false" is run while git "write-tree" fails
    Then it exits with 125 and says "was not rolled back: it was not protected"
    And run 3 is error and ended with 1

  Scenario: An unprotected run goes on whatever kept the checkpoint from being made
    When "plan run auth --allow-unprotected --wait 0.1 -- touch ran" is run while another process holds the sandbox
    Then it exits with 0 and says "this run is not protected: the sandbox"
    And "ran" in the sandbox holds nothing
    When "plan run auth --allow-unprotected -- true" is run while git "write-tree" finds the disk full
    Then it exits with 0 and says "this run is not protected"
    Given the agent runs "sh -c 'rm .gitignore && mkfifo .gitignore'"
    When I run "plan run auth --allow-unprotected --on-failure rollback -- false"
    Then it exits with 125 and says "was not rolled back: it was not protected"
    And run 3 is error and ended with 1

  Scenario: A rollback that fails is told, with the checkpoint that holds everything
    When "plan run auth --format json --on-failure rollback -- rm work.txt nope" is run while git "checkout-index" fails
    Then it exits with 125
    And its JSON has status "error"
    And its JSON has data.run.status "error"
    And the error names the safety checkpoint
    When I run "plan undo auth"
    Then it succeeds

  Scenario: Checkpoints can be made inside a run
    When a run of plan "auth" saves checkpoint "inside" while it runs
    Then it succeeds
    And "inside" is a checkpoint of type manual

  Scenario: A rollback says how many runs it leaves behind
    Given I run "plan run auth -- touch two"
    And I run "plan run auth -- touch three"
    When I run "plan rollback auth before:2 --yes --format json"
    Then its JSON has data.impact.runs_after_cp 1
    When I run "plan runs auth --format json"
    Then its JSON has data.runs.0.number 2
    When I run "plan ops auth --limit 20"
    Then it prints "run 2"
    When I run "plan runs auth"
    Then it prints "touch three"
    When I run "plan runs --format rich -v auth"
    Then it prints "touch three"
    When I run "plan runs show auth 2 --format rich"
    Then it prints "touch three"
    When I run "plan runs show auth 2"
    Then it prints "command: touch three"

  Scenario: A run is known by its number, its id and the beginning of its id
    Given the agent writes "by hand\n" to "work.txt"
    And I run "plan run auth -- true"
    Then run 1 is found by its id and by a unique beginning
    When I run "plan runs show auth"
    Then it exits with 2 and says "no run is named"
    When I run "plan runs show auth 7"
    Then it exits with 3 and says "has no run"
    When I run "plan rollback auth before:7 --yes"
    Then it exits with 3
    And these references name nothing:
      | before:no-run |

  Scenario: What is left running in the background ends with the command
    When I run "plan run auth -- sh -c 'sleep 100 & echo $! >pid'"
    Then it succeeds
    And it notes "ended what the command left running"
    And the process whose id is in "pid" is gone

  Scenario: Nothing is run in a plan that is over
    Given the plan is in phase "apply" and state "applied"
    When I run "plan run auth -- touch ran"
    Then it exits with 125 and says "nothing is run in it"
    And "ran" is not in the sandbox

  Scenario Outline: A run that is active stands in the way of <command>
    Given I run "plan rollback auth first --yes"
    And plan "auth" runs "sleep 600" in the background
    When I run "plan <command>"
    Then it exits with 5 and says "run 1 of plan 'auth' is active"
    When I run "plan <command> --dry-run"
    Then it exits with 5 and says "--abort-run"
    When I run "plan <command> --abort-run --dry-run"
    Then it succeeds
    And it notes "run 1 of plan auth would be ended first"
    When I run "plan <command> --abort-run"
    Then it succeeds
    And it notes "run 1 was ended: interrupted"
    And the sandbox is exactly as it was at "one"
    And what ran in the background exits with 130 and says "run 1 was interrupted"

    Examples:
      | command                 |
      | rollback auth one --yes |
      | undo auth               |
