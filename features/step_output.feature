Feature: What steps print is kept, up to a limit
  The output of a step is kept compressed, both streams in the order in which they came. Beyond the
  limit the oldest goes: only after a checkpoint completed, only of steps that it covers, never of
  one in flight. Exit codes and digests stay as long as the plan.

  Background:
    Given a repository with plan "auth"

  Scenario: Both streams come back byte for byte
    When step "one" runs "printf a; head -c 1 /dev/zero; printf 'b\r\n'; printf '\377err' >&2; printf 'no line end'"
    And step "one" runs the same again
    Then standard output was "a\0b\r\nno line end" both times, and standard error began with "\xfferr"

  Scenario: Output that nobody reads to its end
    Then "yes | head" through a step ends at once, and so does its replay

  Scenario: Large output passes through little memory
    Then a step that prints 128 MiB passes it on whole with 48 MiB of memory more than at rest, and so does its replay

  @storage
  Scenario: The oldest output goes after a checkpoint
    Given "plan.toml" lets steps keep 3000 bytes of output
    When steps that print 1000 random bytes each run: one, two, three, four
    Then output is kept of: two, three, four
    When I save checkpoint "now"
    Then output is kept of: three, four
    When step "one" runs the same again
    Then it succeeds
    And it notes "output pruned"
    And "one" ran once
    And plan steps says "output pruned" of: one, two

  Scenario: A checkpoint that fails drops nothing
    Given "plan.toml" lets steps keep 3000 bytes of output
    When steps that print 1000 random bytes each run: one, two, three
    And "plan.toml" lets steps keep 1 bytes of output
    And a checkpoint fails because git fails
    Then output is kept of: one, two, three
    When "plan save auth" is killed at "create.pinned"
    Then output is kept of: one, two, three
    When I save checkpoint "now"
    Then output is kept of: nothing

  Scenario: Nothing of a step in flight is dropped
    When step "one" prints 1000 random bytes and fails, and is killed when it runs again
    And "plan.toml" lets steps keep 1 bytes of output
    And I save checkpoint "now"
    Then output is kept of: one
    When step "one" runs the same again
    And I save checkpoint "later"
    Then output is kept of: nothing

  Scenario: After a rollback to the oldest checkpoint that is left, all that is valid is reused
    Given "plan.toml" lets steps keep 2500 bytes of output
    And I run "plan policy auth --max-checkpoints 3 --keep-recent 1 --undo-depth 1"
    When steps that print 1000 random bytes each run: one, two, three, four, five
    And I roll back to the oldest checkpoint after the first one
    And steps that print 1000 random bytes each run: one, two, three, four, five
    Then what was valid after the rollback was reused, and the rest ran twice

  Scenario: Killed while output is dropped, nothing is in the way
    Given "plan.toml" lets steps keep 1 bytes of output
    When steps that print 1000 random bytes each run: one, two
    And "plan save auth" is killed at "outputs.forgotten"
    Then output is kept of: nothing
    When steps that print 1000 random bytes each run: three
    And I save checkpoint "now"
    Then no file of output is left

  Scenario: Output that cannot be written down is lost, and said; the step is done all the same
    When step "one" prints 1000 random bytes while the disk takes no more of its output
    Then it succeeds
    And it notes "the output of step 'one' could not be kept"
    And the steps are: one succeeded
    When step "one" runs the same again
    Then it notes "its output could not be kept"
    And "one" ran once

  Scenario Outline: Recorded output that was <damaged> is said to be so
    When steps that print 1000 random bytes each run: one
    And somebody <damaged> the recorded output
    And step "one" runs the same again
    Then it succeeds
    And it notes "its output could not be kept"
    And "one" ran once

    Examples:
      | damaged   |
      | deleted   |
      | shortened |
      | garbled   |
