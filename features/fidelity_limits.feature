Feature: What is captured, and what is said of the rest
  `plan.toml` at the root of the repository names ignored files that are captured all the same, and
  the size from which untracked files are not. What is not captured is listed, and left alone.

  Background:
    Given a repository with plan "auth"

  Scenario: Chosen ignored files come back
    Given plan.toml says: include_ignored = [".env", "data/*.sqlite"]
    And .gitignore in the sandbox says: .env, data/, *.log
    And the agent writes "KEY=1\n" to ".env"
    And these modes: .env 0600
    And the agent writes "KEY=deep\n" to "src/.env"
    And the agent writes "rows\n" to "data/app.sqlite"
    And the agent writes "dump\n" to "data/other.txt"
    And I save checkpoint "one"
    Then ".env" is not in the latest checkpoint
    When the agent writes "KEY=2\n" to ".env"
    And the agent deletes "data/app.sqlite"
    And the agent writes "changed\n" to "data/other.txt"
    And the agent writes "KEY=new\n" to "src/lib/.env"
    And I save checkpoint "two"
    And I roll back to "one"
    Then ".env" holds "KEY=1\n"
    And the mode of ".env" is 0600
    And "data/app.sqlite" holds "rows\n"
    And "data/other.txt" holds "changed\n"
    And "src/lib/.env" is not there
    When I undo
    Then the sandbox is exactly as it was at "two"

  Scenario: Chosen ignored files that were chosen only then
    Given plan.toml says: include_ignored = [".env"]
    And .gitignore in the sandbox says: .env
    And the agent writes "KEY=1\n" to ".env"
    And I save checkpoint "one"
    When plan.toml says: include_ignored = []
    And the agent writes "KEY=2\n" to ".env"
    And I roll back to "one"
    Then ".env" holds "KEY=1\n"
    When I undo
    Then ".env" holds "KEY=2\n"

  Scenario: Secrets are nowhere but in the state commit
    Given plan.toml says: include_ignored = [".env"]
    And .gitignore in the sandbox says: .env
    And the agent writes "KEY=1\n" to ".env"
    And I save checkpoint "one"
    When the agent writes "KEY=2\n" to ".env"
    And I run "plan diff -p auth one --patch"
    Then it does not print "KEY"

  Scenario Outline: That chosen ignored files have changed is told, by their names alone: <what>
    Given plan.toml says: include_ignored = [".env"]
    And .gitignore in the sandbox says: .env
    And the agent writes "KEY=1\n" to ".env"
    And I save checkpoint "one"
    When I run "plan status auth --exit-code"
    Then it succeeds
    When the agent runs "<now>"
    And I run "plan diff -p auth one --format json"
    Then its JSON tells of the changed: <path>
    And its JSON has data.files.0.action "<action>"
    And it does not print "KEY"
    When I run "plan status auth --exit-code"
    Then it exits with 1
    When plan.toml says: include_ignored = []
    And I run "plan status auth --exit-code"
    Then it succeeds

    Examples:
      | what       | now                             | path    | action       |
      | edited     | sh -c 'echo KEY=2 > .env'       | .env    | modified     |
      | new        | sh -c 'echo KEY=2 > src/.env'   | src/.env | added       |
      | deleted    | rm .env                         | .env    | deleted      |
      | chmodded   | chmod 0600 .env                 | .env    | mode_changed |

  Scenario: Chosen ignored files that are as they were are not told as left alone
    Given plan.toml says: include_ignored = [".env"]
    And .gitignore in the sandbox says: .env, *.log
    And the agent writes "KEY=1\n" to ".env"
    And the agent writes "log\n" to "x.log"
    And I save checkpoint "one"
    When the agent writes "x\n" to "new.txt"
    And I roll back to "one"
    Then left alone were: x.log

  Scenario: Large untracked files are not captured, listed, and left alone
    Given plan.toml says: max_file_size = "1 KiB"
    And the agent writes 2000 bytes to "big.bin"
    When I run "plan save auth --label one"
    Then it succeeds
    And it notes "big.bin"
    And the latest checkpoint tells that it does not hold: big.bin
    When I run "plan save auth"
    Then it notes nothing
    When I run "plan checkpoint show auth one"
    Then it prints "big.bin"
    When the agent writes "x\n" to "new.txt"
    And I run "plan rollback auth one --dry-run --format json"
    Then its JSON tells of "big.bin" as left alone
    When I roll back to "one"
    Then left alone were: big.bin
    And "new.txt" is not there
    And "big.bin" has 2000 bytes

  Scenario: A file that grew beyond the limit leaves the checkpoints, as with any index
    Given plan.toml says: max_file_size = "1 KiB"
    And the agent writes 100 bytes to "growing.bin"
    And I save checkpoint "small"
    When the agent writes 2000 bytes to "growing.bin"
    And I save checkpoint "large"
    Then "growing.bin" is not in the latest checkpoint
    When I roll back to "small"
    Then "growing.bin" has 100 bytes
    When I undo
    Then "growing.bin" has 2000 bytes

  Scenario: A tracked file is captured whatever its size
    Given plan.toml says: max_file_size = "1 KiB"
    And the agent writes 2000 bytes to "README.md"
    And I save checkpoint "one"
    When the agent writes "small\n" to "README.md"
    And I roll back to "one"
    Then "README.md" has 2000 bytes

  Scenario: A file that never holds still is left out, and that is said
    Given "busy.txt" is rewritten whenever it has been read
    When I save checkpoint "one" meanwhile
    Then the latest checkpoint tells that it does not hold: busy.txt

  Scenario Outline: A file that changes while git reads it does not keep the others out: git <fails>
    Given the agent writes "one\n" to "busy.txt"
    And the agent writes "one\n" to "calm.txt"
    And I save checkpoint "one"
    When the agent writes "two\n" to "busy.txt"
    And the agent writes "two\n" to "calm.txt"
    And git <fails> whenever it reads "busy.txt", which changes
    And I save checkpoint "two" meanwhile
    Then the latest checkpoint tells that it does not hold: busy.txt
    And "busy.txt" is not in the latest checkpoint
    And "calm.txt" is "two\n" in the latest checkpoint

    Examples:
      | fails             |
      | gives up          |
      | is killed by that |

  Scenario: Git that fails although nothing changes fails the checkpoint
    When git gives up whenever it reads "README.md", which does not change
    And the agent writes "two\n" to "README.md"
    And I run "plan save auth" meanwhile
    Then it exits with 9

  Scenario: A chosen ignored file that changes while git reads it
    Given plan.toml says: include_ignored = [".env"]
    And .gitignore in the sandbox says: .env
    And the agent writes "KEY=1\n" to ".env"
    When git gives up whenever it reads ".env", which changes
    And I save checkpoint "one" meanwhile
    Then the latest checkpoint tells that it does not hold: .env

  Scenario: What is stored of a file that is rewritten all the time is never a mixture
    Given a process that fills "busy.bin" with one letter after another
    When I save 6 checkpoints meanwhile
    Then each of them holds "busy.bin" as it was at one moment, or tells that it does not hold it

  Scenario Outline: A directory that goes away while git looks at the sandbox, <how often>
    Given git finds, <how often>, that the directory "passing" has just gone
    And the agent writes "two\n" to "README.md"
    When I save checkpoint "one" meanwhile
    Then "README.md" is "two\n" in the latest checkpoint
    And the latest checkpoint tells <what>

    Examples:
      | how often | what                               |
      | once      | of nothing that it does not hold   |
      | always    | that it does not hold: passing     |

  Scenario: Somebody without privileges meets what cannot be read
    Given these modes: README.md 0000
    And the agent writes "x\n" to "closed/inside.txt"
    And these modes: closed 0000
    When somebody without privileges runs "plan save auth --label one"
    Then it succeeds
    And the latest checkpoint tells that it does not hold: README.md, closed

  Scenario: Directories that can be listed and not looked into, in each other
    Given the agent writes "x\n" to "listed/inner/inside.txt"
    And the agent runs "mkfifo listed/inner/pipe"
    And these modes: listed/inner 0600, listed 0600
    When somebody without privileges runs "plan save auth --label one"
    Then it succeeds
    And the latest checkpoint tells that it does not hold: listed/inner
    When the agent writes "x\n" to "new.txt"
    And somebody without privileges runs "plan rollback auth one --yes --format json"
    Then it succeeds
    And "new.txt" is not there
    And the mode of "listed" is 0600

  Scenario: A rollback beside what cannot be read
    Given the agent makes the directories: closed, it's closed, src/inner
    And these modes: closed 0000, it's closed 0000, src/inner 0000
    When somebody without privileges runs "plan save auth --label one"
    Then it succeeds
    When the agent writes "x\n" to "new.txt"
    And somebody without privileges runs "plan rollback auth one --yes --format json"
    Then it succeeds
    And "new.txt" is not there
    And its JSON tells of "closed" as left alone
    And its JSON tells of "it's closed" as left alone
    And its JSON tells of "src/inner" as left alone

  Scenario: A directory that cannot be read, with an odd name
    Given a directory with a line end and a control character in its name that cannot be read
    When somebody without privileges runs "plan save auth"
    Then it succeeds
    And the latest checkpoint tells that it does not hold that directory

  Scenario Outline: A directory with captured files comes to have the mode <mode>
    Given these modes: src <mode>
    When somebody without privileges runs "plan save auth --label closed"
    Then it succeeds
    And the latest checkpoint tells that it does not hold: <not held>
    When the agent writes "x\n" to "new.txt"
    And somebody without privileges runs "plan rollback auth closed --yes"
    Then it succeeds
    And "new.txt" is not there
    And the mode of "src" is <mode>
    When somebody without privileges runs "plan rollback auth first --yes"
    Then it exits with 5 and says "it cannot be read"
    And the mode of "src" is <mode>
    When these modes: src 0755
    And somebody without privileges runs "plan rollback auth first --yes"
    Then it succeeds

    Examples:
      | mode | not held            |
      | 0000 | src                 |
      | 0400 | src/app.py, src/lib |
      | 0444 | src/app.py, src/lib |

  Scenario: A directory with captured files whose names cannot be read
    Given these modes: src 0111
    When somebody without privileges runs "plan save auth --label closed"
    Then it succeeds
    And the latest checkpoint tells that it does not hold: src
    When the agent writes "changed\n" to "src/app.py"
    And the agent writes "unseen\n" to "src/unseen.py"
    And somebody without privileges runs "plan rollback auth closed --yes"
    Then it succeeds
    And the mode of "src" is 0111
    And "src/unseen.py" holds "unseen\n"

  Scenario: A file that cannot be read is in the way
    Given the agent writes "changed\n" to "README.md"
    And these modes: README.md 0000
    When somebody without privileges runs "plan rollback auth first --yes"
    Then it exits with 5 and says "it cannot be read"
    And it notes "hint: make it and the directories above it readable (chmod), or move it out of the sandbox, and try again"

  Scenario: An empty directory comes back below one that cannot be entered
    Given the agent makes the directories: d/e
    And I save checkpoint "one"
    And the agent deletes "d/e"
    And these modes: d 0000
    When somebody without privileges runs "plan rollback auth one --yes"
    Then it exits with 5 and says "it cannot be read"
    And rows and refs agree, and nothing is half done

  Scenario: Attributes in a link, and a file that git has to read each time
    Given the agent runs "ln --symbolic README.md .gitattributes"
    And the agent writes "x\n" to "later.txt"
    And the agent runs "touch --date=+1day later.txt"
    When I run "plan save auth --label one"
    Then it succeeds
    When the agent deletes "later.txt"
    And I roll back to "one"
    Then "later.txt" holds "x\n"

  Scenario: A .gitignore that cannot be read
    Given these modes: .gitignore 0000
    When somebody without privileges runs "plan save auth --label one"
    Then it succeeds
    And the latest checkpoint tells that it does not hold: .gitignore
    When the agent writes "x\n" to "new.txt"
    And somebody without privileges runs "plan rollback auth one --yes"
    Then it succeeds
    And "new.txt" is not there

  Scenario Outline: <what> that is a link, which git does not follow
    Given the agent runs "ln --symbolic <target> src/<what>"
    And the agent runs "git add --force src/<what>"
    And the agent runs "git commit --quiet --message linked"
    And I save checkpoint "linked"
    And the agent writes "x\n" to "src/new.txt"
    And the agent deletes "src/<what>"
    And the agent writes "x\n" to "src/<what>"
    When I roll back to "linked"
    Then the sandbox is exactly as it was at "linked"
    When I roll back to "first"
    And I undo
    Then the sandbox is exactly as it was at "linked"
    When I run "plan create other --base plan/auth"
    Then it succeeds

    Examples:
      | what           | target        |
      | .gitignore     | nowhere       |
      | .gitignore     | ../.gitignore |
      | .gitattributes | nowhere       |

  Scenario: A FIFO in the place of .gitignore, for which git would wait for ever
    Given a FIFO in the place of "src/.gitignore"
    When I run "plan save auth"
    Then it exits with 5 and says "'src/.gitignore' is a FIFO"
    When I run "plan rollback auth first --yes"
    Then it exits with 5 and says "'src/.gitignore' is a FIFO"
    When the agent deletes "src/.gitignore"
    And I run "plan save auth --wait 0"
    Then it succeeds

  Scenario: A FIFO in the place of .gitattributes beside a file that comes back
    Given a FIFO in the place of "src/.gitattributes"
    And the agent deletes "src/app.py"
    When I run "plan rollback auth first --yes"
    Then it exits with 5 and says "'src/.gitattributes' is a FIFO"
    When the agent deletes "src/.gitattributes"
    And I run "plan rollback auth first --yes --wait 0"
    Then it succeeds

  Scenario Outline: Whoever is ended by <signal> while git waits leaves no git and no lock behind
    Given a FIFO in the place of ".gitignore"
    When "plan save auth" gets <signal> while git waits
    Then it exits with 130
    When the agent deletes ".gitignore"
    And I run "plan save auth --wait 0"
    Then it succeeds

    Examples:
      | signal  |
      | SIGINT  |
      | SIGTERM |

  Scenario: Somebody without privileges restores a directory that may not be changed
    Given the agent writes "one\n" to "locked/file.txt"
    And these modes: locked 0555
    When somebody without privileges runs "plan save auth --label one"
    And these modes: locked 0755
    And the agent writes "two\n" to "locked/file.txt"
    And the agent writes "more\n" to "locked/more.txt"
    And these modes: locked 0555
    And somebody without privileges runs "plan rollback auth one --yes"
    Then it succeeds
    And "locked/file.txt" holds "one\n"
    And "locked/more.txt" is not there
    And the mode of "locked" is 0555

  Scenario: Sandboxes that nobody can mean
    Given the user's home is itself a repository
    When I attach the user's home as a sandbox
    Then it exits with 5
    When I run "plan create absurd --sandbox /"
    Then it exits with 5

  Scenario: A sparse checkout
    Given a plan "sparse" made while the repository is sparse
    When the agent writes "changed\n" to "README.md"
    And I save checkpoint "one"
    And the agent writes "again\n" to "README.md"
    And I roll back to "one"
    Then the sandbox is exactly as it was at "one"
    And "src/app.py" is not there

  Scenario: A sparse checkout whose index is sparse, too
    Given the agent writes "guide\n" to "docs/guide.md"
    And the agent runs "git add docs"
    And the agent runs "git commit --quiet -m docs"
    And the agent runs "git sparse-checkout set --cone --sparse-index src"
    When the agent writes "staged\n" to "src/app.py"
    And the agent runs "git add src/app.py"
    And I save checkpoint "one"
    And the agent runs "git reset --quiet --hard"
    And the agent runs "git gc --quiet --prune=now"
    And I roll back to "one"
    Then the sandbox is exactly as it was at "one"
    And "docs/guide.md" is not there
    When I undo
    Then "src/app.py" holds "print('one')\n"

  Scenario Outline: A <kind> clone
    Given a <kind> clone of the repository, with plan "clone"
    When the agent writes "changed\n" to "README.md"
    And the agent runs "git commit --quiet -am changed"
    And I save checkpoint "one"
    And the agent runs "git reset --quiet --hard HEAD~1"
    And I roll back to "one"
    Then the sandbox is exactly as it was at "one"

    Examples:
      | kind               |
      | shallow            |
      | partial            |
      | partial and sparse |

  Scenario: A partial clone that has lost what was staged and committed
    Given a partial clone of the repository, with plan "clone"
    When the agent writes "committed\n" to "README.md"
    And the agent runs "git commit --quiet -am changed"
    And the agent writes "staged\n" to "new.txt"
    And the agent runs "git add new.txt"
    And I save checkpoint "one"
    And the agent runs "git reset --quiet --hard HEAD~1"
    And the agent runs "git reflog expire --expire=now --all"
    And the agent runs "git gc --quiet --prune=now"
    And I roll back to "one"
    Then the sandbox is exactly as it was at "one"

  Scenario Outline: Unmerged and unfinished: <what>
    Given the agent works and saves: one
    And the agent is left with <what>
    And I save checkpoint "two"
    When the agent runs "git reset --quiet --hard"
    And I roll back to "two"
    Then the sandbox is exactly as it was at "two"

    Examples:
      | what             |
      | unmerged entries |
      | assumed files    |
