Feature: A state taken elsewhere: forks, branches, exports
  Any checkpoint can become a plan of its own, in exactly that state, an ordinary branch of the
  repository, or a directory or archive. The plan that it comes from is not touched.

  Background:
    Given a repository with plan "auth"

  @storage
  Scenario: A fork has its own sandbox in exactly that state
    Given "plan.toml" captures the ignored files: secret.log
    And the sandbox holds files of every kind
    And the agent commits its work, stages some and leaves some
    And the agent writes "a secret\n" to "secret.log"
    And I save checkpoint "one"
    And the agent works and saves: two
    And I take stock of the sandbox of "auth"
    When I run "plan fork auth one twin --format json"
    Then it succeeds
    And its JSON has data.plan.sandbox.branch "plan/twin"
    And its JSON has data.checkpoint.checkpoint_type "initial"
    And its JSON has data.checkpoint.metadata.forked_from.seq 2
    And the sandbox of "twin" is as "auth" was at "one", but for the branch
    And the sandbox of "auth" is as it was
    When I run "plan status twin --format json"
    Then its JSON has data.forked_from.plan "auth"
    And its JSON has data.changes []
    When I run "plan log twin"
    Then it prints "forked from checkpoint 2 of plan auth"
    And rows and refs agree, and nothing is half done

  Scenario: A fork outlives its origin
    Given the agent works and saves: one, two
    When I run "plan remove auth --yes --purge-files --confirm auth"
    And I run "plan fork auth one twin"
    Then it succeeds
    When I run "plan remove auth --purge --yes --confirm auth"
    Then it succeeds
    When I run "plan status twin --format plain"
    Then it prints "forked_from: auth, checkpoint 2"
    When I speak of the plan "twin" that was created
    Then "work.txt" holds "at one\n"
    When the agent works and saves: three
    And I roll back to "first"
    Then "work.txt" holds "at one\n"

  Scenario: What cannot be forked
    Given the agent works and saves: one
    When I run "plan fork auth one auth"
    Then it exits with 5
    When I run "plan fork auth nothing twin"
    Then it exits with 3
    When I run "plan fork auth one 'no name'"
    Then it exits with 2
    Given the user runs "git branch plan/twin"
    When I run "plan fork auth one twin"
    Then it exits with 5
    And the plans are: auth

  @storage
  Scenario: A fork that is killed at any step is finished by the next command
    Given the agent works and saves: one
    And the agent commits its work, stages some and leaves some
    And I save checkpoint "dirty"
    When "plan fork auth dirty twin" is killed at each failpoint of making a plan, and each time it is run again
    Then every time the fork was as "auth" was at "dirty", and nothing was half done

  Scenario: A fork that cannot be proven is told, and tried again
    Given the agent works and saves: one
    When somebody writes to "work.txt" of the fork "twin" of "one" while it is made
    Then it is refused with exit code 11
    When I run "plan save twin"
    Then it succeeds
    When I run "plan diff -p twin 2 --patch"
    Then it prints nothing
    When I run "plan status twin --format json"
    Then its JSON has data.forked_from.plan "auth"

  Scenario: A checkpoint as an ordinary branch
    Given the agent commits its work, stages some and leaves some
    And I save checkpoint "one"
    When I run "plan checkpoint branch auth one review/one -m 'as it was' --format json"
    Then it succeeds
    And branch "review/one" holds: .gitignore, README.md, src/app.py, staged.txt, untracked/new.txt
    And the parent of branch "review/one" is what "plan/auth" was at "one"
    When I run "plan checkpoint branch auth one review/one"
    Then it exits with 5 and says "already exists"
    When I run "plan checkpoint branch auth one review"
    Then it exits with 5
    When I run "plan checkpoint branch auth one -- --force"
    Then it exits with 2
    When I run "plan checkpoint branch auth one bad..name"
    Then it exits with 2

  Scenario: In a branch files are what git itself would have committed
    Given the user runs "git config core.autocrlf input"
    And the agent writes "one\r\ntwo\r\n" to "dos.txt"
    And the agent writes "ignored\n" to "debug.log"
    And I save checkpoint "one"
    When I run "plan checkpoint branch auth one review"
    Then it succeeds
    And "dos.txt" of branch "review" is "one\ntwo\n"
    And branch "review" holds: .gitignore, README.md, dos.txt, src/app.py, src/lib/util.py

  Scenario: Submodules and what is out of a sparse cone stay in a branch
    Given the agent adds the submodules "ready" and "bare", and only "ready" is initialised
    And the agent runs "git sparse-checkout set --no-cone /README.md /.gitmodules /ready /bare"
    And I save checkpoint "one"
    When I run "plan checkpoint branch auth one review"
    Then it succeeds
    And branch "review" is no different from "plan/auth"

  Scenario: A checkpoint as a directory and as archives
    Given "plan.toml" captures the ignored files: secret.log
    And the sandbox holds files of every kind
    And the agent commits its work, stages some and leaves some
    And the agent writes "a secret\n" to "secret.log"
    And I save checkpoint "one"
    When I run "plan checkpoint export auth one ../out --format json"
    Then it succeeds
    And its JSON has data.export.ignored_left_out 1
    And the directory "out" is as "auth" was at "one", without: secret.log
    When I run "plan checkpoint export auth one ../all --with-ignored"
    Then the directory "all" is as "auth" was at "one", without: nothing
    When I run "plan checkpoint export auth one ../one.tar"
    And the user runs "mkdir ../unpacked"
    And the user runs "tar -xpf ../one.tar -C ../unpacked"
    Then the directory "unpacked" is as "auth" was at "one", without: secret.log
    When I run "plan checkpoint export auth one ../one.tar.gz --print path"
    And the user runs "tar -tzf ../one.tar.gz"
    And I run "plan checkpoint export auth one ../one.tar.gz"
    Then it exits with 5 and says "nothing is overwritten"
    When the user runs "ln -s out ../link"
    And I run "plan checkpoint export auth one ../link"
    Then it exits with 5
    When I run "plan checkpoint export auth one ../no/such/place"
    Then it exits with 1
    And no half-written export is left beside the repository

  Scenario: Links that lead nowhere are exported as links
    Given the agent links "astray" to "no/such/place"
    And I save checkpoint "linked"
    When I run "plan checkpoint export auth linked ../out --format json"
    Then it succeeds
    And no half-written export is left beside the repository
