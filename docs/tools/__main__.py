"""Checks the documentation, as `python -m docs.tools`; with --write it is brought up to date.

Says what is wrong, and exits with 1 if anything is.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from . import console, declared, facts, links, pages, schemas
from .generated import generators


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m docs.tools", description=__doc__)
    parser.add_argument("--write", action="store_true", help="renew what is out of date")
    parser.add_argument("pages", nargs="*", type=Path, help="run the commands of these pages only")
    options = parser.parse_args(arguments)
    write: bool = options.write
    chosen: list[Path] = [page.resolve() for page in options.pages]
    problems = [
        *([] if chosen else _generated_problems(write=write)),
        *console.check(chosen or pages.all_pages(), write=write),
        *links.problems(),
    ]
    for problem in problems:
        sys.stderr.write(f"{problem}\n")
    sys.stdout.write(f"{len(problems)} problems in {len(pages.all_pages())} pages\n")
    return 1 if problems else 0


def _generated_problems(*, write: bool) -> list[str]:
    return [
        # First, since the pages are made of the schemas.
        *declared.problems(write=write),
        *schemas.problems(),
        *pages.check_generated(generators(), write=write),
        *facts.problems(),
    ]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
