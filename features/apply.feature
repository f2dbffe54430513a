Feature: Applying a plan
  `plan apply` turns the final state of a sandbox into commits of the user's and brings them onto
  a branch: by default as one commit onto the branch that the plan was created from. It either
  happens wholly, or it is refused and nothing has changed.

  Background:
    Given a repository with plan "auth"

  Scenario Outline: Committed and uncommitted work lands on the branch, ignored files do not: <strategy>
    Given the agent writes "committed\n" to "committed.txt"
    And the agent runs "git add ."
    And the agent runs "git commit --quiet -m agent"
    And the agent writes "print('two')\n" to "src/app.py"
    And the agent writes "new\n" to "a new file.txt"
    And the agent writes "noise\n" to "debug.log"
    And the agent deletes "src/lib/util.py"
    And <meanwhile>
    When I run "plan apply auth --strategy <strategy> --yes"
    Then it succeeds
    And it prints "onto: main"
    And branch "main" has these files of the sandbox: committed.txt, src/app.py, a new file.txt
    And branch "main" has none of: debug.log, src/lib/util.py
    And branch "main" is <shape>
    And the user's checkout is clean and at branch "main"
    And the plan is applied, and its commit is that of branch "main"
    And the sandbox has these changes still: src/app.py, a new file.txt, src/lib/util.py

    Examples:
      | strategy | meanwhile                           | shape                                      |
      | squash   | the user commits "other.txt"        | one commit ahead of what it was            |
      | merge    | the user commits "other.txt"        | a merge of what it was and the plan's work |
      | merge    | nothing else happens                | a merge of what it was and the plan's work |
      | ff       | nothing else happens                | two commits ahead of what it was           |

  Scenario: A branch moves forward to what the agent committed, commit by commit
    Given the agent writes "committed\n" to "committed.txt"
    And the agent runs "git add ."
    And the agent runs "git commit --quiet -m agent"
    When I run "plan apply auth --strategy ff -m unused --yes"
    Then it succeeds
    And it notes "the message was not used"
    And branch "main" is at the commit of branch "plan/auth"
    And the user's checkout is clean and at branch "main"

  Scenario: The commit says what it is
    Given the agent writes "one\n" to "one.txt"
    And the agent runs "git add ."
    And the agent runs "git commit --quiet -m 'add one'"
    When I run "plan apply auth --yes"
    Then the message of branch "main" is "Apply plan auth\n\n- add one\n"
    And the author of branch "main" is the user

  Scenario Outline: A message is the user's own: <strategy>
    Given the agent writes "one\n" to "one.txt"
    When I run "plan apply auth --strategy <strategy> -m 'Now with one' --yes"
    Then the message of branch "main" is "Now with one\n"

    Examples:
      | strategy |
      | squash   |
      | merge    |
      | ff       |

  Scenario Outline: A conflict is told by file, and nothing has changed: <strategy>
    Given the agent writes "ours\n" to "README.md"
    And the agent writes "x = 2\n" to "src/lib/util.py"
    And the user commits "README.md"
    When I run "plan apply auth --strategy <strategy> --yes" in every format
    Then every format says so in one sentence with a hint, and exits with <code>
    And every format tells of: <told>
    And no file, no ref, no index and no row has changed

    Examples:
      | strategy | code | told                  |
      | squash   | 12   | README.md             |
      | merge    | 12   | README.md             |
      | ff       | 5    | cannot simply move forward |

  Scenario: A conflict is resolved in the sandbox
    Given the agent writes "ours\n" to "README.md"
    And the agent runs "git commit --quiet -am ours"
    And the user commits "README.md"
    When I run "plan apply auth --yes"
    Then it exits with 12
    Given the agent is in the middle of "git merge main"
    And the agent writes "both\n" to "README.md"
    When I run "plan apply auth --yes"
    Then it exits with 5 and says "a merge is under way"
    When the agent runs "git commit --quiet -am resolved"
    And I run "plan apply auth --yes"
    Then it succeeds
    And branch "main" has these files of the sandbox: README.md

  Scenario Outline: The branch moves while the plan is being applied: <strategy>
    Given the agent writes "one\n" to "one.txt"
    When the user commits "other.txt" while "plan apply auth --strategy <strategy> --yes" is at "<place>"
    Then it exits with <code>
    And branch "main" has no file "one.txt"
    And the user's checkout is clean and at branch "main"
    And the plan is now in phase "strategize" and state "queued"
    When I run "plan apply auth --strategy squash --yes"
    Then it succeeds
    And branch "main" has these files of the sandbox: one.txt
    And the user's checkout is clean and at branch "main"

    Examples:
      | strategy | place            | code |
      | squash   | apply.landing    | 8    |
      | merge    | apply.landing    | 8    |
      | ff       | apply.landing    | 8    |
      | squash   | apply.opened     | 5    |

  Scenario Outline: There is nothing to apply: <strategy>
    Given <meanwhile>
    When I run "plan apply auth --strategy <strategy> --yes"
    Then it succeeds
    And it prints "Nothing to apply"
    And branch "main" has not moved
    And the plan is now in phase "strategize" and state "queued"
    And the operations of the plan are: create_plan
    When the agent writes "late\n" to "late.txt"
    And I run "plan apply auth --yes"
    Then it succeeds
    And branch "main" has these files of the sandbox: late.txt

    Examples:
      | strategy | meanwhile                    |
      | squash   | nothing else happens         |
      | merge    | the user commits "other.txt" |
      | ff       | the user commits "other.txt" |

  Scenario Outline: A file that one side renames and the other edits is both: <strategy>
    Given a file of many lines, "src/long.py", on both sides
    And the agent runs "git mv src/long.py src/renamed.py"
    And the user edits the last line of "src/long.py" and commits it
    When I run "plan apply auth --strategy <strategy> --yes"
    Then it succeeds
    And branch "main" has "src/renamed.py" with the user's last line, and no "src/long.py"
    And the user's checkout is clean and at branch "main"

    Examples:
      | strategy |
      | squash   |
      | merge    |

  Scenario: A file that both sides rename differently is a conflict
    Given a file of many lines, "src/long.py", on both sides
    And the agent runs "git mv src/long.py src/ours.py"
    And the user runs "git mv src/long.py src/theirs.py"
    And the user runs "git commit --quiet -m theirs"
    When I run "plan apply auth --yes"
    Then it exits with 12 and says "src/ours.py"

  Scenario Outline: Binary files land byte for byte: <strategy>
    Given the agent writes 3000 random bytes to "image.png"
    When I run "plan apply auth --strategy <strategy> --yes"
    Then it succeeds
    And branch "main" has these files of the sandbox: image.png
    And the user's "image.png" is that of the sandbox

    Examples:
      | strategy |
      | squash   |
      | merge    |
      | ff       |

  Scenario: Binary files that both sides changed are a conflict
    Given the agent writes 3000 random bytes to "README.md"
    And the user commits "README.md"
    When I run "plan apply auth --yes"
    Then it exits with 12 and says "README.md"

  Scenario Outline: A plan that was not created from a branch has to be told where to go: <strategy>
    Given the user runs "git checkout --quiet --detach"
    And plan "loose"
    And the agent writes "one\n" to "one.txt"
    When I run "plan apply loose --strategy <strategy> --yes"
    Then it exits with 2 and says "--onto BRANCH"
    When I run "plan apply loose --strategy <strategy> --onto main --yes"
    Then it succeeds
    And branch "main" has these files of the sandbox: one.txt
    And the user's checkout is where it was, detached

    Examples:
      | strategy |
      | squash   |
      | merge    |
      | ff       |

  Scenario Outline: A branch without a commit gets its first one: <strategy>
    Given the user has an empty checkout of branch "fresh", which has no commit
    And the agent writes "one\n" to "one.txt"
    When I run "plan apply auth --onto fresh --strategy <strategy> --yes"
    Then it succeeds
    And branch "fresh" has these files of the sandbox: one.txt, README.md
    And branch "fresh" has <count> commits
    And the user's checkout is clean and at branch "fresh"

    Examples:
      | strategy | count |
      | squash   | 1     |
      | ff       | 2     |

  Scenario: A branch without a commit cannot be merged with
    Given the user has an empty checkout of branch "fresh", which has no commit
    And the agent writes "one\n" to "one.txt"
    When I run "plan apply auth --onto fresh --strategy merge --yes" in every format
    Then every format says so in one sentence with a hint, and exits with 5
    And no file, no ref, no index and no row has changed

  Scenario Outline: In a shallow clone: <strategy>
    Given the repository is a shallow clone
    And plan "shallow"
    And the agent writes "one\n" to "one.txt"
    And the user commits "other.txt"
    When I run "plan apply shallow --strategy <strategy> --yes"
    Then it exits with <code>
    And the user's checkout is clean and at branch "main"

    Examples:
      | strategy | code |
      | squash   | 0    |
      | merge    | 0    |
      | ff       | 5    |

  Scenario: In a shallow clone whose histories have nothing in common any more
    Given the repository is a shallow clone
    And plan "shallow"
    And the agent writes "one\n" to "one.txt"
    And the origin moves on, and the user fetches no more than its newest commit
    When I run "plan apply shallow --onto main --yes"
    Then it succeeds
    And branch "main" has these files of the sandbox: one.txt
    And branch "main" has these files of the user's: from the origin.txt

  Scenario Outline: After an apply the plan is not rolled back, and is told how to take it back: <strategy>
    Given the agent writes "one\n" to "one.txt"
    And I run "plan apply auth --strategy <strategy> --yes"
    When I run "plan rollback auth first --yes"
    Then it exits with 5 and says "git revert"
    When the user does what the hint says
    Then branch "main" has no file "one.txt"
    When I run "plan apply auth --yes"
    Then it exits with 5 and says "applied already"

    Examples:
      | strategy |
      | squash   |
      | merge    |
      | ff       |

  Scenario: A dry run tells what would happen
    Given the agent writes "one\n" to "one.txt"
    And the agent deletes "src/app.py"
    And I take stock of everything
    And I note the objects of the repository
    When I run "plan apply auth --dry-run --format json"
    Then its JSON has data.applied false
    And its JSON has data.dry_run true
    And its JSON has data.commit null
    And no file, no ref, no index and no row has changed
    And the repository got no object
    When I then run "plan apply auth --yes --format json"
    Then its files are those that the dry run told: one.txt, src/app.py

  Scenario: An empty message is a mistake
    Given the agent writes "one\n" to "one.txt"
    When I run "plan apply auth -m '' --yes" in every format
    Then every format says so in one sentence with a hint, and exits with 2
    And no file, no ref, no index and no row has changed

  Scenario: Without a terminal it must be confirmed
    Given the agent writes "one\n" to "one.txt"
    When I run "plan apply auth" in every format
    Then every format says so in one sentence with a hint, and exits with 6
    And no file, no ref, no index and no row has changed

  Scenario: The state that was applied is a checkpoint
    Given the agent writes "one\n" to "one.txt"
    And I remember the sandbox as "before"
    When I run "plan apply auth --yes"
    Then the newest checkpoint is of type "pre_apply" and holds the sandbox of "before"
    And the sandbox is exactly as it was at "before"
    And rows and refs agree, and nothing is half done
