"""The program with a failpoint that kills it: killable.py FAILPOINT NTH ARGUMENTS."""

import os
import signal
import sys

from backtrail.cli.main import main


class KillAt:
    """Dies by SIGKILL when the named place is passed for the nth time."""

    def __init__(self, name: str, nth: int) -> None:
        self._name = name
        self._left = nth

    def reach(self, name: str) -> None:
        if name == self._name:
            self._left -= 1
            if self._left == 0:
                os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    main(sys.argv[3:], failpoints=KillAt(sys.argv[1], int(sys.argv[2])))
