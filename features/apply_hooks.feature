Feature: The commit of an apply is the user's own
  Hooks, keys and the user's name take part as in any commit of theirs.

  Background:
    Given a repository with plan "auth"
    And the agent writes "one\n" to "one.txt"

  Scenario Outline: Hooks run as for a commit, <where>
    Given every hook <where> shouts
    And commits are signed by a program that shouts
    When I run "plan apply auth --yes"
    Then it succeeds
    And these shouted, in this order: pre-commit, prepare-commit-msg, commit-msg, signer, post-commit
    And the commit of branch "main" is signed
    And no working tree of ours is left

    Examples:
      | where                          |
      | of the repository              |
      | in the user's own hooks folder |

  Scenario: A merge has hooks for the work and for the merge, and one at the end
    Given every hook of the repository shouts
    When I run "plan apply auth --strategy merge --yes"
    Then it succeeds
    And these shouted, in this order: pre-commit, prepare-commit-msg, commit-msg, pre-commit, prepare-commit-msg, commit-msg, post-commit

  Scenario: --no-verify leaves out what git leaves out
    Given every hook of the repository shouts
    When I run "plan apply auth --no-verify --yes"
    Then it succeeds
    And these shouted, in this order: prepare-commit-msg, post-commit

  Scenario Outline: A hook that says no: <hook>, <strategy>
    Given a hook "<hook>" that runs "echo 'not like this'; exit 1"
    When I run "plan apply auth --strategy <strategy> --yes --format json"
    Then it exits with 5
    And its JSON has error.details.output ["not like this"]
    And branch "main" has not moved
    And the user's checkout is clean and at branch "main"
    And the plan is now in phase "strategize" and state "queued"
    And no working tree of ours is left
    And rows and refs agree, and nothing is half done

    Examples:
      | hook       | strategy |
      | pre-commit | squash   |
      | commit-msg | ff       |
      | pre-commit | merge    |

  Scenario: Hooks see the files as they will be on the branch, and may change them
    Given the user commits "other.txt"
    And a hook "pre-commit" that runs "cat one.txt other.txt > seen.txt && git add seen.txt"
    And a hook "commit-msg" that runs "echo >> $1; echo 'Signed-off-by: me' >> $1"
    And a hook "post-commit" that runs "git symbolic-ref HEAD > 'the branch.log'; git log -1 --format=%s >> 'the branch.log'"
    When I run "plan apply auth -m 'add one' --yes"
    Then it succeeds
    And branch "main" has "seen.txt" with "one\ntheirs\n"
    And the message of branch "main" is "add one\n\nSigned-off-by: me\n"
    And the user finds "refs/heads/main\nadd one\n" in "the branch.log"
    And the user's checkout is clean and at branch "main"

  Scenario: A hook after the commit that fails is told, and the work is applied
    Given a hook "post-commit" that runs "echo 'no network' >&2; exit 1"
    And the user runs "git branch release"
    When I run "plan apply auth --onto release --yes"
    Then it succeeds
    And it notes "no network"
    And branch "release" has these files of the sandbox: one.txt

  Scenario: Hooks among the tracked files are those of the user's checkout, not the agent's
    Given hooks in the tracked folder ".hooks" that shout
    And the agent's ".hooks/pre-commit" shouts something else
    When I run "plan apply auth --yes"
    Then it succeeds
    And these shouted, in this order: pre-commit

  Scenario: Nobody has told git who the user is
    When I run "plan apply auth --yes" in every format as somebody whom git does not know
    Then every format says so in one sentence with a hint, and exits with 5
    And every format tells of: user.name
    And no file, no ref, no index and no row has changed

  Scenario: A branch that only moves forward needs no name
    Given the agent runs "git add ."
    And the agent runs "git commit --quiet -m one"
    When somebody whom git does not know runs "plan apply auth --strategy ff --yes"
    Then it succeeds
    And branch "main" has these files of the sandbox: one.txt
