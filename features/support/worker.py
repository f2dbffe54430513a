"""One of many processes that work at once, as: worker.py GO REPOSITORY WHAT NAME COUNT.

It gets ready, waits until the file GO appears, and then saves checkpoints of one plan, or creates
a plan and then saves.
"""

import os
import sys
import time
from pathlib import Path

from backtrail.bootstrap import open_services


def work(repository: Path, what: str, name: str, count: int) -> None:
    services = open_services(repository, os.environ, command_line="worker")
    try:
        if what == "create":
            services.plans.create(name)
        plan = services.plans.resolve(name)
        for number in range(count):
            place = plan.sandbox.path / f"by {os.getpid()}.txt"
            place.write_text(f"{number}\n")
            services.checkpoints.create_checkpoint(plan.plan_id)
    finally:
        services.close()


def main() -> None:
    go, repository, what, name, count = sys.argv[1:]
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    while not Path(go).exists():
        time.sleep(0.001)
    work(Path(repository), what, name, int(count))


if __name__ == "__main__":
    main()
