Feature: The branch of a sandbox that belongs to the user
  A rollback leaves it where it is, and says so wherever it speaks of what it proved. With
  `--move-branch` HEAD goes back to the branch that it was on, and that branch to where it was;
  undo brings all of it back.

  Background:
    Given a repository
    And plan "mine" on a worktree of the user's, on branch "feature"
    And I save checkpoint "before"
    And the agent writes "work\n" to "work.txt"
    And the agent runs "git add ."
    And the agent runs "git commit --quiet -m work"
    And I remember the sandbox as "committed"

  # What is said

  Scenario: What was not brought back is told wherever the result is
    When I run "plan rollback mine before --dry-run --format json"
    Then its JSON has data.rollback_summary.not_restored.0.part "HEAD"
    And its JSON has data.rollback_summary.proven []
    When I run "plan rollback mine before --yes --format json"
    Then it succeeds
    And its JSON has data.rollback_summary.verified true
    And its JSON has data.rollback_summary.proven ["files", "index"]
    And its JSON has data.rollback_summary.not_restored.0.part "HEAD"
    When I run "plan undo mine --format json"
    Then its JSON has data.rollback_summary.proven ["files", "index", "HEAD"]
    And its JSON has data.rollback_summary.not_restored []
    When I run "plan rollback mine before --yes --format plain"
    Then it prints "proven: files, index"
    And it prints "not_restored	HEAD	HEAD stays where it is: feature was at"
    And it prints "Not brought back: HEAD. Changed your mind? plan undo mine brings everything back."
    When I run "plan undo mine"
    And I run "plan rollback mine before --yes --format rich"
    Then it prints "a second look found files, index exact; not brought back: HEAD"
    And it prints "Not brought back: HEAD."
    When I run "plan undo mine"
    And I run "plan rollback mine before --yes --move-branch --format rich"
    Then it prints "a second look found it exact"
    And it does not print "Not brought back"

  Scenario: Of some paths, only they are said to be exact
    When I run "plan rollback mine before --path work.txt --yes --format rich"
    Then it prints "a second look found these paths exact"
    When I run "plan undo mine --format json"
    Then its JSON has data.rollback_summary.proven ["files"]

  # Moving it

  Scenario Outline: HEAD is <where> by now
    Given the agent runs "<how>"
    And the agent writes "more\n" to "more.txt"
    And I remember the sandbox as "later"
    When I roll back to "before" and move the branch
    Then the sandbox is exactly as it was at "before"
    And HEAD is on branch "feature"
    And branch "feature" is where it was at "before"
    And the result says nothing more
    When I undo
    Then the sandbox is exactly as it was at "later"
    And branch "feature" is where it was at "committed"
    When I redo
    Then the sandbox is exactly as it was at "before"
    And branch "feature" is where it was at "before"
    When I undo
    Then the sandbox is exactly as it was at "later"
    And branch "feature" is where it was at "committed"
    And rows and refs agree, and nothing is half done

    Examples:
      | where                     | how                              |
      | on another branch         | git switch --quiet -c other      |
      | on a branch with no commit | git switch --quiet --orphan new |
      | detached                  | git switch --quiet --detach      |

  Scenario: The branch that HEAD was on by then moves on, and comes back as well
    Given the agent runs "git switch --quiet -c other"
    And the agent runs "git commit --quiet --allow-empty -m 'on the other one'"
    And I remember the sandbox as "later"
    When I roll back to "before" and move the branch
    And the user runs "git branch --force other main"
    And I undo
    Then the sandbox is exactly as it was at "later"
    And branch "other" is where it was at "later"
    And branch "feature" is where it was at "committed"

  Scenario: The branch has been deleted
    Given the agent runs "git switch --quiet --detach"
    And the agent runs "git branch --quiet -D feature"
    And I remember the sandbox as "later"
    When I roll back to "before"
    Then the result says "the branch feature, which was at"
    And the result says "is gone; --move-branch makes it again"
    When I undo
    And I roll back to "before" and move the branch
    Then the sandbox is exactly as it was at "before"
    And branch "feature" is where it was at "before"
    When I undo
    Then the sandbox is exactly as it was at "later"
    And there is no branch "feature"

  Scenario: Commits that it leaves behind survive the user's garbage collection
    Given the agent runs "git switch --quiet --detach main"
    And I remember the sandbox as "later"
    When I roll back to "before" and move the branch
    And the user runs "git reflog expire --expire=now --expire-unreachable=now --all"
    And the user runs "git gc --quiet --prune=now"
    And I undo
    Then the sandbox is exactly as it was at "later"
    And branch "feature" is where it was at "committed"
    And the user runs "git fsck --strict --no-dangling"

  Scenario: HEAD was detached at the checkpoint: no branch is moved
    Given the agent runs "git switch --quiet --detach"
    And I save checkpoint "detached"
    And the agent runs "git switch --quiet feature"
    And the agent runs "git commit --quiet --allow-empty -m onwards"
    And I remember the sandbox as "later"
    When I roll back to "detached" and move the branch
    Then the sandbox is exactly as it was at "detached"
    And branch "feature" is where it was at "later"
    When I undo
    Then the sandbox is exactly as it was at "later"

  # Refused

  Scenario: Another worktree has the branch checked out
    Given the agent runs "git switch --quiet -c other"
    And the user runs "git worktree add --quiet ../again feature"
    And I take stock of everything
    When I run "plan rollback mine before --yes --move-branch"
    Then it exits with 5 and says "branch 'feature' is checked out in another worktree as well"
    And no file, no ref, no index and no row has changed

  Scenario: Another branch leaves no room for its name
    Given the agent runs "git switch --quiet --detach"
    And the agent runs "git branch --quiet -D feature"
    And the user runs "git branch feature/more main"
    And I take stock of everything
    When I run "plan rollback mine before --yes --move-branch"
    Then it exits with 5 and says "cannot come back beside branch 'feature/more'"
    And no file, no ref, no index and no row has changed

  # Somebody else, and crashes

  Scenario Outline: Somebody moves <what> at this very moment
    Given the agent runs "git switch --quiet -c other"
    And the user runs "git commit --quiet --allow-empty -m elsewhere"
    When the user runs "<command>" at "rollback.files_restored" of a rollback to "before" that moves the branch
    Then it is refused with exit code 9
    And the refusal names "another program has changed <named> meanwhile"
    And branch "<named branch>" is where the user put it

    Examples:
      | what       | command                           | named          | named branch |
      | the branch | git update-ref refs/heads/feature main | branch feature | feature      |
      | HEAD's own | git update-ref refs/heads/other main   | HEAD           | other        |

  Scenario Outline: <what> is killed between its steps: <place>
    Given the agent runs "git switch --quiet -c other"
    And I remember the sandbox as "later"
    And already done: "<done>"
    When "<command>" is killed at "<place>"
    And I run "plan save mine"
    Then it succeeds
    And it notes "finished the"
    And the sandbox is exactly as it was at "<goal>"
    And branch "feature" is where it was at "<where>"

    Examples:
      | what     | done                                         | command                                    | place                 | goal   | where     |
      | Rollback |                                              | plan rollback mine before --yes --move-branch | branch.moved          | before | before    |
      | Rollback |                                              | plan rollback mine before --yes --move-branch | rollback.git_restored | before | before    |
      | Undo     | plan rollback mine before --yes --move-branch | plan undo mine                             | branch.moved          | later  | committed |

  Scenario Outline: A sandbox that comes back tells as well what did not: <format>
    Given plan "auth"
    And the agent runs "git switch --quiet -c side"
    And I save checkpoint "side"
    When the sandbox is destroyed: <how>
    And the user runs "git branch --force side feature"
    And I run "plan restore auth --format <format>"
    Then it succeeds
    And it prints "<words>"

    Examples:
      | format | how | words                            |
      | plain  | git worktree remove --force | HEAD was on side, which no longer |
      | rich   | git worktree remove --force | Not brought back                 |
