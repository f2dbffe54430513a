Feature: Which ignored files patterns choose, and which of them are new
  A name without a slash is looked for wherever git looks, a path from the root, also in ignored
  directories. A rollback removes a chosen file only if the checkpoint would have held it, had it
  been there: what nobody had looked for is not known to be new, and left alone.

  Background:
    Given a repository with plan "auth"
    And plan.toml says: include_ignored = [".env", "data/*.sqlite"]
    And .gitignore in the sandbox says: .env, data, *.log

  Scenario: A chosen name in a directory that was ignored is not taken for a new one
    Given .gitignore in the sandbox says: ign
    And the agent writes "secret\n" to "ign/.env"
    And I save checkpoint "one"
    When the agent writes ".env\n" to ".gitignore"
    And I roll back to "one"
    Then "ign/.env" holds "secret\n"

  Scenario Outline: A file in a directory of a chosen name that another rule had ignored: <patterns>
    Given plan.toml says: include_ignored = [<patterns>]
    And the agent writes "<then>" to ".gitignore"
    And the agent writes "work\n" to "<path>"
    And I save checkpoint "one"
    When the agent writes "<now>" to ".gitignore"
    And I remember the sandbox as "two"
    And I roll back to "one"
    Then "<path>" holds "work\n"
    When I undo
    Then the sandbox is exactly as it was at "two"

    Examples:
      | patterns               | then           | now      | path          |
      | "cache"                | cache/\n*.log  | cache/\n | cache/x.log   |
      | ".env", "data/*.sqlite" | .env\ndata\n   | .env\n   | data/.env     |
      | ".env", "data/*.sqlite" | .env\ndata\n   | .env\n   | data/sub/.env |
      | ".env", "/top"          | .env\nign\n    | .env\n   | ign/.env      |
      | ".env", "**/x"          | .env\nign\n    | .env\n   | ign/.env      |

  Scenario Outline: A file that a rule of the present ignores is there after an undo: <patterns>
    Given plan.toml says: include_ignored = [<patterns>]
    And the agent writes "<then>" to ".gitignore"
    And I save checkpoint "one"
    When the agent writes "<now>" to ".gitignore"
    And the agent writes "work\n" to "<path>"
    And I remember the sandbox as "two"
    And I roll back to "one"
    And I undo
    Then the sandbox is exactly as it was at "two"
    And "<path>" holds "work\n"

    Examples:
      | patterns               | then     | now            | path          |
      | "cache"                | cache/\n | cache/\n*.log  | cache/x.log   |
      | ".env", "data/*.sqlite" | .env\n   | .env\ndata\n   | data/sub/.env |
      | ".env", "/top"          | .env\n   | .env\nign\n    | ign/.env      |

  Scenario Outline: A chosen file that is new goes, and comes back with undo: <path>
    Given plan.toml says: include_ignored = [".env", "data/*.sqlite", "/top", "**/x"]
    And I save checkpoint "one"
    When the agent writes "new\n" to "<path>"
    And I remember the sandbox as "two"
    And I roll back to "one"
    Then "<path>" is not there
    When I undo
    Then the sandbox is exactly as it was at "two"

    Examples:
      | path          |
      | .env          |
      | deep/.env     |
      | data/a.sqlite |
      | data/x        |

  Scenario Outline: The pattern "<pattern>" names a directory
    Given plan.toml says: include_ignored = ["<pattern>"]
    And the agent writes "one\n" to "data/cache/deep/file"
    And the agent writes "one\n" to "data/cache/some.log"
    And the agent writes "one\n" to "data/other"
    And I save checkpoint "one"
    When the agent writes "two\n" to "data/cache/deep/file"
    And the agent writes "two\n" to "data/cache/some.log"
    And the agent writes "two\n" to "data/other"
    And the agent writes "two\n" to "data/cache/new"
    And I roll back to "one"
    Then "data/cache/deep/file" holds "one\n"
    And "data/cache/some.log" holds "one\n"
    And "data/cache/new" is not there
    And "data/other" holds "two\n"

    Examples:
      | pattern      |
      | data/cache   |
      | /data/cache/ |
      | data/ca*     |
      | **/cache     |

  Scenario Outline: The name "<pattern>" is that of an ignored directory
    Given plan.toml says: include_ignored = ["<pattern>"]
    And the agent writes "cache/\n" to ".gitignore"
    And the agent writes "old\n" to "cache/a"
    And I save checkpoint "one"
    When the agent writes "new\n" to "cache/a"
    And the agent writes "new\n" to "cache/n"
    And the agent writes "new\n" to "q/cache/deep/z"
    And I remember the sandbox as "two"
    And I roll back to "one"
    Then the sandbox is exactly as it was at "one"
    When I undo
    Then the sandbox is exactly as it was at "two"

    Examples:
      | pattern |
      | cache   |
      | cache/  |

  Scenario: A file that was chosen at the checkpoint and is captured like others by now
    Given plan.toml says: include_ignored = ["conf"]
    And the agent writes "conf\n" to ".gitignore"
    And I save checkpoint "one"
    When the agent writes "\n" to ".gitignore"
    And the agent writes "work\n" to "c/conf"
    And I remember the sandbox as "two"
    And I roll back to "one"
    And I remember the sandbox as "back"
    Then "c/conf" holds "work\n"
    When I undo
    Then the sandbox is exactly as it was at "two"
    When I redo
    Then the sandbox is exactly as it was at "back"
    When I undo
    Then the sandbox is exactly as it was at "two"

  Scenario: No directory stays behind when the chosen file in it goes
    Given plan.toml says: include_ignored = ["ign*"]
    And the agent writes "/ign\n" to ".gitignore"
    And I save checkpoint "one"
    When the agent writes "ign*\n" to ".gitignore"
    And the agent writes "new\n" to "deep/down/ign/file"
    And I remember the sandbox as "two"
    And I roll back to "one"
    Then the sandbox is exactly as it was at "one"
    When I undo
    Then the sandbox is exactly as it was at "two"

  Scenario Outline: A chosen file in a repository <where> is captured, and left alone when it was there
    Given plan.toml says: include_ignored = ["data/**/*.sqlite", ".env"]
    And the agent runs "git init --quiet <place>"
    And the agent writes "<rules>\n" to "<place>/.gitignore"
    And the agent writes "rows\n" to "<place>/<name>"
    And I save checkpoint "one"
    When the agent writes "other\n" to "<place>/<name>"
    And I save checkpoint "two"
    And I roll back to "one"
    Then "<place>/<name>" holds "rows\n"
    When I undo
    Then "<place>/<name>" holds "other\n"
    When the agent deletes "<place>/.git"
    And I roll back to "one"
    Then "<place>/<name>" holds "rows\n"

    Examples:
      | where                                          | place          | name       | rules |
      | in an ignored directory                        | data/repo      | app.sqlite | *     |
      | in a repository in an ignored directory        | data/repo/deep | app.sqlite | x     |
      | of which nothing else is captured              | nest           | .env       | *     |
      | with captured files                            | nest           | .env       | .env  |

  Scenario Outline: The pattern "<pattern>" leads into a repository, <what>
    Given plan.toml says: include_ignored = ["<pattern>"]
    And the agent writes "vendor\napi/.env\n" to ".gitignore"
    And the agent runs "<make>"
    And the agent writes "one\n" to "<file>"
    And I save checkpoint "one"
    When the agent writes "two\n" to "<file>"
    And I save checkpoint "two"
    And I roll back to "one"
    Then "<file>" holds "one\n"
    When I undo
    Then "<file>" holds "two\n"
    When the agent runs "rm -rf vendor/.git vendor/sub/.git api/.git"
    And I roll back to "one"
    Then "<file>" holds "one\n"

    Examples:
      | pattern           | what                       | file              | make                                                           |
      | vendor/sub/data/x | the outer one of two       | vendor/sub/data/x | sh -c 'git init -q vendor; git init -q vendor/sub'             |
      | vendor/sub/data/x | in an ignored directory    | vendor/sub/data/x | git init -q vendor/sub                                         |
      | vendor/sub/data/x | the ignored directory      | vendor/sub/data/x | git init -q vendor                                             |
      | vendor/sub/data/* | with commits               | vendor/sub/data/x | sh -c 'git init -q vendor/sub; git -C vendor/sub commit -q --allow-empty -m c' |
      | vendor/sub/       | by its own name            | vendor/sub/data/x | git init -q vendor/sub                                         |
      | api/.env          | of which nothing is captured | api/.env        | git init -q api                                                |

  Scenario: A chosen file in two repositories in each other in an ignored directory
    Given plan.toml says: include_ignored = ["data/**/*.sqlite"]
    And the agent runs "git init --quiet data/repo"
    And the agent runs "git init --quiet data/repo/deep"
    And the agent writes "rows\n" to "data/repo/deep/app.sqlite"
    And I save checkpoint "one"
    When the agent writes "other\n" to "data/repo/deep/app.sqlite"
    And the agent writes "new\n" to "data/repo/new.sqlite"
    And I roll back to "one"
    Then "data/repo/deep/app.sqlite" holds "rows\n"
    And "data/repo/new.sqlite" is not there
    And "data/repo/deep/.git/HEAD" is there
    When I undo
    Then "data/repo/deep/app.sqlite" holds "other\n"
    And "data/repo/new.sqlite" holds "new\n"

  Scenario: Undo takes away what a rollback brought, also if a pattern chooses it by then
    Given plan.toml says: include_ignored = []
    And the agent writes "" to ".gitignore"
    And the agent writes "l\n" to "x.log"
    And I save checkpoint "one"
    When the agent deletes "x.log"
    And the agent writes "*.log\n" to ".gitignore"
    And I remember the sandbox as "two"
    And I roll back to "one"
    And the agent writes "*.log\n" to ".gitignore"
    And plan.toml says: include_ignored = ["*.log"]
    And I undo
    Then the sandbox is exactly as it was at "two"
