Feature: Nothing is lost where one would not look for it
  Each of these once lost a file, moved a branch or reported a success that was none.

  Background:
    Given a repository with plan "auth"

  Scenario Outline: A sandbox that holds Backtrail's own files is refused: <own>, <how>
    When the main checkout is <how> while Backtrail's <own> lies inside it
    Then it is refused with 5, there is no such plan, and nothing was made

    Examples:
      | own      | how         |
      | home     | attached    |
      | database | attached    |
      | home     | taken along |
      | database | taken along |

  Scenario: A file that is edited while a rollback is about to restore it
    When somebody edits "README.md" just before a rollback to "first" restores files
    Then the rollback fails and "README.md" holds what was typed
    And undo brings back what was there before the rollback

  Scenario Outline: Somebody changes what is about to be restored, and one sentence says so: <what>
    Given plan.toml says: include_ignored = [".env"]
    And .gitignore in the sandbox says: .env
    And the agent runs "sh -c 'for name in work.txt gone.txt d .env; do echo 1 > $name; done'"
    And I save checkpoint "one"
    And the agent runs "sh -c 'rm gone.txt d; mkdir d; for name in work.txt new.txt d/a .env; do echo 2 > $name; done'"
    And I save checkpoint "two"
    When somebody does "<deed>" just before "plan rollback auth one --yes" restores files
    Then it exits with 9 and says "error: '<path>' was changed while it was being rolled back"
    And it notes "hint: nothing is lost: plan undo auth brings back the state before the rollback"
    When I run "plan undo auth"
    Then it succeeds
    And "work.txt" holds "2\n"

    Examples:
      | what                                  | path     | deed                           |
      | a file that comes back                | work.txt | echo 3 > work.txt              |
      | a file that goes                      | new.txt  | echo 3 > new.txt               |
      | a file is there that was not          | gone.txt | echo 3 > gone.txt              |
      | a folder is there instead             | work.txt | rm work.txt; mkdir -p work.txt/in; echo 3 > work.txt/in/it |
      | a file in a folder that becomes one   | d        | echo 3 > d/b                   |
      | a chosen ignored file                 | .env     | echo 3 > .env                  |

  Scenario: A file that is rewritten within a second and dated back
    When "README.md" is rewritten at the same size under an old date, around a checkpoint
    Then the next checkpoint holds what is on disk

  Scenario: An empty object in the user's repository does not pass for content
    When the user's repository holds an empty file in the place of an object
    Then a file with that object's content survives rollback and undo in a new plan

  Scenario: A damaged object in the user's repository does not pass for content
    When the user's repository holds garbage in the place of an object
    Then a file with that object's content is not called saved until it is
    And a file with that object's content survives rollback and undo in a new plan

  Scenario: A damaged object of the user's under an attached sandbox
    When an object of the user's commit is damaged while its file is not
    Then an attached sandbox is saved exactly all the same

  Scenario: The plan's branch was made another name of a branch of the user's
    When the plan's branch is made a symbolic ref to "main" and "main" moves on
    Then a rollback is refused with 5 and "main" stays where it is

  Scenario: Undoing a rollback of a path whose parent was a file
    When "d/a" comes back by a rollback of that path alone, in the place of a file "d"
    Then undo brings the file "d" back

  Scenario: A dry run does not finish an interrupted rollback
    When a rollback is killed before it restored anything
    Then a dry run leaves every file as it is and says what awaits repair

  Scenario: Line ends are converted by a setting spelled in another way
    When a plan is made under "core.autocrlf=yes", slowly
    Then its first checkpoint holds what is on disk
