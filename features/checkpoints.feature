@storage
Feature: Checkpoints
  A checkpoint records the sandbox as it is: files, modes, what is staged, HEAD and the branch.
  It can be given a label and is found by number, id, label or its place on the timeline.

  Background:
    Given a repository with plan "auth"

  Scenario: A plan begins with a checkpoint of its own
    Then the timeline is: initial
    And "1" names checkpoint "initial"

  Scenario: Saving a checkpoint
    Given the agent writes "more\n" to "README.md"
    When I run "plan save auth -m 'read me first' --format json"
    Then it succeeds
    And the checkpoint it tells of has seq 2
    And the checkpoint it tells of has state "complete"
    And the checkpoint it tells of has checkpoint_type "manual"
    And the checkpoint it tells of has live true
    And the checkpoint it tells of has pinned false
    And the checkpoint it tells of has label null
    And the checkpoint it tells of has metadata.reason "read me first"
    And the checkpoint it tells of has metadata.not_captured []

  Scenario: Everything that can be said about a checkpoint is kept
    When I run "plan checkpoint create auth --label green --type post_tool --tool ruff --phase execute --meta run=7 --meta note=a=b --pin --print id"
    Then it succeeds
    When I run "plan checkpoint show auth green --format json"
    Then the checkpoint it tells of has label "green"
    And the checkpoint it tells of has pinned true
    And the checkpoint it tells of has checkpoint_type "post_tool"
    And the checkpoint it tells of has metadata.source_tool "ruff"
    And the checkpoint it tells of has metadata.phase "execute"
    And the checkpoint it tells of has metadata.meta {"run": "7", "note": "a=b"}

  Scenario: A checkpoint without changes is still a checkpoint
    When I save checkpoint "one"
    And I save checkpoint "two"
    Then the timeline is: initial, one, two
    And checkpoints "one" and "two" hold the same files

  Scenario: Callers say what a checkpoint is for, but not that Backtrail made it for itself
    Then checkpoints of these types can be made:
      | type         |
      | manual       |
      | turn         |
      | pre_run      |
      | post_run     |
      | pre_tool     |
      | post_tool    |
      | pre_decision |
      | on_error     |
    And these options of "plan save auth" are refused, and nothing is saved:
      | options              | exit code |
      | --type initial       | 2         |
      | --type pre_rollback  | 2         |
      | --type rollback      | 2         |
      | --type pre_apply     | 2         |
      | --type pre_remove    | 2         |
      | --type subplan_spawn | 2         |
      | --type nonsense      | 2         |

  Scenario: What cannot be recorded is refused
    Then these options of "plan save auth" are refused, and nothing is saved:
      | options           | exit code |
      | --meta novalue    | 2         |
      | --meta =value     | 2         |
      | --decision nosuch | 3         |
      | --label latest    | 2         |

  Scenario: Listing shows the timeline, oldest first
    Given the agent works and saves: one, two
    When I run "plan checkpoint list auth --format plain"
    Then it lists, line by line: 1 initial, 2 one, 3 two
    When I run "plan checkpoint list auth --format json"
    Then its JSON has data.checkpoints.0.checkpoint_type "initial"
    And its JSON has data.checkpoints.2.label "two"

  Scenario: Ways to name a checkpoint
    Given the agent works and saves: one, two, three
    Then these references name these checkpoints:
      | reference | checkpoint |
      | 1         | initial    |
      | 2         | one        |
      | 4         | three      |
      | two       | two        |
      | first     | initial    |
      | latest    | three      |
      | latest~0  | three      |
      | latest~1  | two        |
      | latest~3  | initial    |
    And checkpoint "two" is found by its id, in any capitals, and by a unique beginning
    And these references name nothing:
      | reference  | exit code |
      | 5          | 3         |
      | latest~4   | 3         |
      | last-green | 3         |
      | TWO        | 3         |
      | tw         | 3         |
      | 0          | 3         |
      | latest~-1  | 2         |
      | latest~x   | 2         |
      | a/b        | 2         |
      | HEAD^      | 2         |

  Scenario: A checkpoint that has left the timeline keeps its number, id and label
    Given the agent works and saves: one, two
    When I roll back to "one"
    Then "3" names checkpoint "two"
    And "two" names checkpoint "two"
    And checkpoint "two" is found by its id, in any capitals, and by a unique beginning
    And "latest" names checkpoint "rollback"
    And "latest~1" names checkpoint "one"

  Scenario: What can be a label
    Then these can be labels:
      | label      |
      | a          |
      | before-api |
      | v1.2_final |
      | Latest2    |
    And these cannot be labels:
      | label      |
      |            |
      | 7          |
      | 7th        |
      | -x         |
      | two words  |
      | a/b        |
      | before:x   |
      | latest~1   |
      | first      |
      | latest     |
      | LATEST     |
      | last-green |
      | line\\nend |

  Scenario: A label names one checkpoint of a plan, and the same label another one of another plan
    Given the agent works and saves: one, two
    When I give checkpoint "3" the label "one"
    Then it is refused with exit code 5
    And "one" names checkpoint "one"
    When I run "plan checkpoint label auth one --clear"
    Then it succeeds
    When I give checkpoint "two" the label "one"
    Then it is not refused
    And "3" names checkpoint "one"
    Given plan "other"
    When I save checkpoint "one"
    Then the timeline is: initial, one

  Scenario: --print gives one value to scripts
    When I run "plan save auth --label kept --print id"
    Then it prints nothing but the id of checkpoint "kept"
    When I run "plan checkpoint show auth kept --print commit --format json"
    Then it prints nothing but the commit of checkpoint "kept"
    When I run "plan checkpoint show auth kept --print path"
    Then it prints nothing but the path of checkpoint "kept"

  Scenario: Differences between checkpoints, and from one to the sandbox now
    Given the agent works and saves: one, two
    When I run "plan diff -p auth one two --format json"
    Then its JSON has data.files [{"file": "made at two.txt", "action": "added", "added": 1, "removed": 0}, {"file": "work.txt", "action": "modified", "added": 1, "removed": 1}]
    Given the agent deletes "made at one.txt"
    When I run "plan checkpoint diff -p auth --format json"
    Then its JSON has data.files [{"file": "made at one.txt", "action": "deleted", "added": 0, "removed": 1}]

  Scenario: What a checkpoint holds depends on the sandbox alone, not on earlier checkpoints
    Given the agent writes "1\n" to "data.csv"
    And I save checkpoint "data"
    And the agent writes "*.log\nbuild/\n*.csv\n" to ".gitignore"
    And the agent writes "2\n" to "data.csv"
    And I save checkpoint "ignored"
    Then checkpoint "data" holds: .gitignore, README.md, data.csv, src/app.py, src/lib/util.py
    And checkpoint "ignored" holds: .gitignore, README.md, src/app.py, src/lib/util.py

  Scenario: A sandbox without any file can be saved
    Given the agent does this: deletes everything
    When I save checkpoint "nothing"
    Then checkpoint "nothing" holds: nothing
    And the sandbox is exactly as it was at "nothing"

  Scenario: A checkpoint can be made in the middle of a merge that stopped
    Given the agent commits "ours\n", and branch "theirs" has "theirs\n" instead
    And the agent is in the middle of "git merge theirs"
    When I save checkpoint "mid-merge"
    Then the sandbox is exactly as it was at "mid-merge"
    And the timeline is: initial, mid-merge
