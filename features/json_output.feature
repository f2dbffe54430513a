Feature: JSON output
  With --format json every command prints one envelope, and its data is as the command's schema in
  docs/reference/schemas says. The answers of all other features are held against the schemas, too.

  Background:
    Given a repository with plan "auth"
    And the agent works and saves: one, two

  Scenario: Every command answers as documented
    Given plan "long"
    And plan "long" runs "sleep 600" in the background
    When I ask for JSON with each of these:
      | command                              |
      | plan create other                    |
      | plan list                            |
      | plan status auth                     |
      | plan path auth                       |
      | plan save auth --label three         |
      | plan diff -p auth one --patch        |
      | plan rollback auth one --yes         |
      | plan undo auth                       |
      | plan redo auth                       |
      | plan policy auth --max-checkpoints 29 |
      | plan checkpoint pin auth one         |
      | plan checkpoint unpin auth one       |
      | plan checkpoint prune auth --yes     |
      | plan checkpoint label auth three --clear |
      | plan checkpoint delete auth 4 --yes  |
      | plan decision add auth 'use SQLite'  |
      | plan decision list auth --all        |
      | plan decision tree auth              |
      | plan decision show auth D1           |
      | plan correct auth D1 --mode append --guidance more |
      | plan correct auth D1 --mode revert --guidance other --yes |
      | plan ops auth                        |
      | plan run auth --format json -- true  |
      | plan run other --step build --format json -- true |
      | plan run other --step build --format json -- true |
      | plan steps other                     |
      | plan tool other ruff --format json -- true |
      | plan runs list auth                  |
      | plan runs show auth 1                |
      | plan abort long                      |
      | plan resume long --dry-run           |
      | plan log auth                        |
      | plan fork auth one twin              |
      | plan checkpoint branch auth one x/y  |
      | plan checkpoint export auth one ../x |
      | plan cancel auth                     |
      | plan remove auth --yes               |
      | plan restore auth                    |
      | plan apply other --yes               |
      | plan demo                            |
      | plan checkpoint create auth --pin    |
      | plan checkpoint list auth --all      |
      | plan checkpoint show auth one        |
      | plan checkpoint diff -p auth one two |
      | plan checkpoint label auth one begun |
      | plan config show                     |
      | plan config check                    |
      | plan db status                       |
      | plan db upgrade                      |
      | plan db path                         |
      | plan --version                       |
    Then all of them succeeded
    And no command of the program was left out

  Scenario: Every command fails as documented
    When I ask for JSON with each of these:
      | command                                 | error         |
      | plan create auth                        | refused       |
      | plan list -C ..                         | failed        |
      | plan status nothing                     | not_found     |
      | plan path nothing                       | not_found     |
      | plan save auth --label latest           | usage         |
      | plan diff -p auth one nothing           | not_found     |
      | plan rollback auth one                  | not_confirmed |
      | plan undo auth                          | failed        |
      | plan redo auth                          | failed        |
      | plan ops nothing                        | not_found     |
      | plan run nothing --format json -- true  | not_found     |
      | plan run auth --env A --format json -- true | usage      |
      | plan steps nothing                      | not_found     |
      | plan tool nothing x --format json -- true | not_found   |
      | plan tool auth 'a b' --format json -- true | usage     |
      | plan abort auth                         | failed        |
      | plan resume auth                        | failed        |
      | plan runs list nothing                  | not_found     |
      | plan runs show auth 9                   | not_found     |
      | plan decision add auth ''               | usage         |
      | plan decision list nothing              | not_found     |
      | plan decision tree nothing              | not_found     |
      | plan decision show auth D9              | not_found     |
      | plan correct auth D9 --mode append --guidance x | not_found |
      | plan policy auth --max-checkpoints 0    | usage         |
      | plan checkpoint pin auth nothing        | not_found     |
      | plan checkpoint unpin auth nothing      | not_found     |
      | plan checkpoint prune auth              | not_confirmed |
      | plan checkpoint delete auth one         | not_confirmed |
      | plan log nothing                        | not_found     |
      | plan fork auth one                      | usage         |
      | plan checkpoint branch auth one main    | refused       |
      | plan checkpoint export auth one ..      | refused       |
      | plan cancel nothing                     | not_found     |
      | plan remove auth                        | not_confirmed |
      | plan restore auth                       | failed        |
      | plan apply auth --onto nothing --yes    | not_found     |
      | plan demo nothing                       | usage         |
      | plan checkpoint create auth --meta nope | usage         |
      | plan checkpoint list nothing            | not_found     |
      | plan checkpoint show auth nothing       | not_found     |
      | plan checkpoint diff -p nothing         | not_found     |
      | plan checkpoint label auth one two      | refused       |
      | plan config show -C ..                  | failed        |
      | plan config check -C ..                 | failed        |
      | plan db status -C ..                    | failed        |
      | plan db upgrade -C ..                   | failed        |
      | plan db path -C ..                      | failed        |
      | plan                                    | usage         |
      | plan nonsense                           | usage         |
    Then each of them failed with its error
    And no command of the program was left out

  Scenario: The format can also come from the environment
    When I run "plan path auth" with PLAN_FORMAT=json
    Then its JSON has command "path"

  Scenario: An answer that is not documented would be noticed
    When I run "plan status auth --format json"
    Then it would be noticed if the answer
      | had             | at          | value     |
      | another field   | data.more   | 1         |
      | another field   | more        | 1         |
      | another value   | data.latest | 7         |
      | another value   | status      | "fine"    |
      | another command | command     | "unknown" |
      | another code    | exit_code   | 1         |
      | no such field   | data.plan   |           |
      | no such field   | messages    |           |
