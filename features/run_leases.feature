Feature: One run at a time
  A run is its holder's as long as it is heard of. Who was not heard of for too long has lost it: it
  ends its command and writes nothing more, neither rows nor refs.

  Background:
    Given a repository with plan "auth"
    And the agent works and saves: one

  @storage
  Scenario: A holder that was stopped for longer than its lease has lost the run
    Given a holder with a short lease runs "echo $$ >pid; exec sleep 600" in plan "auth"
    And it has written "pid"
    When the holder is stopped for longer than its lease
    And I run "plan rollback auth one --yes"
    Then it exits with 5
    When I run "plan run auth -- sh -c 'echo newer >work.txt'"
    Then it succeeds
    And the process whose id is in "pid" is gone
    And run 1 is interrupted
    Given I take stock of everything
    When the holder goes on
    Then it has lost its lease
    And no file, no ref, no index and no row has changed

  Scenario: A late rollback does not overwrite a newer run
    Given a holder with a short lease runs "echo bad >work.txt; exit 1" in plan "auth", and stops itself at "run.finalizing"
    When it has been stopped for longer than its lease
    And I run "plan run auth -- sh -c 'echo newer >work.txt'"
    Then it succeeds
    Given I take stock of everything
    When the holder goes on
    Then it has lost its lease
    And no file, no ref, no index and no row has changed
    And "work.txt" in the sandbox holds "newer"

  Scenario: A lease that is renewed does not end
    Given a holder with a short lease runs "sleep 1.5; echo done >work.txt" in plan "auth"
    When more time than its lease has passed
    And I run "plan run auth -- true"
    Then it exits with 125 and says "run 1 of this plan is active"
    And the holder ends with 0
    And "work.txt" in the sandbox holds "done"

  Scenario: A recorded abort beats a success that happens at the same time
    When somebody asks for the end of a run with rollback just when its command "echo good >work.txt" has succeeded
    Then it exits with 130
    And run 1 is rolled_back and ended with 0
    And the sandbox is exactly as it was at "one"

  Scenario: A run that is finishing blocks one that would not wait, and a replacement waits for it
    When another run is tried while a run is finishing, and one that replaces it
    Then the first is rejected, and the second ran when the finishing one was over

  @unmeasured
  Scenario Outline: Two processes start runs at once: <strategy>
    When two processes run commands in plan "auth" at once with --if-running <strategy>, again and again
    Then never were two commands alive together
    And never was the newest run's work overwritten
    And rows and refs agree, and nothing is half done

    Examples:
      | strategy  |
      | reject    |
      | interrupt |
      | rollback  |

  Scenario Outline: A run is aborted from another process: <action>
    Given plan "auth" runs "sh -c 'echo bad >work.txt; touch begun; sleep 600'" in the background
    And it has made "begun"
    When I run "plan abort auth --action <action> --format json"
    Then its JSON has data.run.status "<status>"
    And what ran in the background exits with 130 and says "run 1 was interrupted"
    And "work.txt" in the sandbox holds "<text>"

    Examples:
      | action    | status      | text   |
      | interrupt | interrupted | bad    |
      | rollback  | rolled_back | at one |

  Scenario: A live run is shown, and what it needs is kept
    Given the agent writes "by hand" to "work.txt"
    And plan "auth" runs "sleep 600" in the background
    When I run "plan status auth"
    Then it prints "run: 1 running: sleep 600"
    When I run "plan status auth --format rich"
    Then it prints "1 running: sleep 600"
    When I run "plan save auth"
    And I run "plan checkpoint delete auth before:1 --yes"
    Then it exits with 5 and says "the run that is active needs it"
    When I run "plan abort auth"
    And I run "plan checkpoint delete auth before:1 --yes"
    Then it succeeds
    When I run "plan abort auth"
    Then it exits with 1 and says "has no run to abort"

  Scenario: The replaced run's rollback fails: nothing is run over it
    Given plan "auth" runs "sh -c 'echo bad >work.txt; sleep 600'" in the background, and git "checkout-index" fails
    When I run "plan run auth --if-running rollback -- touch ran"
    Then it exits with 125 and says "was ended, but not rolled back"
    And "ran" is not in the sandbox
    And what ran in the background exits with 125 and says "was not rolled back"

  Scenario: An abort with a rollback that fails says so
    Given plan "auth" runs "sh -c 'echo bad >work.txt; sleep 600'" in the background, and git "checkout-index" fails
    When I run "plan abort auth --action rollback"
    Then it exits with 1 and says "was ended, but not rolled back"
