Feature: What lands on the branch is what git itself would have committed
  A checkpoint holds the bytes that are on disk. A branch holds what the user's attributes, filters
  and settings make of them, and a plan that is applied must not differ from a commit of theirs.

  Scenario Outline: Attributes and settings: <what>
    Given a repository
    And settings of the user's for <what>
    And plan "auth"
    And the agent writes files that <what> concerns
    And I note the tree that git itself would commit of the sandbox
    When I run "plan apply auth --strategy <strategy> --yes"
    Then it succeeds
    And branch "main" has that tree, which is not what is on disk
    And the user's checkout is clean and at branch "main"

    Examples:
      | what                      | strategy |
      | line ends by autocrlf     | squash   |
      | line ends by attributes   | merge    |
      | a filter of their own     | squash   |
      | a filter of their own     | merge    |
      | a filter of their own     | ff       |
      | a long-running filter     | squash   |
      | another encoding          | ff       |
      | keywords                  | squash   |

  Scenario: Ignored files that are tracked, and modes, links and odd names, land as well
    Given a repository with plan "auth"
    And the agent writes "tracked\n" to "tracked.log"
    And the agent runs "git add --force tracked.log"
    And the agent runs "git commit --quiet -m log"
    And the agent writes "tracked and changed\n" to "tracked.log"
    And the sandbox holds files of every kind
    And I note the tree that git itself would commit of the sandbox
    When I run "plan apply auth --yes"
    Then it succeeds
    And branch "main" has that tree
    And the user's checkout is clean and at branch "main"

  Scenario: Files out of the cone of a sparse checkout are kept
    Given a repository with plan "auth"
    And the agent runs "git sparse-checkout set src/lib"
    And the agent writes "x = 2\n" to "src/lib/util.py"
    And the agent writes "beyond the cone\n" to "docs/new.md"
    When I run "plan apply auth --yes"
    Then it succeeds
    And branch "main" has these files of the user's: src/app.py, README.md, docs/new.md
    And branch "main" has these files of the sandbox: src/lib/util.py, docs/new.md

  Scenario: A file that is marked as not to be looked at is told, and stays out
    Given a repository with plan "auth"
    And the agent writes "one\n" to "one.txt"
    And the agent runs "git update-index --assume-unchanged README.md"
    And the agent writes "local\n" to "README.md"
    When I run "plan apply auth --yes"
    Then it succeeds
    And it notes "README.md"
    And branch "main" has "README.md" as before

  Scenario Outline: A submodule's pointer lands: <strategy>
    Given a repository
    And submodules "ready" and "bare" of the user's, of which only the first is initialised
    And plan "auth"
    And the submodule "ready" of the sandbox is at another commit, and has hostile settings
    When I run "plan apply auth --strategy <strategy> --yes"
    Then it succeeds
    And branch "main" has submodule "ready" at that commit, and "bare" where it was
    And nothing was run

    Examples:
      | strategy |
      | squash   |
      | merge    |
      | ff       |

  Scenario: A submodule that the agent deleted is gone from the branch
    Given a repository
    And submodules "ready" and "bare" of the user's, of which only the first is initialised
    And plan "auth"
    And the agent deletes "bare"
    And I note the tree that git itself would commit of the sandbox
    When I run "plan apply auth --yes"
    Then it succeeds
    And branch "main" has that tree

  Scenario: A repository inside the sandbox lands as a pointer, one without commits is refused
    Given a repository with plan "auth"
    And the agent writes "inner\n" to "inner/file.txt"
    And the agent runs "git init --quiet inner"
    When I run "plan apply auth --yes" in every format
    Then every format tells of: does not have a commit checked out
    And no file, no ref, no index and no row has changed
    When the agent runs "git -C inner add ."
    And the agent runs "git -C inner commit --quiet -m inner"
    And I note the tree that git itself would commit of the sandbox
    And I run "plan apply auth --yes"
    Then it succeeds
    And branch "main" has that tree

  Scenario: No setting that was planted in the sandbox is obeyed
    Given a repository with plan "auth"
    And the agent writes "one\n" to "one.txt"
    And hostile settings in the sandbox's config.worktree
    Then plain git falls into a trap
    When I run "plan apply auth --yes"
    Then it succeeds
    And branch "main" has these files of the sandbox: one.txt
    And nothing was run

  Scenario: A repository inside the sandbox that sets traps
    Given a repository with plan "auth"
    And a nested repository in the sandbox with hostile settings
    Then plain git falls into a trap
    When I run "plan apply auth --yes"
    Then it succeeds
    And nothing was run

  Scenario: A directory that cannot be read is not taken for an empty one
    Given a repository with plan "auth"
    And the agent writes "one\n" to "closed/one.txt"
    And the agent runs "git add ."
    And the agent runs "git commit --quiet -m closed"
    And the agent writes "two\n" to "two.txt"
    And the agent runs "chmod 000 closed"
    When somebody without privileges runs "plan apply auth --yes"
    Then it exits with 5 and says "cannot be read"
    And branch "main" has not moved
