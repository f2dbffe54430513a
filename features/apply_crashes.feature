Feature: An apply that is killed
  Wherever an apply is killed, the branch is where it was or where it was to go, never the user's
  edits are lost, and the next command finishes it or takes it back.

  @unmeasured
  Scenario Outline: An apply is killed at every step: <how>
    Given a repository with plan "auth"
    And work of every kind to apply, and edits of the user's elsewhere
    And <hook>
    When "<command>" is killed at each of its failpoints, and each time the plan is saved and applied again
    Then the failpoints were all those of: create, apply
    And every time the branch was where it was, or wholly where it was to go
    And every time the next command went well, and rows and refs agreed after it
    And every time the work was applied in the end, once, and the user's own edits were as before

    @storage
    Examples:
      | how               | command                                | hook                                  |
      | squash            | plan apply auth --yes                  | nothing else happens                  |

    Examples: Another way to the same places
      | how               | command                                | hook                                  |
      | merge, with hooks | plan apply auth --strategy merge --yes | a hook "commit-msg" that runs "true"  |

  @unmeasured
  Scenario: An apply in the user's own checkout is killed at every step
    Given a repository
    And plan "here" in the user's own checkout
    And work of every kind to apply
    When "plan apply here --yes" is killed at each of its failpoints, and each time the plan is saved and applied again
    Then the failpoints were all those of: create, apply
    And every time the branch was where it was, or wholly where it was to go
    And every time the next command went well, and rows and refs agreed after it
    And every time the work was applied in the end, once, and the user's own edits were as before

  Scenario Outline: Files were half written when everything stopped: <how>
    Given a repository with plan "auth"
    And work of every kind to apply, and edits of the user's elsewhere
    When "plan apply auth --yes" is killed at "apply.branch_locked"
    And the checkout of the user's had got <how>
    When I run "plan save auth"
    Then it succeeds
    And it notes "finished the apply of plan auth onto main"
    And the work is on branch "main", and the user's checkout has it and the user's own edits

    Examples:
      | how                                    |
      | some of the files                      |
      | all of the files                       |
      | all of the files, and the index        |

  Scenario: Somebody worked in the checkout since the crash
    Given a repository with plan "auth"
    And work of every kind to apply, and edits of the user's elsewhere
    When "plan apply auth --yes" is killed at "apply.branch_locked"
    And the user writes "my own\n" to "src/app.py"
    When I run "plan save auth"
    Then it succeeds
    And it notes "src/app.py"
    And branch "main" has not moved
    And the user finds "my own\n" in "src/app.py"
    And the plan is now in phase "strategize" and state "queued"
    And rows and refs agree, and nothing is half done

  Scenario: Somebody moved the branch since the crash
    Given a repository with plan "auth"
    And the agent writes "one\n" to "one.txt"
    When "plan apply auth --yes" is killed at "apply.landing"
    And the user commits "other.txt"
    And I run "plan save auth"
    Then it succeeds
    And it notes "was moved since"
    When I run "plan apply auth --yes"
    Then it succeeds
    And branch "main" has these files of the sandbox: one.txt
    And the user's checkout is clean and at branch "main"

  Scenario: Somebody committed on top of what landed before the crash was noticed
    Given a repository with plan "auth"
    And the agent writes "one\n" to "one.txt"
    When "plan apply auth --yes" is killed at "apply.branch_moved"
    And the user commits "other.txt"
    And I run "plan save auth"
    Then it succeeds
    And the plan is now in phase "apply" and state "applied"
    And its commit is the one before that of branch "main"

  Scenario: A filter of the user's fails while their files follow the branch
    Given a repository with plan "auth"
    And a filter of the user's that can store files "*.stubborn" but not write them
    And work of every kind to apply, and edits of the user's elsewhere
    And the agent writes "*.stubborn filter=stubborn\n" to ".gitattributes"
    And the agent writes "no\n" to "z.stubborn"
    When I run "plan apply auth --yes"
    Then it exits with 5 and says "git cannot update the files"
    And branch "main" has not moved
    And the user's own edits are as before, and nothing else is in their checkout
    And rows and refs agree, and nothing is half done
