Feature: Tools
  `plan tool NAME -- COMMAND` runs a command as a tool, with the checkpoints that plan.toml declares
  for it, or those that the triggers name. The call is no run, and works inside of one.

  Background:
    Given a repository with plan "auth"
    And the agent works and saves: one

  Scenario Outline: What is declared or triggered is taken: <settings>
    Given plan.toml is "<settings>"
    And the agent writes "by hand\n" to "work.txt"
    When I run "plan tool auth pytest -- sh -c 'echo new >>work.txt; exit <code>'"
    Then it exits with <code>
    And the timeline is: initial, one<more>

    Examples:
      | settings                                                                        | code | more                  |
      |                                                                                 | 0    | , pre_tool            |
      |                                                                                 | 7    | , pre_tool, on_error  |
      | triggers.enabled = ['before_tool_execute']\n                                    | 7    | , pre_tool            |
      | triggers.enabled = ['after_tool_execute']\n                                     | 0    | , post_tool           |
      | triggers.enabled = ['after_tool_execute']\n                                     | 7    | , post_tool           |
      | triggers.enabled = ['on_error']\n                                               | 0    |                       |
      | triggers.enabled = ['on_error']\n                                               | 7    | , on_error            |
      | triggers = []\n                                                                 | 7    |                       |
      | triggers = []\n[tools.pytest]\ncheckpoint = 'both'\n                            | 7    |                       |
      | [tools.pytest]\ncheckpoint = 'before'\n                                         | 0    | , pre_tool            |
      | [tools.pytest]\ncheckpoint = 'after'\n                                          | 0    | , post_tool           |
      | [tools.pytest]\ncheckpoint = 'both'\n                                           | 0    | , pre_tool, post_tool |
      | [tools.pytest]\ncheckpoint = 'both'\n                                           | 7    | , pre_tool, on_error  |
      | [tools.pytest]\ncheckpoint = 'none'\n                                           | 0    |                       |
      | [tools.pytest]\ncheckpoint = 'none'\n                                           | 7    | , on_error            |
      | [tools.pytest]\nwrites = false\n                                                | 7    |                       |
      | [tools.other]\ncheckpoint = 'none'\n                                            | 0    | , pre_tool            |

  Scenario: The checkpoint tells why it was made, for which tool and in which phase
    Given the agent writes "by hand\n" to "work.txt"
    When I run "plan tool auth ruff --format json -- sh -c 'echo to out; echo fixed >work.txt'"
    Then it succeeds
    And it notes "to out"
    And its JSON has data.checkpoint.checkpoint_type "pre_tool"
    And its JSON has data.checkpoint.metadata.reason "before tool ruff: sh -c 'echo to out; echo fixed >work.txt'"
    And its JSON has data.checkpoint.metadata.source_tool "ruff"
    And its JSON has data.checkpoint.metadata.phase "strategize"
    And its JSON has data.checkpoint_reused false
    And its JSON has data.post_checkpoint null
    And its JSON has data.declared false

  Scenario: Words, streams, directory and code are the command's own
    When I run "plan tool ruff -- sh -c 'echo to out; echo to err >&2; echo $0 $* >words; exit 3' --help -- -p" in the sandbox
    Then it exits with 3
    And it prints nothing but "to out"
    And it notes "to err"
    And it notes "tool ruff failed with 3; plan rollback auth 2 takes its changes back"
    And "words" in the sandbox holds "--help -- -p"

  Scenario: A tool that only reads and changes files all the same is reported
    Given plan.toml is "[tools.look]\nwrites = false\n"
    When I run "plan tool auth look --format json -- sh -c 'echo x >work.txt; touch a b c'"
    Then it succeeds
    And its JSON has data.unexpected_changes ["a", "b", "c", "work.txt"]
    When I run "plan tool auth look -- rm a b c work.txt"
    Then it succeeds
    And it notes "tool look is declared to only read, but changed a, b, c and 1 more"
    When I run "plan tool auth look --format json -- ls"
    Then its JSON has data.unexpected_changes []

  Scenario: A checkpoint that would say the same as the latest is used again, one saved by hand is made
    Given plan.toml is "[tools.pytest]\ncheckpoint = 'both'\n"
    When I run "plan tool auth pytest --format json -- true"
    Then its JSON has data.checkpoint.label "one"
    And its JSON has data.checkpoint_reused true
    And its JSON has data.post_checkpoint.label "one"
    And its JSON has data.post_checkpoint_reused true
    When I save checkpoint "two"
    Then the timeline is: initial, one, two
    When I run "plan tool auth pytest -- git add -A"
    Then the timeline is: initial, one, two, post_tool
    When I run "plan decision add auth 'use SQLite'"
    And I run "plan tool auth pytest -- true"
    Then the timeline is: initial, one, two, post_tool, pre_decision, pre_tool

  Scenario: A rollback counts the calls that it takes back, and undo brings them back
    When tools are called 3 times, changing files 1 times
    And I save checkpoint "two"
    And tools are called 4 times, changing files 2 times
    Then the calls that a rollback to "two" would take back are 4
    And the calls that a rollback to "one" would take back are all that the tools counted themselves
    When I roll back to "two"
    Then the calls that a rollback to "one" would take back are 3
    When tools are called 2 times, changing files 0 times
    Then the calls that a rollback to "one" would take back are 5
    When I undo
    Then the calls that a rollback to "one" would take back are 7

  Scenario: The status tells how many calls the latest checkpoint does not hold
    Given plan.toml is "triggers = []\n"
    When I run "plan tool auth fmt -- true"
    And I run "plan tool auth fmt -- touch made"
    And I run "plan status auth --format json"
    Then its JSON has data.tool_calls_since_latest 2
    When I run "plan status auth --format rich"
    Then it shows: Tool calls since | 2
    When I run "plan save auth"
    And I run "plan status auth"
    Then it shows: tool_calls_since_latest: 0

  Scenario: Checkpoints that somebody else saved around a tool count as a call, too
    When I run "plan save auth --type pre_tool --tool mine"
    And I run "plan tool auth ruff -- touch new"
    And I run "plan save auth --type pre_tool --tool mine"
    Then the calls that a rollback to "one" would take back are 3

  Scenario: Inside of a run it is a part of the run; beside one it is refused
    When I run "plan tool auth ruff -- true" inside of a run
    Then it succeeds
    And run 1 is success and ended with 0
    And the timeline is: initial, one
    When plan "auth" runs "sleep 600" in the background
    And I run "plan tool auth ruff --format json -- touch never"
    Then it exits with 125
    And its JSON has error.details.exit_code 5
    And "never" is not in the sandbox
    When I run "plan abort auth"
    And I run "plan tool auth ruff -- touch now"
    Then it succeeds

  Scenario: What a tool leaves running is ended
    When I run "plan tool auth server -- sh -c 'sleep 600 & exit 0'"
    Then it succeeds
    And it notes "ended what the tool left running"

  Scenario: An interrupted tool ends, and what it left is saved
    Given tool "slow" is called with "sh -c 'echo half >work.txt; touch begun; sleep 600'" in the background
    When its caller gets SIGTERM
    Then what ran in the background exits with 130 and says "tool slow failed with 130"
    And the timeline is: initial, one, on_error

  Scenario: What cannot be called is said, and nothing is recorded
    When I run "plan tool auth ruff -- no-such-program"
    Then it exits with 127 and says "no-such-program was not found"
    When I run "plan tool auth ruff -- /etc/passwd"
    Then it exits with 126 and says "cannot be executed"
    Given I take stock of everything
    When I run "plan tool nothing ruff -- true"
    Then it exits with 125 and says "nothing"
    When I run "plan tool auth ruff"
    Then it exits with 125 and says "no command is given"
    When I run "plan tool -- true" in the sandbox
    Then it exits with 125 and says "no tool is named"
    When I run "plan tool auth 'rm -rf' -- true"
    Then it exits with 125 and says "cannot be the name of a tool"
    When I run "plan tool auth ruff --cwd .. -- true"
    Then it exits with 125 and says "is not inside the sandbox"
    And no file, no ref, no index and no row has changed

  Scenario: A block of Python code as a call
    Given plan.toml is "[tools.edit]\ncheckpoint = 'both'\n[tools.look]\nwrites = false\n"
    When Python code calls tool "edit" and writes "new" to "work.txt"
    Then the timeline is: initial, one, post_tool
    When Python code calls tool "edit" and writes "bad" to "work.txt" and raises ValueError
    Then the call raised ValueError
    And the timeline is: initial, one, post_tool, on_error
    When Python code calls tool "look" and writes "odd" to "work.txt"
    Then the call changed unexpectedly: work.txt
    And the calls that a rollback to "one" would take back are 3

  Scenario: A Python function as a tool, inside of a block that is a run
    Given plan.toml is "[tools.edit]\ncheckpoint = 'after'\n"
    When a function that is tool "edit" writes "new" to "work.txt", inside of a run
    Then the function returned what it returns
    And the timeline is: initial, one, post_tool
    And the calls that a rollback to "one" would take back are 1

  Scenario: A coroutine as a tool is called when it is awaited, and a generator is refused
    Given plan.toml is "[tools.edit]\ncheckpoint = 'after'\n"
    When a coroutine that is tool "edit" writes "new" to "work.txt"
    Then the function returned what it returns
    And the timeline is: initial, one, post_tool
    When a coroutine that is tool "edit" writes "bad" to "work.txt" and raises ValueError
    Then the timeline is: initial, one, post_tool, on_error
    And the last call of a tool is logged with exit code 1
    And a generator that is tool "edit" is refused, and so is an asynchronous one

  Scenario: Killed between its steps, a call stands in nobody's way
    Given the agent writes "by hand\n" to "work.txt"
    When "plan tool auth ruff -- touch never" is killed at "tool.protected"
    Then the timeline is: initial, one, pre_tool
    When "plan tool auth ruff -- touch never" is killed at "tool.begun"
    Then "never" is not in the sandbox
    When "plan tool auth ruff -- sh -c 'touch new; exit 3'" is killed at "tool.ended"
    Then the timeline is: initial, one, pre_tool
    When "plan tool auth ruff -- sh -c 'exit 3'" is killed at "tool.saved_after"
    Then the timeline is: initial, one, pre_tool, pre_tool
    When I run "plan tool auth ruff -- touch more"
    Then it succeeds
    And I run "plan rollback auth one --yes"
    And it succeeds
    And the sandbox is exactly as it was at "one"
