Feature: Ignored files that are captured because plan.toml names them
  `[capture] include_ignored` names them. Whatever holds for other files holds for them, too: nothing
  in their place is destroyed, no edit is missed, and what could not be captured is left alone.

  Background:
    Given a repository with plan "auth"
    And plan.toml says: include_ignored = [".env", "data/*.sqlite"]
    And .gitignore in the sandbox says: .env, data, *.log

  Scenario: A chosen file that one path brought goes with undo, also if nothing is chosen by then
    Given the agent writes "KEY=1\n" to ".env"
    And I save checkpoint "one"
    When the agent deletes ".env"
    And I save checkpoint "two"
    And I roll back only ".env" to "one"
    And plan.toml says: include_ignored = []
    And I undo
    Then ".env" is not there
    And the sandbox is exactly as it was at "two"

  Scenario: Undo leaves no directory behind that was made for a chosen file
    Given the agent writes "rows\n" to "data/app.sqlite"
    And I save checkpoint "one"
    When the agent deletes "data"
    And I remember the sandbox as "two"
    And I roll back to "one"
    Then "data/app.sqlite" holds "rows\n"
    When I undo
    Then the sandbox is exactly as it was at "two"
    When I redo
    Then "data/app.sqlite" holds "rows\n"

  Scenario: A chosen file in a directory that could not be read is left alone, and that is said
    Given the agent writes "keys\n" to "data/a.sqlite"
    And these modes: data 0111
    When somebody without privileges runs "plan save auth --label one"
    Then it succeeds
    And the latest checkpoint tells that it does not hold: data
    When these modes: data 0755
    And somebody without privileges runs "plan rollback auth one --yes"
    Then it succeeds
    And "data/a.sqlite" holds "keys\n"

  Scenario Outline: In the place of a chosen file there is <what>
    Given the agent writes "KEY=1\n" to ".env"
    And I save checkpoint "one"
    When the agent deletes ".env"
    And the agent runs "<command>"
    And I remember the sandbox as "just now"
    And <I roll back>
    Then ".env" holds "KEY=1\n"
    And left alone were: nothing
    When I undo
    Then the sandbox is exactly as it was at "just now"
    When I redo
    Then ".env" holds "KEY=1\n"
    When I undo
    Then the sandbox is exactly as it was at "just now"

    Examples:
      | what                                | I roll back                         | command                                                       |
      | a directory with an ignored file    | I roll back to "one"                | sh -c 'mkdir -m 0700 .env; echo precious > .env/x.log'        |
      | a directory with an ignored file    | I roll back only ".env" to "one"    | sh -c 'mkdir -m 0700 .env; echo precious > .env/x.log'        |
      | an empty directory                  | I roll back to "one"                | mkdir -m 0700 .env                                            |
      | an empty directory                  | I roll back only ".env" to "one"    | mkdir -m 0700 .env                                            |
      | a directory with an empty directory | I roll back to "one"                | sh -c 'mkdir -p .env/a/b .env/c; echo x > .env/c/f'           |
      | a symbolic link                     | I roll back to "one"                | ln -s README.md .env                                          |

  Scenario Outline: What cannot be saved is not destroyed for a chosen file: <what>
    Given the agent writes "KEY=1\n" to ".env"
    And I save checkpoint "one"
    When the agent deletes ".env"
    And the agent runs "<command>"
    And I remember the sandbox as "just now"
    And I run "plan rollback auth one --yes <more>"
    Then it exits with 5 and says "<reason>"
    And the sandbox is exactly as it was at "just now"

    Examples:
      | what                    | more        | command                                       | reason                    |
      | a repository            |             | git init --quiet .env                         | a git repository          |
      | a repository, by path   | --path .env | git init --quiet .env                         | a git repository          |
      | a repository inside     |             | git init --quiet .env/deep/inside             | a git repository          |
      | a directory with a FIFO |             | sh -c 'mkdir .env; mkfifo .env/pipe'          | neither a file nor a link |
      | a FIFO                  |             | mkfifo .env                                   | neither a file nor a link |

  Scenario: Something too large to be captured is in the place of a chosen file
    Given plan.toml is "[capture]\nmax_file_size = '1 KiB'\ninclude_ignored = ['.env']\n"
    And the agent writes "KEY=1\n" to ".env"
    And I save checkpoint "one"
    When the agent deletes ".env"
    And the agent writes 3000 bytes to ".env/big.bin"
    And I run "plan rollback auth one --dry-run --format json"
    And I then run "plan rollback auth one --yes --format json"
    Then what happened is what the dry run told
    And ".env" holds "KEY=1\n"
    When I undo
    Then ".env/big.bin" has 3000 bytes

  Scenario Outline: A chosen file that <becomes> between
    Given the agent writes "KEY=1\n" to ".env"
    And I save checkpoint "one"
    When the agent runs "<command>"
    And the agent writes "KEY=2\n" to ".env"
    And I save checkpoint "two"
    And I roll back to "one"
    Then the sandbox is exactly as it was at "one"
    When I undo
    Then the sandbox is exactly as it was at "two"
    When I redo
    Then the sandbox is exactly as it was at "one"
    When I undo
    Then the sandbox is exactly as it was at "two"

    Examples:
      | becomes              | command                                                    |
      | becomes tracked      | sh -c 'git add --force .env; git commit --quiet -m env'    |
      | is no longer ignored | rm .gitignore                                              |

  Scenario Outline: In the place of a directory with chosen files there is <what>
    Given the agent writes "rows\n" to "data/app.sqlite"
    And I save checkpoint "one"
    When the agent deletes "data"
    And the agent does this to "data": makes <what>
    And I save checkpoint "two"
    And I roll back to "one"
    Then the sandbox is exactly as it was at "one"
    When I undo
    Then the sandbox is exactly as it was at "two"
    When I redo
    Then the sandbox is exactly as it was at "one"
    When I undo
    Then the sandbox is exactly as it was at "two"

    Examples:
      | what            |
      | a file          |
      | an ignored file |
      | a dangling link |

  Scenario: A chosen file that is edited in the second of a checkpoint, under an old date
    Given the agent writes "first\n" to ".env"
    And I save checkpoint "one"
    When ".env" is rewritten at the same size under an old date, around a checkpoint
    And I save checkpoint "two"
    And the agent writes "other\n" to ".env"
    And I roll back to "two"
    Then the sandbox is exactly as it was at "two"

  Scenario: A chosen file that never holds still is left out, and that is said
    Given ".env" is rewritten whenever it has been read
    When I save checkpoint "one" meanwhile
    Then the latest checkpoint tells that it does not hold: .env

  Scenario: A chosen file whose name git cannot store is left out, and that is said
    Given plan.toml says: include_ignored = ["data/*/config", ".env"]
    And the agent writes "KEY=1\n" to ".env"
    And the agent writes "x\n" to "data/.GIT/config"
    When I save checkpoint "one"
    Then the latest checkpoint tells that it does not hold: data/.GIT/config
    When the agent writes "KEY=2\n" to ".env"
    And I roll back to "one"
    Then ".env" holds "KEY=1\n"
    And "data/.GIT/config" holds "x\n"

  Scenario: A chosen file that was too large to be captured is left alone, and that is said
    Given plan.toml is "[capture]\nmax_file_size = '1 KiB'\ninclude_ignored = ['.env']\n"
    And the agent writes 3000 bytes to ".env"
    And I save checkpoint "large"
    Then the latest checkpoint tells that it does not hold: .env
    When the agent writes "small\n" to ".env"
    And I save checkpoint "small"
    And the agent writes "more\n" to "README.md"
    And I run "plan rollback auth large --dry-run --format json"
    And I then run "plan rollback auth large --yes --format json"
    Then what happened is what the dry run told
    And its JSON tells of ".env" as left alone
    And ".env" holds "small\n"

  Scenario Outline: What was too large to be captured is left alone, also if nothing else is rolled back
    Given plan.toml is "[capture]\nmax_file_size = '1 KiB'\ninclude_ignored = ['.env']\n"
    And the agent writes 3000 bytes to "<path>"
    And I save checkpoint "large"
    When the agent writes "small\n" to "<path>"
    And I roll back only "<path>" to "large"
    Then "<path>" holds "small\n"
    And left alone were: <path>

    Examples:
      | path    |
      | .env    |
      | big.bin |

  Scenario Outline: A chosen file that grew too large to be captured is saved before it is replaced
    Given plan.toml is "[capture]\nmax_file_size = '1 KiB'\ninclude_ignored = ['.env']\n"
    And the agent writes "small\n" to ".env"
    And I save checkpoint "small"
    When the agent writes 3000 bytes to ".env"
    And <I roll back>
    Then ".env" holds "small\n"
    And left alone were: nothing
    When I undo
    Then ".env" has 3000 bytes

    Examples:
      | I roll back                        |
      | I roll back to "small"             |
      | I roll back only ".env" to "small" |

  Scenario: Directories of chosen files come back with their permission bits
    Given the agent writes "rows\n" to "data/app.sqlite"
    And the agent writes "KEY=1\n" to ".env"
    And these modes: data 0700, data/app.sqlite 0640, .env 0600
    And I save checkpoint "one"
    When the agent deletes "data"
    And the agent deletes ".env"
    And I save checkpoint "two"
    And I roll back to "one"
    Then the sandbox is exactly as it was at "one"
    When these modes: data 0750
    And I roll back to "one"
    Then the sandbox is exactly as it was at "one"
    And restored were: data/
    When I roll back to "two"
    And I roll back only "data" to "one"
    Then the mode of "data" is 0700
    And the mode of "data/app.sqlite" is 0640
    When I roll back only ".env" to "one"
    Then the sandbox is exactly as it was at "one"

  Scenario: A directory that is ignored and empty stays when the chosen file in it goes
    Given the agent makes the directories: data
    And these modes: data 0700
    And I save checkpoint "one"
    When the agent writes "rows\n" to "data/app.sqlite"
    And I save checkpoint "two"
    And I roll back to "one"
    Then the sandbox is exactly as it was at "one"
    When I undo
    Then the sandbox is exactly as it was at "two"
    When I redo
    Then the sandbox is exactly as it was at "one"

  Scenario Outline: Work on a chosen file between a crash and the next command stays: <command>
    Given the agent writes "KEY=1\n" to ".env"
    And I save checkpoint "one"
    When the agent writes "KEY=2\n" to ".env"
    And I save checkpoint "two"
    And "plan rollback auth one --yes" is killed at "<place>"
    And the agent runs "<command>"
    And I remember the sandbox as "edited"
    And I run "plan save auth"
    Then it succeeds
    And it notes "plan undo auth"
    And the sandbox is exactly as it was at "edited"
    When I undo
    Then the sandbox is exactly as it was at "two"

    Examples:
      | place                   | command                                    |
      | rollback.restoring      | sh -c 'echo an hour of work > .env'        |
      | rollback.files_restored | sh -c 'echo an hour of work > .env'        |

  Scenario Outline: Nobody worked since a crash: <what>, killed at <place>
    Given the agent writes "KEY=1\n" to ".env"
    And the agent writes "rows\n" to "data/app.sqlite"
    And I save checkpoint "one"
    When the agent runs "<command>"
    And I save checkpoint "two"
    And "plan rollback auth one --yes" is killed at "<place>"
    And I run "plan save auth"
    Then it succeeds
    And it notes "finished the rollback"
    And the sandbox is exactly as it was at "one"
    When I undo
    Then the sandbox is exactly as it was at "two"

    Examples:
      | what                         | place                   | command                                                 |
      | a directory in the way       | rollback.restoring      | sh -c 'rm .env; mkdir -p .env/a; echo x > .env/b'       |
      | a directory in the way       | rollback.files_restored | sh -c 'rm .env; mkdir -p .env/a; echo x > .env/b'       |
      | an empty directory           | rollback.files_restored | sh -c 'rm .env; mkdir .env'                             |
      | a file instead of a folder   | rollback.files_restored | sh -c 'rm -r data; echo x > data'                       |
      | it is tracked, with an edit  | rollback.restoring      | sh -c 'git add -f .env; git commit -qm e; echo 2 > .env' |
      | it is tracked, with an edit  | rollback.files_restored | sh -c 'git add -f .env; git commit -qm e; echo 2 > .env' |
      | it is tracked, with an edit  | rollback.proved         | sh -c 'git add -f .env; git commit -qm e; echo 2 > .env' |

  Scenario Outline: A chosen file in the place of <what> that comes back stays out of the tree of files
    Given plan.toml says: include_ignored = ["conf"]
    And the agent writes "port\n" to "<path>"
    And I save checkpoint "one"
    When the agent deletes "conf"
    And the agent writes "conf\n" to ".gitignore"
    And the agent writes "KEY=1\n" to "conf"
    And these modes: conf 0600
    And I remember the sandbox as "two"
    And I run "plan rollback auth one --dry-run --format json"
    And I then run "plan rollback auth one --yes --format json"
    Then what happened is what the dry run told
    And the sandbox is exactly as it was at "one"
    And no tree of files in the store holds "KEY=1\n"
    When I undo
    Then the sandbox is exactly as it was at "two"
    When I redo
    Then the sandbox is exactly as it was at "one"
    When I undo
    Then the sandbox is exactly as it was at "two"
    When I roll back only "<path>" to "one"
    Then "<path>" holds "port\n"
    When I undo
    Then the sandbox is exactly as it was at "two"
    And no tree of files in the store holds "KEY=1\n"

    Examples:
      | what             | path          |
      | a directory      | conf/app.txt  |
      | a deep directory | conf/a/b/c    |
      | a captured file  | conf          |

  Scenario: A chosen file in the place of an empty directory that comes back
    Given plan.toml says: include_ignored = ["conf"]
    And the agent makes the directories: conf/empty
    And I save checkpoint "one"
    When the agent deletes "conf"
    And the agent writes "conf\n" to ".gitignore"
    And the agent writes "KEY=1\n" to "conf"
    And I remember the sandbox as "two"
    And I roll back to "one"
    Then the sandbox is exactly as it was at "one"
    And no tree of files in the store holds "KEY=1\n"
    When I undo
    Then the sandbox is exactly as it was at "two"
    When I roll back only "conf/empty" to "one"
    And I undo
    Then the sandbox is exactly as it was at "two"

  Scenario: Chosen files of other patterns in the place of directories of chosen files
    Given plan.toml says: include_ignored = ["data/*.sqlite"]
    And the agent writes "rows\n" to "data/app.sqlite"
    And I save checkpoint "one"
    When the agent deletes "data"
    And plan.toml says: include_ignored = ["data"]
    And the agent writes "KEY=1\n" to "data"
    And I remember the sandbox as "two"
    And I roll back to "one"
    Then the sandbox is exactly as it was at "one"
    And no tree of files in the store holds "KEY=1\n"
    When I undo
    Then the sandbox is exactly as it was at "two"
    When I redo
    Then the sandbox is exactly as it was at "one"

  Scenario Outline: One path alone, whose parent is <what> by now: <path>
    Given the agent writes "rows\n" to "data/app.sqlite"
    And the agent writes "rows\n" to "data/sub/deep.sqlite"
    And plan.toml says: include_ignored = [".env", "data/**/*.sqlite", "conf"]
    And the agent makes the directories: lib/empty/inside
    And these modes: data 0700, lib 0750
    And I save checkpoint "one"
    When the agent deletes "<parent>"
    And the agent does this to "<parent>": makes <what>
    And I remember the sandbox as "two"
    And I run "plan rollback auth one --path <path> --dry-run --format json"
    And I then run "plan rollback auth one --path <path> --yes --format json"
    Then what happened is what the dry run told
    And what was selected is as it was at "one": <path>
    When I undo
    Then the sandbox is exactly as it was at "two"
    When I redo
    Then what was selected is as it was at "one": <path>
    When I undo
    Then the sandbox is exactly as it was at "two"

    Examples:
      | what            | parent | path                 |
      | a file          | data   | data/app.sqlite      |
      | an ignored file | data   | data/app.sqlite      |
      | a dangling link | data   | data/app.sqlite      |
      | a file          | data   | data/sub             |
      | a dangling link | data   | data/sub/deep.sqlite |
      | a file          | lib    | lib/empty            |
      | an ignored file | lib    | lib/empty/inside     |
      | a dangling link | lib    | lib/empty/inside     |
      | a file          | lib    | lib                  |

  Scenario Outline: A chosen file was in the way of a rollback that was killed at <place>
    Given plan.toml says: include_ignored = ["conf"]
    And the agent writes "port\n" to "<path>"
    And I save checkpoint "one"
    When the agent deletes "conf"
    And the agent writes "conf\n" to ".gitignore"
    And the agent writes "KEY=1\n" to "conf"
    And I remember the sandbox as "two"
    And "plan rollback auth one --yes" is killed at "<place>"
    And I run "plan save auth"
    Then it succeeds
    And it notes "finished the rollback"
    And the sandbox is exactly as it was at "one"
    And no tree of files in the store holds "KEY=1\n"
    When I undo
    Then the sandbox is exactly as it was at "two"

    Examples:
      | path         | place                   |
      | conf/app.txt | rollback.restoring      |
      | conf/app.txt | rollback.files_restored |
      | conf         | rollback.restoring      |
      | conf         | rollback.files_restored |

  Scenario Outline: A file was half written when a rollback was killed: <what>
    Given plan.toml says: include_ignored = ["conf"]
    And the agent runs "<then>"
    And I save checkpoint "one"
    When the agent runs "<now>"
    And I remember the sandbox as "two"
    And "plan rollback auth one --yes" is killed at "rollback.restoring"
    And the agent runs "<half>"
    And I run "plan save auth"
    Then it succeeds
    And it notes "finished the rollback"
    And the sandbox is exactly as it was at "one"
    When I undo
    Then the sandbox is exactly as it was at "two"

    Examples:
      | what                              | then                                                 | now                                                      | half                                             |
      | a file, in the place of a chosen  | sh -c 'echo port > conf; rm -f .gitignore'           | sh -c 'echo conf > .gitignore; echo KEY > conf'          | sh -c 'rm -f .gitignore conf; printf po > conf'  |
      | a chosen one, tracked by now      | sh -c 'echo conf > .gitignore; echo KEY > conf'      | sh -c 'git add -f conf; git commit -qm c; echo 2 > conf' | sh -c 'rm conf; printf KE > conf'                |

  Scenario: Work on a chosen file that was in the way of a rollback that was killed stays
    Given plan.toml says: include_ignored = ["conf"]
    And the agent writes "port\n" to "conf/app.txt"
    And I save checkpoint "one"
    When the agent deletes "conf"
    And the agent writes "conf\n" to ".gitignore"
    And the agent writes "KEY=1\n" to "conf"
    And I remember the sandbox as "two"
    And "plan rollback auth one --yes" is killed at "rollback.restoring"
    And the agent writes "an hour of work\n" to "conf"
    And I remember the sandbox as "edited"
    And I run "plan save auth"
    Then it succeeds
    And it notes "plan undo auth"
    And the sandbox is exactly as it was at "edited"
    When I undo
    Then the sandbox is exactly as it was at "two"

  Scenario Outline: One path alone below what was <what>: its neighbours come back with undo
    Given plan.toml says: include_ignored = ["conf", "*.key"]
    And the agent writes "*.log\n*.key\nconf\n" to ".gitignore"
    And the agent writes "file\n" to "<top>"
    And I save checkpoint "one"
    When the agent deletes "<top>"
    And the agent writes "new\n" to "<top>/b/n"
    And the agent writes "work\n" to "<top>/work"
    And the agent writes "log\n" to "<top>/l.log"
    And the agent writes "key\n" to "<top>/l.key"
    And the agent makes the directories: <top>/empty
    And I remember the sandbox as "two"
    And I roll back only "<top>/b/n" to "one"
    Then the sandbox is exactly as it was at "one"
    And the result says "'<top>' was a file at the checkpoint"
    When I undo
    Then the sandbox is exactly as it was at "two"
    When I redo
    Then the sandbox is exactly as it was at "one"
    When I undo
    Then the sandbox is exactly as it was at "two"

    Examples:
      | what          | top  |
      | a file        | a    |
      | a chosen file | conf |

  Scenario: Neighbours that came after one path alone had replaced its parent
    Given the agent writes "rows\n" to "data/app.sqlite"
    And I save checkpoint "one"
    When the agent deletes "data"
    And the agent does this to "data": makes a file
    And I remember the sandbox as "two"
    And I roll back only "data/app.sqlite" to "one"
    And the agent writes "later\n" to "data/later.log"
    And the agent writes "later\n" to "data/later.sqlite"
    And the agent makes the directories: data/empty
    And I remember the sandbox as "three"
    And I undo
    Then the sandbox is exactly as it was at "two"
    When I redo
    Then the sandbox is exactly as it was at "three"

  Scenario Outline: What of chosen files cannot be captured is told: <what>
    Given plan.toml says: include_ignored = ["tool", "run/", "data/**", "build/pipe", "out/deep/"]
    And the agent writes "tool\nrun\ndata\nbuild\nout\n" to ".gitignore"
    And the agent runs "<command>"
    And I save checkpoint "one"
    Then the latest checkpoint tells that it does not hold: <path>

    Examples:
      | what                                  | command                                             | path        |
      | a FIFO of a chosen name               | mkfifo tool                                         | tool        |
      | a FIFO of a chosen name, deeper       | mkfifo src/tool                                     | src/tool    |
      | a FIFO in a chosen directory          | sh -c 'mkdir run; echo > run/f; mkfifo run/p'       | run/p       |
      | a FIFO alone in a directory           | sh -c 'mkdir data; mkfifo data/p'                   | data/p      |
      | a FIFO that a pattern names           | sh -c 'mkdir build; mkfifo build/pipe'              | build/pipe  |
      | a FIFO deep in a named directory      | sh -c 'mkdir -p out/deep/er; mkfifo out/deep/er/p'  | out/deep/er/p |
      | set-id bits                           | sh -c 'echo > tool; chmod 4755 tool'                | tool        |
      | a repository in a chosen directory    | sh -c 'git init -q data/n; echo > data/n/f'         | data/n/.git |

  Scenario Outline: A file in the place of a chosen FIFO is left alone: <path>
    Given plan.toml says: include_ignored = ["tool", "build/pipe", "out/deep/"]
    And the agent writes "tool\nbuild\nout\n" to ".gitignore"
    And the agent makes the directories: build, out/deep/er
    And the agent runs "mkfifo <path>"
    And I save checkpoint "one"
    When the agent runs "sh -c 'rm <path>; echo work > <path>'"
    And I roll back to "one"
    Then "<path>" holds "work\n"

    Examples:
      | path            |
      | tool            |
      | build/pipe      |
      | out/deep/er/pipe |
