Feature: New sandboxes that work at once
  Chosen ignored files come along from the main checkout, and with --from-dirty the user's
  uncommitted changes do. The user's own checkout is not touched.

  Background:
    Given a repository

  Scenario: Ignored files that plan.toml and .worktreeinclude choose come along
    Given the user writes "[sandbox]\ncopy = ['.env', 'data/*.sqlite']\n" to "plan.toml"
    And the user writes "# for worktrees\nconfig/**\n!config/big.bin\nREADME.md\nuntracked.txt\n" to ".worktreeinclude"
    And the user writes ".env\ndata/\nconfig/\nnode_modules/\n" to ".gitignore"
    And the user writes "TOKEN=1\n" to ".env"
    And the user writes "rows\n" to "data/app.sqlite"
    And the user writes "other\n" to "data/other.txt"
    And the user writes "local\n" to "config/local/settings.ini"
    And the user writes "big\n" to "config/big.bin"
    And the user writes "module\n" to "node_modules/x/index.js"
    And the user writes "not ignored\n" to "untracked.txt"
    And the user runs "ln -s ../../outside config/link"
    And the user runs "chmod 600 .env"
    When I run "plan create auth --format json"
    Then it succeeds
    And its JSON has data.copied [".env", "config/link", "config/local/settings.ini", "data/app.sqlite"]
    When I speak of the plan "auth" that was created
    Then ".env" holds "TOKEN=1\n"
    And ".env" has mode 600
    And "config/link" is a link to "../../outside"
    And "data/other.txt" is not there
    And "config/big.bin" is not there
    And "node_modules" is not there
    And "untracked.txt" is not there
    When I run "plan create again"
    Then it prints "data/app.sqlite"
    When I run "plan create pretty --format rich"
    Then it prints "Brought along"

  Scenario: A list that is a link is not followed, and links in the way are not written through
    Given the user writes ".env\nsub/\n.worktreeinclude\n" to ".gitignore"
    And the user runs "git add .gitignore"
    And the user runs "git commit --quiet -m rules"
    And the user writes ".env\n" to "elsewhere.txt"
    And the user runs "ln -s elsewhere.txt .worktreeinclude"
    And the user writes "TOKEN=1\n" to ".env"
    When I run "plan create auth --format json"
    Then its JSON has data.copied []

  Scenario: Uncommitted changes are taken along, and stay where they are
    Given the user has a stash, a tag, staged work and work that is not staged
    And I take stock of the user's repository
    And I take stock of the user's files
    When I run "plan create auth --from-dirty --format json"
    Then it succeeds
    And the sandbox of "auth" has the user's files, staged and not
    And the user's files are as they were, dates and index included
    And the user's repository is as it was, but for branch "plan/auth"
    When I run "plan status auth --format json"
    Then its JSON has data.changes []
    And rows and refs agree, and nothing is half done

  Scenario: What --from-dirty cannot do
    When I run "plan create auth --from-dirty --base HEAD"
    Then it exits with 2
    When I run "plan create auth --from-dirty --sandbox ."
    Then it exits with 2
    Given a repository without commits
    When I run "plan create auth --from-dirty"
    Then it exits with 5
    And the plans are: nothing

  Scenario: Uncommitted changes of another worktree are that worktree's
    Given the user runs "git worktree add --quiet ../other"
    When I run "plan create auth --from-dirty" in "other"
    Then it succeeds
    And the sandbox of "auth" holds the files of the repository
