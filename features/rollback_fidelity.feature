Feature: What a rollback brings back
  A rollback makes the sandbox what it was: every byte, mode and link, what was staged, HEAD and
  the plan's branch. A second look proves it. Undo brings back just as exactly what was there
  before. Files that git ignores are left alone, unless something must come back in their place;
  then they are saved first.

  Background:
    Given a repository with plan "auth"

  @unmeasured
  Scenario: Contents
    Given the sandbox holds files of every kind
    And I save checkpoint "before"
    Then a rollback takes back whatever the agent does, and undo brings it back:
      | the agent                              |
      | edits a tracked file                   |
      | edits a file without changing its size |
      | edits binary files                     |
      | changes line ends                      |
      | empties files                          |

  @unmeasured
  Scenario: Files that come and go
    Given the sandbox holds files of every kind
    And I save checkpoint "before"
    Then a rollback takes back whatever the agent does, and undo brings it back:
      | the agent                        |
      | adds files                       |
      | adds files with odd names        |
      | deletes a tracked file           |
      | deletes an untracked file        |
      | deletes everything               |
      | renames a file                   |
      | renames a folder                 |
      | renames a file to other capitals |

  @unmeasured
  Scenario: Modes and links
    Given the sandbox holds files of every kind
    And I save checkpoint "before"
    Then a rollback takes back whatever the agent does, and undo brings it back:
      | the agent                   |
      | makes a file executable     |
      | makes a file not executable |
      | points a link elsewhere     |
      | adds a link                 |

  @unmeasured
  Scenario: One kind of thing in the place of another
    Given the sandbox holds files of every kind
    And I save checkpoint "before"
    Then a rollback takes back whatever the agent does, and undo brings it back:
      | the agent                              |
      | replaces a file by a folder            |
      | replaces a folder by a file            |
      | replaces a file by a link              |
      | replaces a link by a file              |
      | replaces a folder by a link to itself  |
      | replaces a folder by a link to outside |
      | replaces a link by a folder            |

  Scenario: What lies behind a link to outside is not touched
    Given the sandbox holds files of every kind
    And I save checkpoint "before"
    When the agent does this: replaces a folder by a link to outside
    And I roll back to "before"
    Then "../outside/a.txt" holds "not yours\n"
    And "../outside/deep/b.txt" holds "not yours\n"

  Scenario: The report tells what was restored and what was removed
    Given the agent works and saves: one
    And the agent writes "changed\n" to "work.txt"
    And the agent writes "new\n" to "new.txt"
    And the agent deletes "README.md"
    When I roll back to "one"
    Then restored were: README.md, work.txt
    And removed were: new.txt
    And left alone were: nothing
    And the result is proven, and its safety checkpoint holds what was there before

  Scenario: Bytes are not converted, whatever the user's settings say
    Given the user runs "git config core.autocrlf true"
    And plan "windows"
    And the agent writes "mixed\r\nline\nends\r\n" to "mixed.txt"
    And the agent writes "unix\nonly\n" to "unix.txt"
    And the agent writes "* text=auto eol=crlf\n" to ".gitattributes"
    And I save checkpoint "before"
    Then "README.md" holds "hello\r\n"
    When the agent writes "hello\n" to "README.md"
    And the agent writes "mixed\nline\nends\n" to "mixed.txt"
    And the agent writes "unix\r\nonly\r\n" to "unix.txt"
    And I roll back to "before"
    Then the sandbox is exactly as it was at "before"
    And "mixed.txt" holds "mixed\r\nline\nends\r\n"
    And "unix.txt" holds "unix\nonly\n"
    And "README.md" holds "hello\r\n"

  # HEAD, branches and the index

  Scenario: Commits of the agent
    Given the agent works and saves: one
    And the agent runs "git add ."
    And the agent runs "git commit --quiet -m work"
    And the agent works and saves: two
    And the agent runs "git commit --quiet -a -m 'more work'"
    And I remember the sandbox as "committed"
    When I roll back to "one"
    Then the sandbox is exactly as it was at "one"
    And HEAD is on branch "plan/auth"
    When I undo
    Then the sandbox is exactly as it was at "committed"
    And branch "plan/auth" is where it was at "committed"

  Scenario: Commits that the user's repository has lost
    Given the agent writes "precious\n" to "work.txt"
    And the agent runs "git add ."
    And the agent runs "git commit --quiet -m precious"
    And I save checkpoint "precious"
    And the agent runs "git reset --quiet --hard HEAD~1"
    And the agent runs "git reflog expire --expire=now --all"
    And the agent runs "git gc --quiet --prune=now"
    When I roll back to "precious"
    Then the sandbox is exactly as it was at "precious"
    And branch "plan/auth" is where it was at "precious"

  Scenario: Commits that a rollback left behind come back with undo, also after the user's gc
    Given the agent works and saves: one
    And the agent writes "precious\n" to "work.txt"
    And the agent runs "git add ."
    And the agent runs "git commit --quiet -m precious"
    And I remember the sandbox as "precious"
    When I roll back to "one"
    And the agent runs "git reflog expire --expire=now --all"
    And the agent runs "git gc --quiet --prune=now"
    And I undo
    Then the sandbox is exactly as it was at "precious"

  Scenario: The plan's branch was deleted
    Given the agent works and saves: one
    And the agent runs "git switch --quiet --detach"
    And the agent runs "git branch --quiet -D plan/auth"
    And I remember the sandbox as "no branch"
    When I roll back to "one"
    Then the sandbox is exactly as it was at "one"
    And HEAD is on branch "plan/auth"
    When I undo
    Then HEAD is detached
    And the sandbox's commit is that of "no branch"

  Scenario: What the plan's branch followed goes with the branch when it is deleted
    Given the agent runs "git branch --quiet --set-upstream-to=main"
    And I save checkpoint "one"
    When the agent runs "git checkout --quiet --detach"
    And the agent runs "git branch --quiet -D plan/auth"
    And I roll back to "one"
    Then HEAD is on branch "plan/auth"
    And branch "plan/auth" follows no other one

  Scenario: HEAD was detached at the checkpoint
    Given the agent runs "git switch --quiet --detach"
    And the agent writes "detached work\n" to "work.txt"
    And the agent runs "git add ."
    And the agent runs "git commit --quiet -m detached"
    And I save checkpoint "detached"
    And the agent runs "git switch --quiet plan/auth"
    When I roll back to "detached"
    Then HEAD is detached
    And the sandbox is exactly as it was at "detached"
    When I undo
    Then HEAD is on branch "plan/auth"

  Scenario: HEAD is detached now
    Given the agent works and saves: one
    And the agent runs "git switch --quiet --detach"
    When I roll back to "one"
    Then HEAD is on branch "plan/auth"
    And the sandbox is exactly as it was at "one"

  Scenario: HEAD was on a branch of the agent's that has moved on
    Given the agent runs "git switch --quiet -c topic"
    And I save checkpoint "on-topic"
    And the agent runs "git commit --quiet --allow-empty -m onwards"
    And I remember the sandbox as "onwards"
    When I roll back to "on-topic"
    Then HEAD is detached
    And the sandbox's commit is that of "on-topic"
    And branch "topic" is where it was at "onwards"
    And the result says "HEAD is now detached"

  Scenario: HEAD was on a branch of the agent's that is still there
    Given the agent runs "git switch --quiet -c topic"
    And I save checkpoint "on-topic"
    And the agent runs "git switch --quiet plan/auth"
    When I roll back to "on-topic"
    Then HEAD is on branch "topic"
    And the sandbox is exactly as it was at "on-topic"

  Scenario: What was staged is staged again
    Given the agent writes "staged\n" to "README.md"
    And the agent writes "staged, too\n" to "new.txt"
    And the agent writes "announced\n" to "intended.txt"
    And the agent runs "git add README.md new.txt"
    And the agent runs "git add --intent-to-add intended.txt"
    And the agent runs "git rm --quiet --cached src/app.py"
    And the agent writes "edited after staging\n" to "README.md"
    And I save checkpoint "staged"
    And the agent runs "git reset --quiet --hard"
    And I remember the sandbox as "reset"
    When I roll back to "staged"
    Then the sandbox is exactly as it was at "staged"
    When I undo
    Then the sandbox is exactly as it was at "reset"

  Scenario: Staged content that the user's repository has lost
    Given the agent writes "only staged\n" to "README.md"
    And the agent runs "git add README.md"
    And the agent writes "on disk\n" to "README.md"
    And I save checkpoint "staged"
    And the agent runs "git reset --quiet --hard"
    And the agent runs "git gc --quiet --prune=now"
    When I roll back to "staged"
    Then the sandbox is exactly as it was at "staged"
    When the agent runs "git restore README.md"
    Then "README.md" holds "only staged\n"

  # Ignored files

  Scenario: Ignored files are left alone
    Given the agent writes "first\n" to "debug.log"
    And the agent writes "object\n" to "build/out.o"
    And the agent works and saves: one
    And the agent writes "second\n" to "debug.log"
    And the agent writes "third\n" to "new.log"
    And the agent deletes "build"
    When I roll back to "one"
    Then "debug.log" holds "second\n"
    And "new.log" holds "third\n"
    And "build" is not there
    And left alone were: debug.log, new.log
    And the files that changed since "one" are: debug.log, new.log, build/out.o

  Scenario: Undo takes away what came back, also if it is ignored by rules that do not go back
    Given the agent writes "x\n" to "notes.txt"
    And I save checkpoint "one"
    When the agent deletes "notes.txt"
    And the user excludes "notes.txt"
    And I save checkpoint "two"
    And I roll back to "one"
    Then "notes.txt" is there
    When I undo
    Then the sandbox is exactly as it was at "two"
    When I redo
    Then "notes.txt" holds "x\n"

  Scenario: Something comes back into a directory of ignored files
    Given the agent writes "x\n" to "d/x"
    And the agent writes "x\n" to "d/deep/x"
    And the agent writes "l\n" to "d/l.log"
    And the agent writes "l\n" to "d/deep/l.log"
    And the agent writes "l\n" to "d/other/l.log"
    And I save checkpoint "one"
    When the agent deletes "d/x"
    And the agent deletes "d/deep/x"
    And I run "plan rollback auth one --dry-run --format json"
    Then its JSON tells of "d/l.log" as left alone
    When I then run "plan rollback auth one --yes --format json"
    Then what happened is what the dry run told
    When I undo
    And I redo
    Then left alone were: d/deep/l.log, d/l.log, d/other/

  Scenario Outline: Ignored files are left alone when .gitignore was <changed>
    Given the agent writes "first\n" to "debug.log"
    And the agent works and saves: one
    And the agent writes "second\n" to "debug.log"
    And the agent writes "third\n" to "build/out.o"
    And the agent runs "<command>"
    When I roll back to "one"
    Then "debug.log" holds "second\n"
    And "build/out.o" holds "third\n"
    And ".gitignore" holds "*.log\nbuild/\n"
    And left alone were: <left alone>
    When I undo
    Then "debug.log" holds "second\n"
    And "build/out.o" holds "third\n"

    Examples:
      | changed   | command                        | left alone             |
      | emptied   | truncate --size=0 .gitignore   | build/out.o, debug.log |
      | deleted   | rm .gitignore                  | build/out.o, debug.log |
      | rewritten | cp README.md .gitignore        | build/out.o, debug.log |

  Scenario: What is ignored now is left alone, though the checkpoint would not ignore it
    Given the agent works and saves: one
    And the agent writes "*\n" to ".gitignore"
    And the agent writes "mine\n" to "hidden"
    When I roll back to "one"
    Then "hidden" holds "mine\n"
    And left alone were: hidden
    When I undo
    Then "hidden" holds "mine\n"
    And ".gitignore" holds "*\n"

  Scenario: A .gitignore that hides itself does not hide what came back
    Given the agent writes "x\n" to "data/x"
    And the agent works and saves: one
    And the agent writes "changed\n" to "data/x"
    And the agent writes "*\n" to "data/.gitignore"
    When I roll back to "one"
    Then "data/x" holds "x\n"
    And left alone were: data/.gitignore

  Scenario: What a .gitignore hid that hides itself is left alone when that is deleted
    Given the agent writes "*\n" to ".venv/.gitignore"
    And the agent writes "python\n" to ".venv/bin/python"
    And the agent makes the directories: .venv/include
    And the agent works and saves: one
    And the agent deletes ".venv/.gitignore"
    When I roll back to "one"
    Then ".venv/bin/python" holds "python\n"
    And left alone were: .venv/bin/python, .venv/include/
    When I undo
    Then ".venv/bin/python" holds "python\n"

  Scenario: A .gitignore that comes to hide itself beside captured files, and is deleted
    Given the agent writes "*.key\n" to "src/.gitignore"
    And the agent writes "mine\n" to "src/my.key"
    And I save checkpoint "shown"
    And the agent writes ".gitignore\n*.key\n" to "src/.gitignore"
    And I save checkpoint "hidden"
    And I save checkpoint "still-hidden"
    And the agent deletes "src/.gitignore"
    And the agent writes "other\n" to "src/new.key"
    When I roll back to "still-hidden"
    Then "src/my.key" holds "mine\n"
    And "src/new.key" holds "other\n"
    And left alone were: src/my.key, src/new.key

  Scenario: Undoing removes what came back, though the rules that return would ignore it
    Given the agent writes "x\n" to "data.csv"
    And the agent works and saves: one
    And the agent deletes "data.csv"
    And the agent writes "*\n" to ".gitignore"
    When I roll back to "one"
    Then "data.csv" holds "x\n"
    When I undo
    Then "data.csv" is not there
    When I redo
    Then "data.csv" holds "x\n"

  Scenario: Files that are ignored by the user's own settings are left alone
    Given the user's own settings ignore "*.mine"
    And the agent writes "first\n" to "a.mine"
    And the agent works and saves: one
    And the agent writes "second\n" to "a.mine"
    When I roll back to "one"
    Then "a.mine" holds "second\n"
    And left alone were: a.mine

  Scenario Outline: Files that the user's own git ignores are left alone: <where>
    Given the user's own settings ignore "*.tmp", <where>
    And the agent works and saves: one
    And the agent writes "precious\n" to "a.tmp"
    And the agent writes "precious\n" to "new/b.tmp"
    When I roll back to "one"
    Then "a.tmp" holds "precious\n"
    And "new/b.tmp" holds "precious\n"
    And left alone were: a.tmp, new/

    Examples:
      | where                                   |
      | by a rule in capitals                   |
      | by a file with a mark at its beginning  |
      | by settings of this sandbox alone       |
      | by a file that is named from the root   |

  Scenario: A rule in capitals that counts no more
    Given the user's own settings ignore "*.tmp", by a rule in capitals
    And the agent works and saves: one
    And the agent writes "precious\n" to "a.tmp"
    And the user runs "git config core.ignorecase false"
    When I roll back to "one"
    Then "a.tmp" holds "precious\n"
    And left alone were: a.tmp

  Scenario: Names that differ in capitals alone, where git was told that capitals make no difference
    Given the user's own settings ignore "*.tmp", by a rule in capitals
    And the agent writes "another\n" to "readme.md"
    And the agent writes "another\n" to "SRC/app.py"
    And I save checkpoint "one"
    When the agent deletes "readme.md"
    And the agent deletes "SRC"
    And I roll back to "one"
    Then the sandbox is exactly as it was at "one"

  Scenario: A tracked file is never ignored, whatever .gitignore says
    Given the agent writes "tracked\n" to "tracked.log"
    And the agent runs "git add --force tracked.log"
    And I save checkpoint "tracked"
    And the agent writes "changed\n" to "tracked.log"
    When I roll back to "tracked"
    Then the sandbox is exactly as it was at "tracked"
    Given the agent runs "git rm --quiet --force tracked.log"
    When I roll back to "tracked"
    Then the sandbox is exactly as it was at "tracked"
    When I roll back to "first"
    Then "tracked.log" holds "tracked\n"
    And left alone were: tracked.log

  Scenario: A file of the checkpoint that is ignored now
    Given the agent writes "captured\n" to "data.csv"
    And I save checkpoint "captured"
    And the agent writes "*.csv\n" to ".gitignore"
    And the agent writes "ignored and precious\n" to "data.csv"
    And I remember the sandbox as "ignored"
    When I roll back to "captured"
    Then "data.csv" holds "captured\n"
    And the sandbox is exactly as it was at "captured"
    When I undo
    Then "data.csv" holds "ignored and precious\n"
    And the sandbox is exactly as it was at "ignored"

  Scenario: A folder with ignored files in the place of a file of the checkpoint
    Given the agent writes "a file\n" to "cache"
    And I save checkpoint "a-file"
    And the agent deletes "cache"
    And the agent writes "precious\n" to "cache/deep/debug.log"
    And the agent writes "seen\n" to "cache/seen.txt"
    And I remember the sandbox as "a-folder"
    When I roll back to "a-file"
    Then "cache" holds "a file\n"
    And the sandbox is exactly as it was at "a-file"
    When I undo
    Then "cache/deep/debug.log" holds "precious\n"
    And the sandbox is exactly as it was at "a-folder"

  Scenario: An ignored file in the place of a folder of the checkpoint
    Given the agent writes "inside\n" to "out.log/inside.txt"
    And the agent runs "git add --force out.log/inside.txt"
    And I save checkpoint "a-folder"
    And the agent deletes "out.log"
    And the agent runs "git rm --quiet --cached out.log/inside.txt"
    And the agent writes "ignored and precious\n" to "out.log"
    And I remember the sandbox as "a-file"
    When I roll back to "a-folder"
    Then "out.log/inside.txt" holds "inside\n"
    And the sandbox is exactly as it was at "a-folder"
    When I undo
    Then "out.log" holds "ignored and precious\n"
    And the sandbox is exactly as it was at "a-file"

  # Some paths only

  Scenario: Only some paths come back
    Given the agent works and saves: one, two
    And the agent writes "not saved\n" to "src/app.py"
    And I remember the sandbox as "before"
    When I roll back only "work.txt" to "one"
    Then the files that changed since "before" are: work.txt
    And "work.txt" holds "at one\n"
    And the timeline is: initial, one, two, pre_rollback, rollback
    And superseded are: nothing
    When I undo
    Then the sandbox is exactly as it was at "before"
    And superseded are: nothing
    When I redo
    Then the files that changed since "before" are: work.txt

  Scenario: Undoing a rollback of some paths leaves later work on other paths alone
    Given the agent works and saves: one, two
    When I roll back only "work.txt" to "one"
    And the agent writes "later\n" to "later.txt"
    And I undo
    Then "work.txt" holds "at two\n"
    And "later.txt" holds "later\n"

  Scenario: A whole folder, and a file that the checkpoint does not have
    Given the agent works and saves: one
    And the agent writes "changed\n" to "src/app.py"
    And the agent deletes "src/lib"
    And the agent writes "new\n" to "src/new.py"
    And the agent writes "stays\n" to "stays.txt"
    When I roll back only "src" to "one"
    Then the files that changed since "one" are: stays.txt
    And restored were: src/app.py, src/lib/util.py
    And removed were: src/new.py

  Scenario: A rollback of some paths leaves phase, state, HEAD and the index
    Given the agent works and saves: one
    And the agent runs "git add ."
    And the agent runs "git commit --quiet -m one"
    And the agent works and saves: two
    And the plan is in phase "apply" and state "errored"
    When I roll back only "work.txt" to "one"
    Then the plan is now in phase "apply" and state "errored"
    And the sandbox's commit is that of "two"
    And HEAD is on branch "plan/auth"

  # Looking first

  Scenario: A dry run tells exactly what then happens, and changes nothing
    Given the agent works and saves: one, two
    And the agent writes "ignored\n" to "debug.log"
    And the agent deletes "README.md"
    And I take stock of everything
    When I run "plan rollback auth one --dry-run --format json"
    Then no file, no ref, no index and no row has changed
    When I then run "plan rollback auth one --yes --format json"
    Then what happened is what the dry run told
    When I run "plan undo auth --dry-run --format json"
    And I then run "plan undo auth --format json"
    Then what happened is what the dry run told

  Scenario: A dry run of some paths tells exactly what then happens
    Given the agent works and saves: one, two
    When I run "plan rollback auth one --path work.txt --dry-run --format json"
    And I then run "plan rollback auth one --path work.txt --yes --format json"
    Then what happened is what the dry run told

  # Sandboxes that belong to the user

  Scenario: An attached sandbox keeps its branch
    Given plan "mine" on a worktree of the user's, on branch "feature"
    And I save checkpoint "before"
    And the agent writes "work\n" to "work.txt"
    And the agent runs "git add ."
    And the agent runs "git commit --quiet -m work"
    And I remember the sandbox as "committed"
    When I roll back to "before"
    Then "work.txt" is not there
    And HEAD is on branch "feature"
    And branch "feature" is where it was at "committed"
    And the result says "--move-branch"
    When I undo
    Then the sandbox is exactly as it was at "committed"

  Scenario: An attached sandbox's branch is moved when that is asked for
    Given plan "mine" on a worktree of the user's, on branch "feature"
    And I save checkpoint "before"
    And the agent writes "work\n" to "work.txt"
    And the agent runs "git add ."
    And the agent runs "git commit --quiet -m work"
    And I remember the sandbox as "committed"
    When I roll back to "before" and move the branch
    Then the sandbox is exactly as it was at "before"
    And branch "feature" is where it was at "before"
    And the result says nothing more
    When I undo
    Then the sandbox is exactly as it was at "committed"
    And branch "feature" is where it was at "committed"

  Scenario Outline: Undo of one path takes away what that brought, also if it is ignored by then: <what>
    Given the agent writes "" to ".gitignore"
    And the agent writes "l\n" to "<file>"
    And I save checkpoint "one"
    When the agent deletes "<path>"
    And the agent writes "*.log\n" to ".gitignore"
    And I remember the sandbox as "two"
    And I roll back only "<path>" to "one"
    Then "<file>" holds "l\n"
    When I undo
    Then the sandbox is exactly as it was at "two"
    When I redo
    Then "<file>" holds "l\n"

    Examples:
      | what             | path  | file    |
      | a file           | x.txt | x.txt   |
      | an ignored file  | x.log | x.log   |
      | its directory    | d     | d/x.log |

  Scenario Outline: Undo of one path is exact for the directories above it: <what>
    Given plan.toml says: include_ignored = ["chosen/"]
    And the agent runs "<then>"
    And I save checkpoint "one"
    When the agent runs "<now>"
    And I remember the sandbox as "two"
    And I roll back only "<path>" to "one"
    And I remember the sandbox as "back"
    And I undo
    Then the sandbox is exactly as it was at "two"
    When I redo
    Then the sandbox is exactly as it was at "back"
    When I undo
    Then the sandbox is exactly as it was at "two"

    Examples:
      | what                              | path     | then                                         | now                                                                              |
      | an ignored one, with its mode     | i/n/e    | mkdir -p i/n/e                               | sh -c 'rm -r i; echo i > .gitignore; mkdir -p i/s; echo keep > i/s/k; chmod 700 i' |
      | an empty one                      | top/f    | sh -c 'mkdir top; echo f > top/f'            | sh -c 'rm -r top; echo top/ > .gitignore; mkdir -m 700 top'                      |
      | an empty one, for an empty one    | top/e    | mkdir -p top/e                               | sh -c 'rm -r top; echo top/ > .gitignore; mkdir -m 700 top'                      |
      | one that is not ignored           | top/e    | mkdir -p top/e                               | sh -c 'rm -r top; mkdir -m 700 top'                                              |
      | one that was absent               | chosen/f | sh -c 'echo chosen > .gitignore; mkdir chosen; echo f > chosen/f' | sh -c 'rm -r chosen; echo /chosen/ > .gitignore'            |
      | two that were absent              | a/b/e    | mkdir -p a/b/e                               | sh -c 'rm -r a; echo a/ > .gitignore'                                            |

  Scenario: A directory that was empty is so again when the one path in it goes
    Given the agent makes the directories: top
    And these modes: top 0750
    And I save checkpoint "one"
    When the agent writes "new\n" to "top/x"
    And I remember the sandbox as "two"
    And I roll back only "top/x" to "one"
    Then the sandbox is exactly as it was at "one"
    When I undo
    Then the sandbox is exactly as it was at "two"
    When the agent writes "beside\n" to "top/y"
    And these modes: top 0700
    And I remember the sandbox as "three"
    And I roll back only "top/x" to "one"
    Then "top/y" holds "beside\n"
    And the mode of "top" is 0700
    When I undo
    Then the sandbox is exactly as it was at "three"
