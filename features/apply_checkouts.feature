Feature: Applying onto a branch that somebody has checked out
  The files of a checkout follow its branch, and every edit of the user's stays. Where the two
  cannot both be, the apply is refused, names the paths, and has changed nothing.

  Background:
    Given a repository with plan "auth"

  Scenario Outline: The user has work of their own in a path that would change: <what>, <strategy>
    Given the agent does all that could be in the way
    And in their checkout the user has <what>
    When I run "plan apply auth --strategy <strategy> --yes" in every format
    Then every format says so in one sentence with a hint, and exits with 5
    And every format tells of: <path>
    And no file, no ref, no index and no row has changed

    Examples:
      | what                                            | path              | strategy |
      | edited "src/app.py"                             | src/app.py        | squash   |
      | staged an edit of "src/app.py"                  | src/app.py        | merge    |
      | staged what the agent wrote in "src/app.py"     | src/app.py        | squash   |
      | deleted "src/app.py"                            | src/app.py        | ff       |
      | an untracked "new.txt"                          | new.txt           | squash   |
      | an ignored "build/out.txt"                      | build/out.txt     | squash   |
      | an ignored file in the folder "was-folder"      | was-folder/x.log  | merge    |
      | an ignored file "sub.log"                       | sub.log           | ff       |
      | an unmerged "README.md"                         | README.md         | squash   |

  Scenario: Edits elsewhere stay, staged and unstaged, and so does a file that only looks changed
    Given work of every kind to apply, and edits of the user's elsewhere
    And the user runs "touch src/app.py"
    When I run "plan apply auth --yes"
    Then it succeeds
    And the work is on branch "main", and the user's checkout has it and the user's own edits

  Scenario Outline: The branch is checked out in another worktree: <state>
    Given a worktree "release work" of the user's on branch "release"
    And the agent writes "print('two')\n" to "src/app.py"
    And that worktree has <state>
    When I run "plan apply auth --onto release --yes"
    Then it exits with <code>
    And <outcome>
    And branch "main" has not moved

    Examples:
      | state                    | code | outcome                                             |
      | nothing changed          | 0    | that worktree is clean and has the work             |
      | an edit of "README.md"   | 0    | that worktree has the work and an edit of README.md |
      | an edit of "src/app.py"  | 5    | branch "release" has not moved                      |
      | been deleted by hand     | 5    | branch "release" has not moved                      |
      | a rebase under way       | 5    | branch "release" has not moved                      |
      | a merge under way        | 5    | branch "release" has not moved                      |
      | a lock on its index      | 8    | branch "release" has not moved                      |

  Scenario: A branch that is checked out nowhere moves alone
    Given the user runs "git branch release"
    And the agent writes "one\n" to "one.txt"
    And I take stock of the user's repository
    When I run "plan apply auth --onto refs/heads/release --yes"
    Then it succeeds
    And branch "release" has these files of the sandbox: one.txt
    And the user's checkout is clean and at branch "main"
    And branch "main" has no file "one.txt"

  Scenario Outline: Branches that a plan cannot go to: <what>
    Given the agent writes "one\n" to "one.txt"
    And <what>
    When I run "plan apply auth --onto <branch> --yes" in every format
    Then every format says so in one sentence with a hint, and exits with <code>
    And no file, no ref, no index and no row has changed

    Examples:
      | what                                                | branch    | code |
      | nothing else happens                                | nowhere   | 3    |
      | nothing else happens                                | plan/auth | 5    |
      | nothing else happens                                | ma*       | 3    |
      | the user runs "git symbolic-ref refs/heads/alias refs/heads/main" | alias | 5 |
      | branch "main" is checked out twice                  | main      | 5    |
      | branch "busy" is checked out in the sandbox of another plan | busy | 5  |

  Scenario: A plan without an agent's change of its own branch's files keeps the sandbox as it is
    Given the agent writes "one\n" to "one.txt"
    And the agent runs "git add one.txt"
    And the agent writes "two\n" to "two.txt"
    And I remember the sandbox as "before"
    When I run "plan apply auth --yes"
    Then it succeeds
    And the sandbox is exactly as it was at "before"

  Scenario Outline: A plan that is over is not applied: <state>
    Given the agent writes "one\n" to "one.txt"
    And the plan is in phase "execute" and state "<state>"
    When I run "plan apply auth --yes" in every format
    Then every format says so in one sentence with a hint, and exits with 5
    And no file, no ref, no index and no row has changed

    Examples:
      | state       |
      | cancelled   |
      | invalidated |

  Scenario: While a run is active the plan is not applied
    Given the agent writes "one\n" to "one.txt"
    And plan "auth" runs "sleep 600" in the background
    When I run "plan apply auth --yes"
    Then it exits with 5 and says "plan abort auth"
    And branch "main" has not moved
    When I run "plan abort auth"
    And I run "plan apply auth --yes"
    Then it succeeds
    And branch "main" has these files of the sandbox: one.txt

  Scenario: A plan is applied in place, where its branch is checked out in the sandbox itself
    Given plan "here" in the user's own checkout
    And work of every kind to apply
    And the user writes "noise\n" to "debug.log"
    And the user runs "git add src/app.py"
    When I run "plan apply here --yes"
    Then it succeeds
    And the user's checkout is clean and at branch "main"
    And branch "main" is one commit ahead of what it was
    And the plan is applied, and its commit is that of branch "main"
    And the user finds "noise\n" in "debug.log"

  Scenario: A hook that changes files while a plan is applied in place
    Given plan "here" in the user's own checkout
    And a hook "pre-commit" that runs "echo formatted > one.txt; git add one.txt"
    And the user writes "one\n" to "one.txt"
    When I run "plan apply here --yes"
    Then it succeeds
    And the user finds "one\n" in "one.txt"
    And the user's checkout differs from branch "main" in: one.txt

  Scenario: A plan in place cannot be merged with itself
    Given plan "here" in the user's own checkout
    And the user writes "one\n" to "one.txt"
    When I run "plan apply here --strategy merge --yes" in every format
    Then every format says so in one sentence with a hint, and exits with 5
    And no file, no ref, no index and no row has changed

  Scenario: The first commit of a repository
    Given a repository without commits
    And plan "here" in the user's own checkout
    And the user writes "one\n" to "one.txt"
    When I run "plan apply here --yes"
    Then it succeeds
    And branch "main" has 1 commits
    And the user's checkout is clean and at branch "main"

  Scenario: A plan on a worktree of the user's goes onto another branch
    Given plan "mine" on a worktree of the user's, on branch "feature"
    And the agent writes "one\n" to "one.txt"
    When I run "plan apply mine --onto main --yes"
    Then it succeeds
    And branch "main" has these files of the sandbox: one.txt
    And branch "feature" has no file "one.txt"
    And the user's checkout is clean and at branch "main"
