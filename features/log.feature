Feature: Looking at the timeline
  `plan log` draws what happened to a plan, newest first: the live line is the first column, and
  what a rollback left behind branches off it where it was cut. In plain form the latest checkpoint
  is `@`, live ones are `*`, superseded ones `o`, and those that are gone `x`.

  Background:
    Given a repository with plan "auth"

  Scenario: Two rollbacks and an undo
    Given I save "a form" with: --label form --pin
    And I save "cookies"
    And I roll back to "form" since "cookies are a bad idea"
    And I save "tokens" with: --label tokens --type post_run
    And checkpoint "tokens" was found green
    And I roll back to "first"
    And I save "start all over"
    And I undo
    And checkpoints 1 to 4 are 2 days old
    And checkpoints 5 to 8 are 3 hours old
    And checkpoints 9 to 11 are no time old
    When I run "plan log auth --format plain"
    Then it draws, times left out:
      """
      @      11  rollback       2 files  (latest) undo to 7
      | o    10  pre_rollback   0 files  before undo to checkpoint 7
      | o     9  manual         2 files  start all over
      | o     8  rollback       3 files  rollback to 1
      * |     7  pre_rollback   0 files  before rollback to checkpoint 1
      * |     6  post_run       2 files  [tokens] (green) tokens
      * |     5  rollback       2 files  rollback to 2 [form]: cookies are a bad idea
      | | o   4  pre_rollback   0 files  before rollback to checkpoint 2
      | | o   3  manual         2 files  cookies
      |_|/
      * |     2  manual         2 files  [form] (pinned) a form
      |/
      *       1  initial                 the sandbox as it was created
      """
    When I run "plan log auth --format rich" with COLUMNS=80
    Then it draws:
      """
      ◆      11  (latest) undo to 7
      │          just now · rollback · 2 files
      │ ○    10  before undo to checkpoint 7
      │ │        just now · pre_rollback · 0 files
      │ ○     9  start all over
      │ │        just now · manual · 2 files
      │ ○     8  rollback to 1
      │ │        3 hours ago · rollback · 3 files
      ● │     7  before rollback to checkpoint 1
      │ │        3 hours ago · pre_rollback · 0 files
      ● │     6  [tokens] (green) tokens
      │ │        3 hours ago · post_run · 2 files
      ● │     5  rollback to 2 [form]: cookies are a bad idea
      │ │        3 hours ago · rollback · 2 files
      │ │ ○   4  before rollback to checkpoint 2
      │ │ │      2 days ago · pre_rollback · 0 files
      │ │ ○   3  cookies
      ├─│─╯      2 days ago · manual · 2 files
      ● │     2  [form] (pinned) a form
      ├─╯        2 days ago · manual · 2 files
      ●       1  the sandbox as it was created
                 2 days ago · initial
      """
    When I run "plan log auth --format rich" with COLUMNS=160
    Then it draws:
      """
      ◆      11  just now     rollback      2 files  (latest) undo to 7
      │ ○    10  just now     pre_rollback  0 files  before undo to checkpoint 7
      │ ○     9  just now     manual        2 files  start all over
      │ ○     8  3 hours ago  rollback      3 files  rollback to 1
      ● │     7  3 hours ago  pre_rollback  0 files  before rollback to checkpoint 1
      ● │     6  3 hours ago  post_run      2 files  [tokens] (green) tokens
      ● │     5  3 hours ago  rollback      2 files  rollback to 2 [form]: cookies are a bad idea
      │ │ ○   4  2 days ago   pre_rollback  0 files  before rollback to checkpoint 2
      │ │ ○   3  2 days ago   manual        2 files  cookies
      ├─│─╯
      ● │     2  2 days ago   manual        2 files  [form] (pinned) a form
      ├─╯
      ●       1  2 days ago   initial                the sandbox as it was created
      """

  Scenario: The same for programs
    Given I save "a form" with: --label form
    And I save "cookies"
    And I roll back to "form"
    And I undo
    When I run "plan log auth --format json"
    Then its JSON has data.plan "auth"
    And its JSON has data.current_epoch 3
    And its JSON has data.left_out {"superseded": 0, "tombstones": 0, "older": 0}
    And the entries of the log are:
      | seq | column | follows_seq | files_changed | latest | live  | came from  |
      | 7   | 0      | 4           | 2             | true   | true  | undo 4     |
      | 6   | 1      | 5           | 0             | false  | false | -          |
      | 5   | 1      | 2           | 2             | false  | false | rollback 2 |
      | 4   | 0      | 3           | 0             | false  | true  | -          |
      | 3   | 0      | 2           | 2             | false  | true  | -          |
      | 2   | 0      | 1           | 2             | false  | true  | -          |
      | 1   | 0      | null        | null          | false  | true  | -          |
    And the checkpoint of the last entry is what "plan checkpoint show auth 1" shows

  Scenario: A part of it
    Given I save "one" with: --label one
    And I save "two"
    And I roll back to "one"
    When I run "plan log auth --live --format plain"
    Then it draws, times left out:
      """
      @  5  rollback       2 files  (latest) rollback to 2 [one]
      *  2  manual         2 files  [one] one
      *  1  initial                 the sandbox as it was created
      """
    When I run "plan log auth --limit 2 --format plain"
    Then it draws, times left out:
      """
      @    5  rollback       2 files  (latest) rollback to 2 [one]
      | o  4  pre_rollback   0 files  before rollback to checkpoint 2
      : :
      """
    When I run "plan log auth --limit 2 --format rich" with COLUMNS=80
    Then it prints "Not shown: 3 older"
    When I run "plan log auth --live --format json"
    Then its JSON has data.left_out {"superseded": 2, "tombstones": 0, "older": 0}
    When I run "plan log auth --limit 99 --format json"
    Then its JSON has data.left_out {"superseded": 0, "tombstones": 0, "older": 0}

  Scenario: What cannot be restored
    Given the agent works and saves: one, two, three, four, five
    And checkpoint "two" was pruned
    And checkpoint "three" had failed
    And checkpoint "five" was found damaged
    When I run "plan log auth --format plain"
    Then it draws, times left out:
      """
      x  6  manual                  [five] (damaged)
      @  5  manual                  [four] (latest)
      *  2  manual         2 files  [one]
      *  1  initial                 the sandbox as it was created
      """
    When I run "plan log auth --all --format plain"
    Then it draws, times left out:
      """
      x  6  manual                  [five] (damaged)
      @  5  manual                  [four] (latest)
      x  4  manual                  (failed)
      x  3  manual                  (pruned)
      *  2  manual         2 files  [one]
      *  1  initial                 the sandbox as it was created
      """
    When I run "plan log auth --format rich"
    Then it prints "Not shown: 2 failed or pruned (--all)"

  Scenario: Nothing to see
    Given every checkpoint had failed
    When I run "plan log auth --format rich"
    Then it succeeds
    And it prints "Plan auth has no checkpoints to show."
    And it prints "Not shown: 1 failed or pruned (--all)"
    When I run "plan log auth --format plain"
    Then it prints nothing
    When I run "plan log auth --format json"
    Then its JSON has data.entries []

  Scenario: Some paths only
    Given I save "one" with: --label one
    And I save "two"
    When I roll back only "work.txt" to "one"
    And I run "plan log auth --format plain"
    Then it draws, times left out:
      """
      @  5  rollback        1 file  (latest) rollback to 2 [one] (only work.txt)
      *  4  pre_rollback   0 files  before rollback to checkpoint 2 (only work.txt)
      *  3  manual         2 files  two
      *  2  manual         2 files  [one] one
      *  1  initial                 the sandbox as it was created
      """

  Scenario: Going back to one checkpoint again and again needs no more room
    Given the agent works and saves: one, two
    And I roll back between "one" and "one" 6 times
    When I run "plan log auth --format rich" with COLUMNS=80
    Then every line of the drawing leads to the checkpoint that it should
    And the drawing has 2 columns
    And no line fades

  Scenario: More branches than there is room for
    The lines that would lead farthest fade; the words say where they lead.

    Given the agent works and saves: one, two, three, four
    And I roll back to each of: three, two, one
    And checkpoint 9 was pruned
    When I run "plan log auth --format rich" with COLUMNS=80
    Then every line of the drawing leads to the checkpoint that it should
    And the drawing has 4 columns
    And no line fades
    Given checkpoints 1 to 11 are no time old
    When I run "plan log auth --format rich" with COLUMNS=38
    Then it draws:
      """
      ◆      11  (latest) rollback to 2 [on…
      │          just now · rollback · 2 fi…
      │ ○    10  (follows 3) before rollbac…
      │ ┊        just now · pre_rollback
      │ ○     8  before rollback to checkpo…
      │ │        just now · pre_rollback · …
      │ ○     7  rollback to 4 [three]
      │ │        just now · rollback · 2 fi…
      │ │ ○   6  before rollback to checkpo…
      │ │ │      just now · pre_rollback · …
      │ │ ○   5  [four]
      │ ├─╯      just now · manual · 2 files
      │ ○     4  [three]
      │ │        just now · manual · 2 files
      │ ○     3  [two]
      ├─╯        just now · manual · 2 files
      ●       2  [one]
      │          just now · manual · 2 files
      ●       1  the sandbox as it was crea…
                 just now · initial
      Not shown: 1 failed or pruned (--all)
      """

  Scenario: Long reasons and odd ones fit into any terminal
    Given I save "a reason that is much too long for a narrow terminal, and it goes on like this"
    And I save "版本控制版本控制版本控制版本控制版本控制版本控制版本控制版本控制版本控制版本控制版本"
    And I roll back to "first"
    And I save "two\nlines and a [bold]tag[/bold] \e[31mred\e[0m"
    Then "plan log auth -v" fits into terminals, and every line of the drawing leads where it should:
      | width | a checkpoint takes |
      | 24    | two lines          |
      | 80    | two lines          |
      | 119   | two lines          |
      | 120   | one line           |
      | 160   | one line           |
    And it prints "[bold]tag[/bold] \x1b[31mred\x1b[0m"
    And it names every checkpoint by its id

  Scenario: Finding the plan
    When I run "plan log --format json" in the sandbox
    Then its JSON has data.plan "auth"
    When I run "plan log --format json" with PLAN_ID=auth
    Then its JSON has data.plan "auth"
    When I run "plan log -p auth --format json"
    Then its JSON has data.plan "auth"
    And these are refused in every format, with one sentence and a hint:
      | command               | exit code |
      | plan log nosuch       | 3         |
      | plan log              | 2         |
      | plan log auth -p auth | 2         |
      | plan log auth --limit 0 | 2       |

  Scenario: Looking changes nothing, also when the sandbox is gone
    Given the agent works and saves: one, two
    And I roll back to "one"
    And the sandbox was deleted
    And I take stock of everything
    When I run "plan log auth --format plain"
    Then it succeeds
    And it prints "rollback to 2 [one]"
    And no file, no ref, no index and no row has changed

  Scenario: Counting what changed takes one git, however many checkpoints there are
    Given the agent works and saves: one, two, three, four
    When I look at the timeline
    Then git was started 1 time

  Scenario: A store that has lost something
    Given the agent works and saves: one, two, three
    And the store loses the list of files of checkpoint "two"
    When I run "plan log auth --format plain"
    Then it draws, times left out:
      """
      @  4  manual                  [three] (latest)
      *  3  manual                  [two]
      *  2  manual         2 files  [one]
      *  1  initial                 the sandbox as it was created
      """
    And it notes "what changed cannot be counted everywhere (2 of 4)"

  Scenario: Without a terminal nothing heavy is loaded
    When I look at what "plan log auth" loads
    Then it loads: sqlalchemy
    And it loads none of: alembic, git, rich

  Scenario: Any history can be drawn
    Then any history is drawn newest first, each checkpoint once, and every line leads where it should
    And any history is drawn with the live line first and no more columns than it needs
    And any history is drawn within the columns that there are, and only then lines fade
