Feature: Small ignored files that people miss come back, and of the rest the names are known
  `.env` and its kind are captured as chosen ignored files are, unless plan.toml says otherwise. What
  else is ignored is not captured, but a checkpoint remembers its names: what is gone is told.

  Background:
    Given a repository with plan "auth"
    And .gitignore in the sandbox says: .env*, *.local*, *.tfvars, .npmrc, node_modules/, .claude/, *.log

  Scenario: What was deleted comes back, and what does not is named
    Given the agent writes "KEY=1\n" to ".env"
    And the agent writes "x\n" to "node_modules/x/.env"
    And the agent writes "log\n" to "debug.log"
    And I save checkpoint "one"
    When the agent runs "rm -r .env node_modules debug.log"
    And I remember the sandbox as "wreck"
    And I run "plan rollback auth one --dry-run --format json"
    Then it tells "not captured at the checkpoint, and gone since: debug.log, node_modules/"
    When I then run "plan rollback auth one --yes --format json"
    Then what happened is what the dry run told
    And its JSON has data.gone_since [{"file": "debug.log", "reason": "ignored"}, {"file": "node_modules/", "reason": "ignored"}]
    And its JSON has data.changes_reverted [{"file": ".env", "action": "restored"}]
    And ".env" holds "KEY=1\n"
    And no tree of files in the store holds "KEY=1\n"
    When I undo
    Then the sandbox is exactly as it was at "wreck"
    And the result says nothing more
    When I run "plan rollback auth one --yes --format plain"
    Then it prints "gone_since\tnode_modules/\tignored"

  Scenario Outline: A small file comes back: <path>
    Given the agent runs "sh -c '<before>'"
    And the agent writes "one\n" to "<path>"
    And I save checkpoint "one"
    When the agent writes "two\n" to "<path>"
    And I save checkpoint "two"
    And I roll back to "one"
    Then "<path>" holds "one\n"
    When I undo
    Then the sandbox is exactly as it was at "two"
    When the agent deletes "<path>"
    And I roll back to "one"
    Then "<path>" holds "one\n"
    And the result says nothing more

    Examples:
      | path                        | before                            |
      | .env.production             | true                              |
      | deep/down/.env              | true                              |
      | infra/prod.tfvars           | mkdir infra; echo > infra/main.tf |
      | settings.local              | true                              |
      | .npmrc                      | echo new > src.txt                |
      | .claude/settings.local.json | true                              |
      | nest/.env                   | git init -q nest; echo > nest/f   |
      | nest/.env                   | git init -q nest                  |

  Scenario: A small file that came after the checkpoint goes, and comes back with undo
    Given I save checkpoint "one"
    When the agent writes "KEY=1\n" to "app/.env"
    And I remember the sandbox as "two"
    And I roll back to "one"
    Then "app/.env" is not there
    When I undo
    Then the sandbox is exactly as it was at "two"

  Scenario Outline: What no default chooses is left alone: <what>
    Given the agent runs "sh -c '<before>'"
    And the agent writes "one\n" to "<path>"
    And I save checkpoint "one"
    When the agent writes "two\n" to "<path>"
    And I roll back to "one"
    Then "<path>" holds "two\n"

    Examples:
      | what                                  | path                    | before |
      | a file in an ignored directory        | node_modules/p/.env     | true   |
      | a directory of such a name            | .env/lib/site.py        | true   |
      | another name                          | debug.log               | true   |

  Scenario: A file of such a name that git tracks is a file like any other
    Given the agent runs "sh -c 'echo KEY=1 > .env; git add -f .env; git commit -qm env'"
    And I save checkpoint "one"
    When the agent writes "KEY=2\n" to ".env"
    And I run "plan diff -p auth one --format plain"
    Then it prints "modified\t.env\t1\t1"
    When I roll back to "one"
    Then ".env" holds "KEY=1\n"

  Scenario: What is too large is listed with the limit, and saved before it is replaced
    Given the agent writes 1048577 bytes to ".env"
    And I save checkpoint "large"
    Then the latest checkpoint tells that it does not hold: .env
    When I run "plan checkpoint show auth large --format plain"
    Then it prints ".env (ignored, and larger than 1 MiB, 1.0 MiB)"
    When the agent writes "small\n" to ".env"
    And I save checkpoint "small"
    And the agent writes 1048577 bytes to ".env"
    And I roll back to "small"
    Then ".env" holds "small\n"
    When I undo
    Then ".env" has 1048577 bytes
    When the agent deletes ".env"
    And I run "plan rollback auth large --yes --format json"
    Then it tells "not captured at the checkpoint, and gone since: .env"

  Scenario: Together they are held up to 16 MiB, the smallest first
    Given the agent runs "sh -c 'for n in 01 02 03 04 05 06 07 08 09 10 11 12 13 14 15 16; do head -c 1048576 /dev/zero > $n.local; done; echo KEY > .env'"
    When I save checkpoint "one"
    Then the latest checkpoint tells that it does not hold: 16.local
    When I run "plan checkpoint show auth one --format plain"
    Then it prints "16.local (ignored, and more than 16 MiB together with smaller ones, 1.0 MiB)"
    When the agent deletes ".env"
    And I roll back to "one"
    Then ".env" holds "KEY\n"

  Scenario Outline: plan.toml says what is chosen: <setting>
    Given plan.toml says: include_ignored = <setting>
    And the agent writes "one\n" to ".env"
    And the agent writes "one\n" to "debug.log"
    And I save checkpoint "one"
    When the agent writes "two\n" to ".env"
    And the agent writes "two\n" to "debug.log"
    And I roll back to "one"
    Then ".env" holds "<env>\n"
    And "debug.log" holds "<log>\n"

    Examples:
      | setting              | env | log |
      | []                   | two | two |
      | ["*.log"]            | two | one |
      | ["default", "*.log"] | one | one |

  Scenario: A checkpoint that knew of no such files leaves them alone
    Given plan.toml says: include_ignored = []
    And I save checkpoint "one"
    When plan.toml says: include_ignored = ["default"]
    And the agent writes "KEY=1\n" to ".env"
    And I roll back to "one"
    Then ".env" holds "KEY=1\n"
    And left alone were: .env

  Scenario: What a new sandbox gets is captured in it, too
    Given the user writes "*.pem\nconf/*.json\n!conf/public.json\ncerts/\n# and no more\n" to ".worktreeinclude"
    And plan.toml is "[sandbox]\ncopy = ['data/*.sqlite']\n"
    And the agent writes "*.pem\nconf\ncerts\ndata\nnode_modules\n" to ".gitignore"
    And the agent runs "sh -c 'mkdir -p a conf certs/deep data node_modules; touch node_modules/k.pem'"
    And the agent runs "touch a/key.pem conf/app.json conf/public.json certs/deep/ca data/app.sqlite data/other"
    And I save checkpoint "one"
    When the agent runs "rm -r a conf certs data node_modules"
    And I roll back to "one"
    Then "a/key.pem" is there
    And "conf/app.json" is there
    And "certs/deep/ca" is there
    And "data/app.sqlite" is there
    And the result says "gone since: conf/public.json, data/other, node_modules/"

  Scenario: A list that is no list of a few files is refused
    Given the user runs "sh -c 'yes a-rather-long-name-of-a-file | head -c 70000 > .worktreeinclude'"
    When I run "plan save auth"
    Then it exits with 1 and says "larger than 64 KiB"

  Scenario: A list that cannot be read as a file counts as none
    Given the user runs "mkfifo .worktreeinclude"
    When I run "plan save auth"
    Then it succeeds

  Scenario Outline: Odd things of such a name: <what>
    Given the agent runs "sh -c '<command>'"
    When I save checkpoint "one"
    Then the latest checkpoint tells <told>

    Examples:
      | what               | command                             | told                             |
      | a FIFO             | mkfifo .env                         | that it does not hold: .env      |
      | another FIFO       | mkfifo x.log                        | of nothing that it does not hold |
      | a link             | ln -s nowhere .env                  | of nothing that it does not hold |

  Scenario: One that nobody may look at
    Given the agent writes "KEY=1\n" to "d/.env"
    And these modes: d 0600
    When somebody without privileges runs "plan save auth --label one"
    Then it succeeds
    And the latest checkpoint tells that it does not hold: d/.env

  Scenario: Another sandbox gets them, and a branch of the user's does not
    Given the agent writes "KEY=1\n" to ".env"
    And the agent writes "x\n" to "node_modules/x"
    And I save checkpoint "one"
    When I run "plan fork -p auth one other"
    Then it succeeds
    And it notes "not captured at the checkpoint, and not in the new sandbox: node_modules/"
    When I run "plan checkpoint branch -p auth one shown"
    Then branch "shown" has no file ".env"
    When I run "plan checkpoint export -p auth one ../out --format json"
    Then its JSON has data.export.ignored_left_out 1
    When I run "plan remove auth --yes"
    And I run "plan restore auth"
    Then ".env" holds "KEY=1\n"
    When I speak of the plan "other" that was created
    Then ".env" holds "KEY=1\n"

  Scenario: Uncommitted changes of the user's are taken along with them
    Given the user writes ".env\n" to ".gitignore"
    And the user writes "KEY=1\n" to ".env"
    When I run "plan create new --from-dirty"
    And I speak of the plan "new" that was created
    Then ".env" holds "KEY=1\n"

  Scenario: More names than are kept
    Given the agent runs "sh -c 'for n in $(seq -f %0200g 6000); do : > $n.log; done'"
    And I save checkpoint "one"
    When the agent runs "sh -c 'rm *.log'"
    And I run "plan rollback auth one --yes --format json"
    Then it tells "the names of 885 more ignored files were not kept: whether they are still there is not known"
    When I run "plan status auth --format json"
    Then its JSON has data.changes []

  Scenario: What only came to be ignored is not told as deleted
    Given the agent writes "1\n" to "f.txt"
    And the agent writes "1\n" to "out/a"
    And the agent writes "1\n" to "out/b"
    And the agent writes "1\n" to "same.cfg"
    And the agent writes "1\n" to "other.cfg"
    And plan.toml says: include_ignored = ["*.cfg"]
    And I save checkpoint "one"
    When the agent writes "f.txt\nout/\n*.cfg\n" to ".gitignore"
    And the agent deletes "out/b"
    And the agent writes "2\n" to "other.cfg"
    And I run "plan diff -p auth one --format plain"
    Then it prints "ignored\tf.txt\t-\t-"
    And it prints "ignored\tout/a\t-\t-"
    And it prints "deleted\tout/b\t0\t1"
    And it prints "ignored\tsame.cfg\t-\t-"
    And it prints "modified\tother.cfg\t-\t-"
    When I save checkpoint "two"
    And I run "plan diff -p auth one two --format plain"
    Then it prints "ignored\tf.txt\t-\t-"
    And it prints "ignored\tout/a\t-\t-"
    And it prints "ignored\tsame.cfg\t-\t-"
    When I roll back to "one"
    Then restored were: .gitignore, other.cfg, out/b
