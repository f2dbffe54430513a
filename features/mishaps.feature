Feature: Mishaps
  Whatever goes wrong around the program, it says so in one sentence, with the documented exit
  code, and leaves nothing half done.

  Background:
    Given a repository with plan "auth"
    And the agent works and saves: one, two

  Scenario: A defect of ours
    When "plan save auth" meets a defect at "create.announced"
    Then it exits with 70 and says "this is a defect of Backtrail (ZeroDivisionError)"
    And it names a log, for the user's eyes only, that tells where it happened
    When I run "plan save auth"
    Then it succeeds
    And rows and refs agree, and nothing is half done

  Scenario: A defect of ours that cannot even be written down
    When "plan save auth" meets a defect at "create.announced", and no file can be made
    Then it exits with 70 and says "no log could be written"

  Scenario: The disk is full
    When "plan save auth" meets a full disk at "create.announced"
    Then it exits with 1 and says "No space left on device"
    When I run "plan save auth"
    Then it succeeds
    And rows and refs agree, and nothing is half done

  Scenario: There is no room for the answer
    When I run "plan save auth --format json" and the disk is full that its answer goes to
    Then it exits with 1 and says "the output cannot be written: No space left on device"
    And it notes "hint: what was asked for was done; plan ops tells"
    And there are 1 plans with 4 complete checkpoints each, without a gap

  Scenario: Git is not installed
    When I run "plan save auth" where git is not installed
    Then it exits with 9 and says "git is not installed"

  Scenario: Ctrl-C while git works
    Given "plan save auth" waits for its git
    When Ctrl-C is pressed
    Then it exits with 130 and says "hint: if something was begun, the next command that writes finishes it or takes it back; plan status tells"
    And that git has ended as well
    When I run "plan save auth"
    Then it succeeds
    And rows and refs agree, and nothing is half done

  Scenario: Ctrl-C while files are being restored
    Given "plan rollback auth one --yes" waits for a git that has just removed "work.txt"
    When Ctrl-C is pressed
    Then it exits with 130 and says "if something was begun"
    And that git has ended as well
    When I run "plan status auth"
    Then it notes "is under way or was interrupted"
    When I run "plan save auth"
    Then it succeeds
    And it notes "finished the rollback"
    And the sandbox is exactly as it was at "one"
    And rows and refs agree, and nothing is half done

  Scenario: Ctrl-C in JSON
    Given "plan save auth --format json" waits for its git
    When Ctrl-C is pressed
    Then it exits with 130
    And its JSON has error.code "interrupted"
    And its JSON has error.hint "if something was begun, the next command that writes finishes it or takes it back; plan status tells"

  Scenario: Ctrl-C of a command that only looks leaves nothing to say
    Given "plan status auth --format json" waits for its git
    When Ctrl-C is pressed
    Then it exits with 130
    And its JSON has error.hint null

  Scenario: The directory one is in was deleted
    When I run "plan status auth" in a folder that was deleted
    Then it exits with 1 and says "directory"
    When I run "plan -C {repository} status auth" in a folder that was deleted
    Then it succeeds

  Scenario: Words are missing
    Then these are refused in every format, with one sentence and a hint:
      | command                             | exit code | because                       |
      | plan checkpoint label auth          | 2         | neither checkpoint nor label  |
      | plan checkpoint label auth --clear  | 2         | no checkpoint                 |
      | plan rollback 1 --yes               | 3         | that must be a plan here      |
      | plan rollback auth before:x --yes   | 3         | nothing is recorded under it  |
      | plan create other --sandbox=        | 2         | an unset variable is no place |
      | plan apply auth --onto= --yes       | 2         | nor a branch                  |

  Scenario Outline: What a checkpoint has to say was damaged: <damage>
    Given the metadata of checkpoint "one" <damage>
    When I run "plan checkpoint show auth one --format rich"
    Then it succeeds
    When I run "plan checkpoint list auth --format plain"
    Then it succeeds
    When I roll back to "one"
    Then the sandbox is exactly as it was at "one"

    Examples:
      | damage                                |
      | is cut off                            |
      | is a list                             |
      | lists what it does not hold as a word |

  Scenario: A plan whose rows are gone
    Given every checkpoint row of the plan is deleted
    When I run "plan status auth --format rich"
    Then it shows: Latest | none
    When I run "plan checkpoint list auth --format rich"
    Then it shows: Plan auth has no checkpoints.
    When I run "plan save auth"
    Then it succeeds
    And it notes "was found in the store and listed again"
    And every checkpoint can be brought back exactly
