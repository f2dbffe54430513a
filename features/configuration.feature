Feature: Settings of a repository
  `plan.toml` in the main checkout sets what is usual for all plans. Whatever is wrong in it is told
  in one sentence with the nearest thing that would be right, and nothing is done until it is mended.
  A `plan.toml` inside a sandbox counts for nothing: it belongs to whoever works there.

  Background:
    Given a repository with plan "auth"

  Scenario: Whatever is wrong in plan.toml, one sentence tells it and nothing changes
    Then each of these in place of plan.toml is refused:
      | plan.toml                                         | says                                            | hint                              |
      | [captur]\n                                        | captur is not a setting                         | the nearest one is capture        |
      | max_checkpoints = 5\n                             | max_checkpoints is not a setting                | the nearest one is                |
      | [capture]\ninclude_ignord = []\n                  | capture.include_ignord is not a setting         | capture.include_ignored           |
      | [tools.pytest]\nwrite = true\n                    | tools.pytest.write is not a setting             | tools.pytest.writes               |
      | capture = 1\n                                     | capture must be a section                       | write [capture]                   |
      | [tools]\npytest = true\n                          | tools.pytest must be a section                  | write [tools.pytest]              |
      | [[sandbox]]\nroot = '..'\n                        | sandbox must be a section                       | write [sandbox]                   |
      | [tools.'rm -rf']\nwrites = true\n                 | tools.rm -rf cannot be the name of a tool       | letters, digits                   |
      | [capture]\ninclude_ignored = '.env'\n             | capture.include_ignored must be a list          | for instance [".env"              |
      | [capture]\ninclude_ignored = [1]\n                | capture.include_ignored must be a list          | for instance [".env"              |
      | [capture]\ninclude_ignored = ['!x']\n             | capture.include_ignored must be a list          | '!x' begins with !                |
      | [capture]\ninclude_ignored = ['.env', '#x']\n     | capture.include_ignored must be a list          | '#x' begins with #                |
      | [capture]\ninclude_ignored = ['.env', '']\n       | capture.include_ignored must be a list          | '' names nothing                  |
      | [capture]\ninclude_ignored = ['''a\nb''']\n        | capture.include_ignored must be a list          | has a line break or a NUL         |
      | [capture]\ninclude_ignored = ['./g/x']\n         | capture.include_ignored must be a list          | './g/x' has ./ or // in it        |
      | [capture]\ninclude_ignored = ['h//x']\n          | capture.include_ignored must be a list          | 'h//x' has ./ or // in it         |
      | [capture]\ninclude_ignored = ['h//']\n           | capture.include_ignored must be a list          | 'h//' has ./ or // in it          |
      | [capture]\ninclude_ignored = ['h\']\n             | capture.include_ignored must be a list          | ends with a backslash             |
      | [sandbox]\ncopy = ['../x']\n                      | sandbox.copy must be a list of patterns         | has .. in it                      |
      | [capture]\nmax_file_size = 'large'\n              | capture.max_file_size must be a size            | such as "100 MiB"                 |
      | [capture]\nmax_file_size = -1\n                   | capture.max_file_size must be a size            | such as "100 MiB"                 |
      | [steps]\nmax_output_bytes = 1e3\n                 | steps.max_output_bytes must be a size           | such as "100 MiB"                 |
      | [retention]\nmax_checkpoints = 0\n                | max_checkpoints must be a whole number, 1       | without quotes                    |
      | [retention]\nkeep_recent = true\n                 | retention.keep_recent must be a whole number    | without quotes                    |
      | [retention]\nmax_age = 30\n                       | retention.max_age must be a span of time        | "30d"                             |
      | [retention]\nmax_age = '99999w'\n                 | retention.max_age must be a span of time        | "30d"                             |
      | [rollback]\nallowed = 'no'\n                      | rollback.allowed must be true or false          | without quotes                    |
      | [triggers]\nenabled = ['on_eror']\n               | triggers.enabled must be a list of some of      | nearest one to 'on_eror' is on_error |
      | triggers = ['on_error', 'on_error']\n             | triggers.enabled must be a list of some of      | or [] for none                    |
      | [triggers]\nenabled = 'on_error'\n                | triggers.enabled must be a list of some of      | or [] for none                    |
      | [tools.x]\ncheckpoint = 'always'\n                | tools.x.checkpoint must be one of before, after | in quotes                         |
      | [apply]\nstrategy = 2\n                           | apply.strategy must be one of squash, merge, ff | in quotes                         |
      | [sandbox]\nroot = ''\n                            | sandbox.root must be a directory                | begins at the main checkout       |
      | [sandbox]\nroot = "a\u0000b"\n                    | sandbox.root must be a directory                | begins at the main checkout       |
      | [sandbox]\nroot = '.git/plans'\n                  | sandbox.root cannot be inside the git directory | outside                           |
      | [sandbox]\nbranch_prefix = '../x'\n               | sandbox.branch_prefix must be the beginning     | for instance "work/"              |
      | [sandbox]\nbranch_prefix = 'a/.b'\n               | sandbox.branch_prefix must be the beginning     | for instance "work/"              |
      | capture = = 1\n                                   | is not valid TOML: invalid value (at line 1     | correct the file                  |
      | [steps]\n[steps]\n                                | (at line 2                                      | correct the file                  |
      | [steps]\nmax_output_bytes = 1\nmax_output_bytes = 2\n | (at line 3                                  | correct the file                  |
      | a number with 5000 digits                         | is not valid TOML                               | correct the file                  |
      | lists a thousand deep                             | is nested too deeply                            | correct the file                  |
      | a byte in line 2 that is not UTF-8                | is not UTF-8: a wrong byte is in line 2         | correct the file                  |
      | two megabytes                                     | is larger than 1048576 bytes                    | correct the file                  |
      | a directory                                       | is not a file                                   | move away                         |
      | a named pipe                                      | is not a file                                   | move away                         |
      | a link to the sandbox                             | is a symbolic link that leads out of the checkout | put the file itself there       |
      | a link to nowhere                                 | is a symbolic link that leads nowhere           | correct the file                  |
      | a link to itself                                  | is a symbolic link that leads nowhere           | correct the file                  |
    And no file, no ref, no index and no row has changed

  Scenario: A wrong plan.toml looks the same in every format
    Given plan.toml is "[captur]\n"
    When I run "plan config check" in every format
    Then every format says so in one sentence with a hint, and exits with 2

  Scenario: A plan.toml that may not be read
    Given plan.toml is "[steps]\n"
    And nobody may read plan.toml
    When somebody without privileges runs "plan status auth"
    Then it exits with 2 and says "cannot be read: Permission denied"

  Scenario: Several mistakes are told at once
    Given plan.toml is "[rollback]\nallowed = 1\n[steps]\nmax_ouput = 1\n"
    When I run "plan config check"
    Then it exits with 2 and says "rollback.allowed must be true or false"
    And it notes "  steps.max_ouput is not a setting (the nearest one is steps.max_output_bytes)"

  Scenario: What does not depend on settings works all the same, and says so
    Given plan.toml is "[captur]\n"
    When I run "plan path auth"
    Then it prints nothing but the path of the sandbox of "auth"
    And it notes "captur is not a setting; what is shown here does not depend on it"
    And these work all the same: plan list, plan log auth, plan ops auth, plan --version, plan db path
    And these exit with 2: plan create other, plan status auth, plan save auth, plan diff -p auth, plan rollback auth first --yes, plan undo auth, plan policy auth, plan config show

  Scenario: A repository without plans tells of a wrong plan.toml, and nothing is made there
    Given a repository "fresh" with this plan.toml: "[captur]\n"
    And I take stock of everything
    When I run "plan list -C ../fresh"
    Then it succeeds
    And it notes "captur is not a setting"
    When I run "plan create one -C ../fresh"
    Then it exits with 2
    And no file, no ref, no index and no row has changed

  Scenario: Without plan.toml everything is as usual
    When I run "plan config check"
    Then it prints "there is no "
    When I run "plan config show --format json"
    Then its JSON has data.found false
    And all settings come from: default
    And a section with everything as usual stands for no section at all

  Scenario: Every setting says where it comes from
    Given plan.toml is "triggers = []\n[capture]\nmax_file_size = '1 MiB'\n[retention]\nmax_age = '30d'\n[sandbox]\nroot = '~/plans'\n[tools.pytest]\nwrites = false\n"
    When I run "plan config show --format json" with PLAN_DATABASE_URL=postgresql+psycopg://me:secret@host/db
    Then these settings are in force:
      | key                     | value                              | source      | origin            |
      | database                | "postgresql+psycopg://me@host/db"  | environment | PLAN_DATABASE_URL |
      | triggers.enabled        | []                                 | file        | {file}            |
      | capture.max_file_size   | 1048576                            | file        | {file}            |
      | retention.max_age       | "30 days"                          | file        | {file}            |
      | retention.max_bytes     | null                               | default     |                   |
      | sandbox.root            | "{home}/plans"                     | file        | {file}            |
      | tools.pytest.writes     | false                              | file        | {file}            |
      | tools.pytest.checkpoint | null                               | default     |                   |
    When I run "plan config show"
    Then it prints "tools.pytest.writes = false (plan.toml)"
    When I run "plan config show --format rich -v"
    Then it prints "the tool only reads"
    When I run "plan config check"
    Then it prints "plan.toml: nothing wrong, 5 settings"

  Scenario: A sandbox cannot change the settings
    Given plan.toml is "[retention]\nmax_checkpoints = 9\n"
    And the agent writes "[retention]\nmax_checkpoints = 1\n[sandbox]\nroot = '/'\n" to "plan.toml"
    When I run "plan config check" in the sandbox
    Then it succeeds
    And it notes "auth/plan.toml is not read: only "
    When I run "plan policy --format json" in the sandbox
    Then its JSON has data.policy.retention.max_checkpoints 9

  Scenario: A repository whose git directory is elsewhere keeps its plan.toml there
    Given a repository "bare" whose git directory is elsewhere, with this plan.toml beside the files: "[retention]\nmax_checkpoints = 7\n"
    When I run "plan create one -C ../bare"
    Then it exits with 2 and says "is not read: this repository's git directory is elsewhere"
    Given that plan.toml is moved to the git directory
    When I run "plan create one -C ../bare"
    Then it succeeds
    When I run "plan policy one -C ../bare.plans/one --format json"
    Then its JSON has data.policy.retention.max_checkpoints 7

  Scenario: Limits of plan.toml hold for plans that have none of their own
    Given plan.toml is "[retention]\nmax_checkpoints = 4\nkeep_recent = 1\nmax_age = '2w'\n"
    When 6 checkpoints of type "manual" are saved
    Then 4 checkpoints are complete and 3 are tombstones
    When I run "plan policy auth --max-checkpoints 6 --max-age none --format json"
    Then its JSON has data.policy.retention.max_checkpoints 6
    And its JSON has data.policy.retention.keep_recent 1
    And its JSON has data.policy.retention.max_age_seconds null
    When 3 checkpoints of type "manual" are saved
    Then 6 checkpoints are complete and 4 are tombstones
    When I run "plan policy auth --reset --format json"
    Then its JSON has data.policy.retention.max_checkpoints 4
    And its JSON has data.policy.retention.max_age_seconds 1209600

  Scenario: Sandboxes are made where plan.toml says, on branches that it names
    Given plan.toml is "[sandbox]\nroot = '../elsewhere'\nbranch_prefix = 'work-'\n"
    And the user runs "git branch plan-is-taken"
    When I run "plan create other --format json"
    Then it succeeds
    And its JSON has data.plan.sandbox.branch "work-other"
    And there is a folder "elsewhere/other"
    When I run "plan path" in "elsewhere/other"
    Then it prints "elsewhere/other"
    When I run "plan rollback first --yes" in "elsewhere/other"
    Then it succeeds
