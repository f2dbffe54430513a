"""How steps read their arguments: `{name:Text}` is anything between two quotes."""

from __future__ import annotations

from behave.matchers import register_type  # pyright: ignore[reportUnknownVariableType]

_ESCAPES = {r"\n": "\n", r"\r": "\r", r"\t": "\t", r"\0": "\0", r"\e": "\x1b"}


class Text:
    """Any words but quotes, with line ends and the like written as in a string."""

    pattern = r'[^"]*'

    def __call__(self, words: str) -> str:
        for escape, character in _ESCAPES.items():
            words = words.replace(escape, character)
        return words


def names(listed: str) -> list[str]:
    """The parts of `one, two, three`; none for `nothing`."""
    return [] if listed == "nothing" else [name.strip() for name in listed.split(",")]


register_type(Text=Text())
