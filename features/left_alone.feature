Feature: What a rollback leaves alone, and what it tells
  What no checkpoint holds is never touched. A rollback tells what of it is there, what of it was
  there at the checkpoint and is not any more, and nothing that is not so; a dry run tells the same.

  Background:
    Given a repository with plan "auth"
    And plan.toml says: max_file_size = "1 KiB"

  Scenario Outline: A FIFO that is ignored now, and was not at the checkpoint: <where>
    Given the agent runs "<then>"
    And I save checkpoint "one"
    When the agent runs "<now>"
    And I remember the sandbox as "two"
    And I run "plan rollback auth one --dry-run --format json"
    And I then run "plan rollback auth one --yes --format json"
    Then what happened is what the dry run told
    And "<pipe>" is still a FIFO
    And the latest checkpoint tells that it does not hold: <pipe>
    When I undo
    Then the sandbox is exactly as it was at "two"
    When I redo
    Then "<pipe>" is still a FIFO

    Examples:
      | where                          | then         | now                                                             | pipe     |
      | it is new                      | true         | sh -c 'echo pipe >> .gitignore; mkfifo pipe'                    | pipe     |
      | it was there                   | mkfifo pipe  | sh -c 'echo pipe >> .gitignore'                                 | pipe     |
      | in a directory beside others   | true         | sh -c 'echo src/pipe >> .gitignore; mkfifo src/pipe'            | src/pipe |

  Scenario Outline: What was there, was not captured and is gone by now is told: <what>
    Given the agent runs "<then>"
    And I save checkpoint "one"
    When the agent runs "<now>"
    And I run "plan rollback auth one --dry-run --format json"
    Then it tells "not captured at the checkpoint, and gone since: <path>"
    When I then run "plan rollback auth one --yes --format json"
    Then what happened is what the dry run told
    And it tells "not captured at the checkpoint, and gone since: <path>"

    Examples:
      | what          | then                                  | now                                | path |
      | a large file  | sh -c 'yes \| head -c 2000 > big'     | sh -c 'rm big; echo new > f'       | big  |
      | a FIFO        | mkfifo pipe                           | sh -c 'rm pipe; echo new > f'      | pipe |

  Scenario: Set-id bits that do not come back are told
    Given the agent runs "sh -c 'echo x > tool; chmod 4755 tool; echo y > other; chmod 2755 other'"
    And I save checkpoint "one"
    When the agent runs "sh -c 'chmod 755 tool; echo changed > tool'"
    And I run "plan rollback auth one --dry-run --format json"
    Then it tells "set-id and sticky bits were not captured: tool"
    When I then run "plan rollback auth one --yes --format json"
    Then what happened is what the dry run told
    And it tells "set-id and sticky bits were not captured: tool"

  Scenario: What cannot be read is in the result as it is in the dry run
    Given the agent writes "x\n" to "d/g"
    And these modes: d 0600
    When somebody without privileges runs "plan save auth --label one"
    Then it succeeds
    When the agent writes "new\n" to "f"
    And somebody without privileges runs "plan rollback auth one --yes --format json"
    Then left alone, by its JSON, were: d/g

  Scenario: A repository that is ignored by now has not been deleted
    Given the agent runs "git init --quiet v/n"
    And I save checkpoint "one"
    When the agent writes "v\n" to ".gitignore"
    And I roll back to "one"
    Then the result says nothing more

  Scenario: A repository that undo brings into sight is left alone, and the dry run knows
    Given the agent writes "v\n" to ".gitignore"
    And the agent runs "git init --quiet v/n"
    And I save checkpoint "one"
    When the agent runs "sh -c 'rm .gitignore; mkdir v/e'"
    And I roll back to "one"
    And I run "plan undo auth --dry-run --format json"
    And I then run "plan undo auth --yes --format json"
    Then what happened is what the dry run told

  Scenario: A file that only became a chosen ignored one is not told as restored
    Given plan.toml says: include_ignored = ["conf"]
    And the agent writes "same\n" to "conf"
    And I save checkpoint "one"
    When the agent writes "conf\n" to ".gitignore"
    And I roll back to "one"
    Then restored were: .gitignore
    When I undo
    Then restored were: .gitignore

  Scenario Outline: One path that is there and in no checkpoint: <what>
    Given I save checkpoint "one"
    When the agent runs "<command>"
    And I run "plan rollback auth one --path <path> --yes"
    Then it exits with 3 and says "<reason>"

    Examples:
      | what            | command                           | path  | reason                                                         |
      | a large file    | sh -c 'yes \| head -c 2000 > big' | big   | 'big' is not in the checkpoint, and cannot be captured: larger |
      | an ignored file | sh -c 'echo > x.log'              | x.log | 'x.log' is not in the checkpoint, and ignored                  |

  Scenario: One path that was ignored and is gone
    Given the agent writes "l\n" to "logs/x.log"
    And I save checkpoint "one"
    When the agent deletes "logs"
    And I run "plan rollback auth one --path logs --yes"
    Then it exits with 3 and says "'logs' is not in the checkpoint: it was ignored"

  Scenario: The size of what was not captured is shown
    Given the agent runs "sh -c 'yes | head -c 2000 > big'"
    And I save checkpoint "one"
    When I run "plan checkpoint show auth one --format plain"
    Then it prints "big (larger than max_file_size, 2.0 KiB)"

  Scenario Outline: What cannot be looked at is not said to be gone: a directory of the mode <mode>
    Given plan.toml says: max_file_size = "1 KiB"
    And the agent runs "sh -c 'mkdir d; head -c 5000 /dev/zero > d/big; echo > d/x.log'"
    And these modes: d <before>
    When somebody without privileges runs "plan save auth --label one"
    And these modes: d <mode>
    And somebody without privileges runs "plan rollback auth one --yes --format json"
    Then it succeeds
    And it does not tell "gone since"

    Examples:
      | before | mode |
      | 0755   | 0000 |
      | 0600   | 0600 |

  Scenario Outline: Another git is at work in the sandbox: <file>
    Given the agent writes "one\n" to "f"
    And I save checkpoint "one"
    When the agent writes "two\n" to "f"
    And another git of the user's has made "<file>"
    And I run "plan rollback auth one --yes --wait 0"
    Then it exits with 8 and says "<file> exists"
    And "f" holds "two\n"

    Examples:
      | file       |
      | index.lock |
      | HEAD.lock  |
