Feature: Runs that crash
  Whatever kills `plan run`, and whenever: the next command finds what is left of its command, ends
  it, says what to type, and the plan is as usable as before. No file is touched.

  Background:
    Given a repository with plan "auth"
    And the agent works and saves: one

  Scenario: A plan run that is killed wherever it can be blocks nobody
    When a run that fails and is rolled back is killed at each of its failpoints, and each time the next command is run
    Then no failpoint of a run was left out
    And every time the next command succeeded, and no process of the run was alive
    And every time the run was over, and its files were kept or rolled back wholly
    And every time another run could be started

  @storage
  Scenario: The orphaned command of a killed run is ended first
    Given plan "auth" runs "sh -c 'echo bad >work.txt; (trap : TERM; while :; do sleep 1; done) & echo $! >pid; sleep 600'" in the background
    And it has written "pid"
    When that plan run is killed by SIGKILL
    And I run "plan save auth"
    Then it succeeds
    And it notes "ended what run 1 had left running"
    And it notes "plan rollback auth before:1 takes its changes back"
    And it notes "plan resume auth runs it again"
    And the process whose id is in "pid" is gone
    And run 1 is interrupted
    And "work.txt" in the sandbox holds "bad"
    When I run "plan rollback auth before:1 --yes"
    Then it succeeds
    And the sandbox is exactly as it was at "one"

  Scenario: Whoever got the pid of a dead holder is not taken for it
    Given plan "auth" runs "sleep 600" in the background
    When that plan run is killed by SIGKILL
    And its pid is given to another process
    And I run "plan run auth -- true"
    Then it succeeds
    And run 1 is interrupted

  @storage
  Scenario: A run on another host is judged by its lease alone
    Given plan "auth" runs "sleep 600" in the background
    And that plan run is killed by SIGKILL, with all that it started
    And run 1 is held by another host, whose lease ends in 60 seconds
    When I run "plan run auth -- true"
    Then it exits with 125 and says "run 1 of this plan is active"
    When I run "plan rollback auth one --yes"
    Then it exits with 5
    Given run 1 is held by another host, whose lease ends in -1 seconds
    When I run "plan run auth -- true"
    Then it succeeds
    And run 1 is interrupted

  Scenario: A command that was left alone saves its own work, and does not end itself
    When a run of plan "auth" kills its plan run and saves checkpoint "orphaned"
    Then "orphaned" is a checkpoint of type manual
    And run 1 is running
    When I run "plan save auth"
    Then it succeeds
    And run 1 is interrupted

  Scenario: A crashed run can be resumed
    Given plan "auth" runs "sh -c 'echo again >>done; sleep $(cat pause)'" in the background
    And that plan run is killed by SIGKILL
    And the agent writes "0" to "pause"
    When I run "plan resume auth --dry-run --format json"
    Then its JSON has data.run.number 1
    And its JSON has data.run.status "running"
    And its JSON has data.dry_run true
    When I run "plan resume auth"
    Then it succeeds
    And run 1 is interrupted
    And run 2 is success and ended with 0
    When I run "plan resume auth"
    Then it exits with 125 and says "there is nothing to resume"

  Scenario: A crashed step is resumed as a step, and what was done before is told
    Given I run "plan run auth --step first -- true"
    And "plan run auth --step second -- sh -c 'echo again >>done'" is killed at "run.marked"
    When I run "plan resume auth --dry-run"
    Then it prints "completed	step first"
    And it prints "pending	step second"
    When I run "plan resume auth"
    Then it succeeds
    And "done" in the sandbox holds "again"
    When I run "plan steps auth"
    Then it prints "second"

  Scenario: There is nothing to resume, or it cannot be
    When I run "plan resume auth"
    Then it exits with 125 and says "there is nothing to resume"
    Given plan "auth" runs "sleep 600" in the background
    When I run "plan resume auth"
    Then it exits with 125 and says "run 1 of this plan is active"
    When I run "plan abort auth"
    Then it succeeds
    And it prints "status: interrupted"

  Scenario: Where the kernel has no /proc, ps tells the same
    Then ps lists this process as the kernel does
