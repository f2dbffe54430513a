"""Secrets taken out of what people type, before any of it is written down.

A secret is known by the name beside it (`--password X`, `API_KEY=X`, `Authorization: Bearer X`),
by its own shape (`ghp_…`, a private key), or by the program that it is given to (`mysql -pX`).
What is redacted once stays as it is. Nothing else is touched: the text is there to be read.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import TypeVar

REDACTED = "[redacted]"
_DEPTH = 3
"""So many commands inside of commands are looked into."""
_PASSES = 4
_Typed = TypeVar("_Typed", str, tuple[str, ...])


def _lazily(pattern: str, flags: int = re.ASCII) -> Callable[[], re.Pattern[str]]:
    """Patterns take milliseconds to compile, and most text needs few of them."""
    return cache(lambda: re.compile(pattern, flags))


_SHAPES = _lazily(
    r"""-----BEGIN\ [A-Z0-9\ ]{0,40}PRIVATE\ KEY(?:\ BLOCK)?-----
        .*?(?:-----END\ [A-Z0-9\ ]{0,40}PRIVATE\ KEY(?:\ BLOCK)?-----|\Z)
      | (?<=hooks\.slack\.com/services/)[\w/-]{10,}
      | (?<![A-Za-z0-9])(?:
          gh[oprsu]_\w{10,} | github_pat_\w{10,}
        | (?:glpat|gldt|glrt|glcbt|glptt|glft|glimt|glagent|glsoat)-[\w-]{10,}
        | (?:AKIA|ASIA|ABIA|ACCA|A3T[A-Z0-9])[A-Z0-9]{12,}(?![A-Za-z0-9])
        | xox[a-z]-[\w-]{8,} | xapp-\d-[\w-]{8,}
        | sk-(?:ant|proj|svcacct|admin|or|lf)-[\w-]{8,} | sk-[A-Za-z0-9]{16,}
        | [sr]k_(?:live|test)_\w{8,} | whsec_[\w+/=]{16,}
        | eyJ[\w-]{6,4096}+\.[\w-]{6,}(?:\.[\w-]*){0,3}
        | npm_[A-Za-z0-9]{30,} | pypi-AgE[\w-]{30,} | hf_[A-Za-z0-9]{30,} | dckr_[a-z]at_[\w-]{20,}
        | AIza[\w-]{30,} | ya29\.[\w-]{20,} | dop_v1_[a-f0-9]{30,} | shp[a-z]{2}_[a-fA-F0-9]{30,}
        | SG\.[\w-]{16,}\.[\w-]{16,} | hv[sbr]\.[\w-]{20,} | AGE-SECRET-KEY-1[A-Z0-9]{20,}
        | tskey-[\w-]{16,} | lin_api_\w{20,} | ATATT[\w=-]{30,}
        )""",
    re.ASCII | re.DOTALL | re.VERBOSE,
)
_BEGINNINGS = (
    *("PRIVATE KEY", "hooks.slack.com", "gh", "gl", "A", "xox", "xapp-", "sk", "rk_", "whsec_"),
    *("eyJ", "npm_", "pypi-", "hf_", "dckr_", "ya29.", "dop_", "shp", "SG.", "hv", "tskey-"),
    "lin_api_",
)
_USERINFO = _lazily(
    r"""://(?P<user>[^\s/?#:@\["'<>]*)
        (?: : (?!(?:\d+|\$\w+|\$?\{\w+\})(?:[/?#\s"'<>]|$)) (?P<password>[^\s"'<>]{0,512}) )?
        @""",
    re.ASCII | re.VERBOSE,
)
_SCHEME = _lazily(
    r"""(?P<head>authorization\\*["']?\s*[:=]\s*\\*["']?)
        (?: (?P<one>bearer|basic|token|apikey|api-key|bot)\ +(?P<word>[^\s"'\\]+)
          | (?P<many>digest|negotiate|ntlm|hoba|mutual|oauth|aws4-hmac-sha256)
            \ +(?P<line>[^"'\r\n\\]+)
        )""",
    re.ASCII | re.IGNORECASE | re.VERBOSE,
)
_BEARER = _lazily(r"\b(bearer +)((?=\S{0,256}\d)[\w.~+/=-]{12,})", re.ASCII | re.IGNORECASE)
_COOKIE = _lazily(
    r"\b((?:set-)?cookie\s*:\s*)([^\s=;,\"']{1,256}=[^\"'\r\n]+)", re.ASCII | re.IGNORECASE
)
_QUERY_KEY = _lazily(
    r"([?&](?:(?:key|sig|signature|x-amz-[a-z-]{1,30})=(?=[^\s&#\"'<>]{16})|auth=(?=[^\s&#\"'<>]{8})))"
    r"([^\s&#\"'<>]+)",
    re.ASCII | re.IGNORECASE,
)
_WEBHOOK = _lazily(
    r"(discord(?:app)?\.com/api/(?:v\d{1,2}/)?webhooks/\d{5,25}/|api\.telegram\.org/(?:file/)?bot)"
    r"([\w:-]{10,})",
    re.ASCII | re.IGNORECASE,
)
_SQL = _lazily(
    r"""(\b(?:identified\s{1,20}(?:with\s{1,20}\S{1,64}\s{1,20})?(?:by|as)(?:\s{1,20}password)?
           |password)\s{0,20}[(\s]\s{0,20})
        '((?:[^'\\]|''|\\.){1,4096}+)'""",
    re.ASCII | re.IGNORECASE | re.VERBOSE,
)
_NAME = r"[A-Za-z_][\w.-]{0,127}+"
_ECHOED = _lazily(
    rf"""(?<![\w.-])(?P<name>{_NAME})(?P<how>=["']?\$\(\s{{0,9}}(?:echo|printf)\s{{1,9}}
         (?:(?:-[A-Za-z]+|["']?%s(?:\\n)?["']?)\s{{1,9}}){{0,3}}["']?)(?P<value>[^\s"'()$`]{{1,4096}}+)""",
    re.ASCII | re.VERBOSE,
)
_ENCLOSED = _lazily(
    rf"""(?<=[(\[{{='"`,:])(?P<head>--(?P<name>{_NAME})[ \t]{{1,9}})
         (?P<value>[^\s"'()\[\]{{}},;`-][^\s"')\]}}`;]{{0,4095}}+)""",
    re.ASCII | re.VERBOSE,
)
_ASSIGNED = _lazily(
    rf"""(?<![\w.])(?<!\w-)(?P<name>{_NAME})
         (?P<closing>\\*["']?\]?) (?P<sign>\s*+(?::=|=>|==?|:(?![:/]))\s*+)""",
    re.ASCII | re.VERBOSE,
)
_VALUE = _lazily(
    r"""\\"(?P<escaped>.*?)\\" | "(?P<double>(?:\\.|[^"\\])*+)" | '(?P<single>[^']*+)'
      | ["'](?P<open>[^\r\n]+)
      | (?P<bare>(?:(?![,;&](?:[\w.-]{1,80}=|\s|$)|[,;&]{2}|\\?["'])\S){1,20000})
      """,
    re.ASCII | re.DOTALL | re.VERBOSE,
)
_SCHEMES = frozenset(
    {
        *("bearer", "basic", "token", "apikey", "api-key", "bot", "digest", "negotiate", "ntlm"),
        *("hoba", "mutual", "oauth", "aws4-hmac-sha256"),
    }
)
"""What comes between `Authorization:` and the secret."""
_REST_OF_LINE = _lazily(r"[ \t]*(?:[\r\n,;}\])\"'\\]|$)")
_OPTION = _lazily(rf"(?P<dashes>--?)(?P<name>{_NAME})(?:=(?P<value>.*))?", re.ASCII | re.DOTALL)
_VARIABLE = _lazily(rf"(?P<name>{_NAME})=(?P<value>.*)", re.ASCII | re.DOTALL)
_HEADER = _lazily(rf"-{{0,2}}[\"']?(?P<name>{_NAME})[\"']?:", re.ASCII)
_TOKEN = _lazily(
    r"""(?!\\\r?\n)(?:(?:-(?:'[^']*+'|"(?:\\.|[^"\\]){0,4096}+"|[^\s;|&'"]|['"])++)
      | (?:[\w.-]{0,80}=)?(?:'[^']*+'|"(?:\\.|[^"\\])*+")[^\s;|&]*+
      | [^\s;|&]++ | (?<!\\)(?<!\\\r)[;|&\n]+)""",
    re.ASCII | re.DOTALL | re.VERBOSE,
)
_HARMLESS = _lazily(
    r"""(?-i:\$[A-Z_][A-Z0-9_]*+) | \$\{\w+[^}]*\} | \$\(.* | %\w+% | \{\{.* | <[\w -]+>
      | \*{2,} | \.{3} | …
      | true|false|yes|no|on|off|none|null|nil|undefined|str|string|bytes|int|bool|latest|stable
      | \[redacted\].*""",
    re.ASCII | re.DOTALL | re.IGNORECASE | re.VERBOSE,
)
_HARMLESS_FROM_HERE = _lazily(r"(?:\\?[\"'])?(?:\$\(|\{\{|\[redacted\])", re.ASCII | re.IGNORECASE)
"""Whatever comes after it: how far that goes need not be found out, name after name."""
_VERSION = _lazily(r"v?\d{1,4}(?:\.\d{1,6})*", re.ASCII)
_PATH = _lazily(r"(?:~|\.{1,2})?/\S*", re.ASCII)
_PARTS = _lazily(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+|[0-9]+")
_PLAIN_WORD = _lazily(r"[A-Za-z]+(?:['-][A-Za-z]+)*[.!?]?")

_SECRET_ENDINGS = (
    *("password", "passwd", "passphrase", "passcode", "secret", "token", "credential"),
    *("credentials", "apikey", "accesskey", "secretkey", "privatekey", "authkey", "masterkey"),
)
_SECRET_PARTS = frozenset(
    {
        *("pass", "pwd", "pw", "authorization", "bearer", "jwt", "requirepass", "masterauth"),
        *("sshpass", "storepass", "keypass", "dbpass", "userpass", "rootpass", "ftppass"),
    }
)
_KEYS = frozenset(
    {
        *("api", "access", "secret", "private", "encryption", "signing", "master", "auth"),
        *("account", "service", "shared", "hmac", "jwt", "license", "app", "application"),
        *("openai", "anthropic", "gemini", "mistral", "groq", "cohere", "deepseek", "openrouter"),
        *("stripe", "sendgrid", "mailgun", "datadog", "algolia", "pinecone", "azure", "session"),
    }
)
"""With `key` after it, each of these names a secret."""
_ABOUT = frozenset(
    {
        *("id", "ids", "file", "files", "filename", "path", "dir", "directory", "url", "uri"),
        *("name", "names", "type", "types", "count", "limit", "length", "len", "size", "ttl"),
        *("expiry", "expires", "lifetime", "timeout", "policy", "prefix", "suffix", "env", "var"),
        *("stdin", "prompt", "field", "column", "label", "hint", "version", "manager", "store"),
        *("provider", "service", "endpoint", "method", "mode", "format", "algorithm", "alg"),
        *("ref", "refs", "index", "budget", "usage", "test", "tests", "help", "cmd", "command"),
        *("required", "enabled", "number", "class", "helper", "source", "scope", "scopes"),
    }
)
"""A name that ends so is about a secret, and has none beside it."""
_NOT_SECRET = frozenset(
    {
        *("no", "ask", "max", "min", "num", "n", "total", "has", "is", "show", "hide"),
        *("without", "skip", "public", "forgot"),
    }
)
_COUNTED = "pass"
_FILLER = "x-oauth-basic"
"""The user before it is the secret."""
_PATHS_TOO = ("pwd", "privatekey", "key", "credential", "credentials")
"""What is named so may as well be a path, which is no secret."""


def _whole(value: str) -> str:
    return value if _harmless(value) else REDACTED


def _after(sign: str) -> Callable[[str], str]:
    """What follows the sign in `user:password`; without one, the program asks for it."""

    def redact(value: str) -> str:
        user, found, password = value.partition(sign)
        return f"{user}{found}{_whole(password)}" if password else value

    return redact


def _openssl(value: str) -> str:
    kind, found, password = value.partition(":")
    return f"{kind}:{_whole(password)}" if found and kind == "pass" else value


def _unless_dash(value: str) -> str:
    return value if value == "-" else _whole(value)


def _cookie(value: str) -> str:
    return REDACTED if "=" in value else value


_Redact = Callable[[str], str]


def _flags(separate: str, redact: _Redact = _whole, attached: str = "") -> Mapping[str, _Redact]:
    """Options of one letter, with a value in the next word and, after `+`, in the same one."""
    return {
        **{f"-{letter}": redact for letter in separate},
        **{f"+{letter}": redact for letter in attached},
    }


_MYSQL = _flags("", attached="p")
_MONGO = _flags("p", attached="p")
_LOGIN = _flags("p", attached="p")
_USER = _after(":")
_CURL = {
    **_flags("uU", _USER, attached="uU"),
    **_flags("b", _cookie),
    **dict.fromkeys(("--user", "--proxy-user"), _USER),
    "--cookie": _cookie,
}
_HTTPIE = {"-a": _USER, "--auth": _USER}
_ZIP = _flags("P", attached="P")
_TOKENS = ("pypi-token.", "github-oauth.", "gitlab-oauth.", "gitlab-token.", "bearer.")
"""What poetry and composer call the settings that have a token after them."""
_PROGRAMS: Mapping[str, Mapping[str, _Redact]] = {
    **dict.fromkeys(
        [
            *("mysql", "mysqldump", "mysqladmin", "mysqlimport", "mysqlshow", "mysqlcheck"),
            *("mysqlslap", "mysqlbinlog", "mysqlpump", "mysqlsh", "mycli", "mariadb"),
            *("mariadb-dump", "mariadb-admin", "mariadb-import", "mariadb-check"),
        ],
        _MYSQL,
    ),
    **dict.fromkeys(("mongo", "mongosh", "mongodump", "mongorestore", "mongoimport"), _MONGO),
    "sshpass": _LOGIN,
    **dict.fromkeys(("ssh", "scp", "sftp", "rsync"), _flags("")),
    "login": _LOGIN,
    "curl": _CURL,
    **dict.fromkeys(("http", "https", "xh", "xhs"), _HTTPIE),
    "redis-cli": _flags("a"),
    **dict.fromkeys(
        ("ldapsearch", "ldapadd", "ldapmodify", "ldapdelete", "ldapmodrdn", "ldappasswd"),
        _flags("w", attached="w"),
    ),
    **dict.fromkeys(("cqlsh", "snowsql"), _flags("p", attached="p")),
    **dict.fromkeys(("twine", "publish"), _flags("p")),
    **dict.fromkeys(("mosquitto_pub", "mosquitto_sub", "mosquitto_rr"), _flags("P")),
    **dict.fromkeys(("rar", "unrar"), _flags("", _unless_dash, attached="p")),
    **dict.fromkeys(
        ("htpasswd", "composer", "poetry", "rabbitmqctl", "cargo", "vault"), _flags("")
    ),
    "lftp": {**dict.fromkeys(("-u", "--user"), _after(","))},
    **dict.fromkeys(("zip", "unzip", "zipcloak", "sqlcmd", "bcp"), _ZIP),
    **dict.fromkeys(("7z", "7za", "7zz", "7zr"), _flags("", attached="p")),
    "smbclient": {"-U": _after("%"), "--user": _after("%")},
    "openssl": {**dict.fromkeys(("-passin", "-passout", "-pass"), _openssl), **_flags("kK")},
}
_LOGS_IN = frozenset(
    {*("docker", "podman", "nerdctl", "buildah", "skopeo", "helm", "registry", "crane"), "az", "oc"}
)
"""Programs with a command `login` that takes `-p`."""
_PORTS = _lazily(r"\d+(?::\d+)+(?:/\w+)?", re.ASCII)


def redacted(text: str) -> str:
    """The text without what looks like a secret."""
    return _settled(text, lambda now: _redacted(now, _DEPTH))


def redacted_words(words: Sequence[str]) -> tuple[str, ...]:
    """The words of a command without what looks like a secret; as many as before."""
    return _settled(tuple(words), _redacted_words)


def _redacted_words(words: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(
        word if changed is None else changed
        for word, changed in zip(words, _scan(words, _DEPTH, apart=True), strict=True)
    )


def _settled(value: _Typed, redact: Callable[[_Typed], _Typed]) -> _Typed:
    """What is left when nothing more is found: what is gone may bring other words together."""
    for _ in range(_PASSES):
        before, value = value, redact(value)
        if value == before:
            break
    return value


def redacted_line(line: str) -> str:
    """A command as one line, in which words are quoted as a shell would want it."""
    try:
        return shlex.join(redacted_words(shlex.split(line)))
    except ValueError:
        return redacted(line)


def redacted_values(values: Mapping[str, str]) -> dict[str, str]:
    """Values without secrets; one whose name says that it is a secret goes whole."""
    return {
        name: _whole(value) if names_secret(name, value) else redacted(value)
        for name, value in values.items()
    }


def holds_redacted(words: Sequence[str]) -> bool:
    """Whether something is missing from these words that was there when they were given."""
    return any(REDACTED in word for word in words)


def names_secret(name: str, value: str = "") -> bool:
    """Whether what has this name is a secret, as far as the name can tell."""
    if name.lower() == "_auth":
        # So npm calls a user and a password.
        return True
    # Of `spring.datasource.password` and `token.py` the last part alone counts.
    parts = [p.lower().rstrip("0123456789") for p in _PARTS().findall(name.rpartition(".")[2])]
    parts = [part for part in parts if part]
    if not parts or parts[-1] in _ABOUT or parts[0] in _NOT_SECRET:
        return False
    part = _secret_part(parts)
    if part is None or (part in _PATHS_TOO and _PATH().fullmatch(value)):
        return False
    # Tests that passed, and passes of a program, are counted.
    return parts != [_COUNTED] or not value.isdigit()


def _secret_part(parts: Sequence[str]) -> str | None:
    for before, part in zip(("", *parts), parts, strict=False):
        if part in _SECRET_PARTS or part.endswith(_SECRET_ENDINGS):
            return part
        if part == "key" and before in _KEYS:
            return part
    return None


def _harmless(value: str) -> bool:
    """Whether it is no secret whatever its name is: a reference to one, a blank, a word of code."""
    value = value.strip("\"'")
    return not value or _HARMLESS().fullmatch(value) is not None


def _redacted(text: str, depth: int) -> str:
    if depth and any(c in text for c in " \t\n"):
        found = list(_TOKEN().finditer(text))
        words = [_unquoted(token[0]) for token in found]
        pieces: list[str] = []
        at = 0
        for token, changed in zip(found, _scan(words, depth - 1, apart=False), strict=True):
            if changed is not None:
                pieces += [text[at : token.start()], _quoted_like(token[0], changed)]
                at = token.end()
        text = "".join([*pieces, text[at:]])
    return _by_pattern(text)


def _unquoted(token: str) -> str:
    if len(token) > 1 and token[0] in "\"'" and token[-1] == token[0]:
        return token[1:-1]
    return re.sub(r"['\"]", "", token) if token[0] == "-" else token


def _quoted_like(token: str, changed: str) -> str:
    quote = token[0] if len(token) > 1 and token[0] in "\"'" and token[-1] == token[0] else ""
    return f"{quote}{changed}{quote}"


def _by_pattern(text: str) -> str:
    if any(beginning in text for beginning in _BEGINNINGS):
        text = _SHAPES().sub(REDACTED, text)
    lower = text.lower()
    for word, pattern, without in (
        ("://", _USERINFO, _without_password),
        ("authorization", _SCHEME, _without_credentials),
        ("$(", _ECHOED, _without_echoed),
        ("--", _ENCLOSED, _without_enclosed),
    ):
        if word in lower:
            text = pattern().sub(without, text)
    if "'" in text and ("password" in lower or "identified" in lower):
        text = _SQL().sub(_without_quoted, text)
    for word, pattern in (
        *(("bearer ", _BEARER), ("cookie", _COOKIE), ("=", _QUERY_KEY)),
        *(("webhooks/", _WEBHOOK), ("api.telegram.org/", _WEBHOOK)),
    ):
        if word in lower:
            text = pattern().sub(rf"\1{REDACTED}", text)
    return "".join(_without_assigned(text)) if "=" in text or ":" in text else text


def _without_password(found: re.Match[str]) -> str:
    user, password = found["user"], found["password"]
    # Long names of users are tokens, as they are given to forges.
    whole = len(user) >= 20 and any(c.isdigit() for c in user)
    if whole or password == _FILLER:
        return f"://{REDACTED}@"
    return f"://{user}:{_whole(password)}@" if password else found[0]


def _without_credentials(found: re.Match[str]) -> str:
    scheme, value = found["one"] or found["many"], found["word"] or found["line"]
    return f"{found['head']}{scheme} {_whole(value)}"


def _without_echoed(found: re.Match[str]) -> str:
    value = found["value"]
    return f"{found['name']}{found['how']}{_whole(value) if names_secret(found['name']) else value}"


def _without_enclosed(found: re.Match[str]) -> str:
    """An option and its value in brackets, in quotes or after a sign: no word begins there."""
    return f"{found['head']}{_named(found['name'])(found['value'])}"


def _without_quoted(found: re.Match[str]) -> str:
    return f"{found[1]}'{_whole(found[2])}'"


def _without_assigned(text: str) -> Iterator[str]:
    """The pieces of a text in which names have values: `name=value`, `"name": "value"`."""
    at = 0
    while found := _ASSIGNED().search(text, at):
        yield text[at : found.end()]
        at = found.end()
        if not names_secret(found["name"]) or _HARMLESS_FROM_HERE().match(text, at):
            continue
        value = _VALUE().match(text, at)
        if value is not None and _assigns_secret(text, found, value):
            yield value[0].replace(value[value.lastgroup or "bare"], REDACTED, 1)
            at = value.end()
    yield text[at:]


def _assigns_secret(text: str, found: re.Match[str], value: re.Match[str]) -> bool:
    name, said = found["name"], value[value.lastgroup or "bare"]
    if not names_secret(name, said) or _harmless(said) or said.lower() in _SCHEMES:
        return False
    if found["sign"].strip() != ":" or found["closing"]:
        return True
    return _is_no_sentence(text, found, value)


def _is_no_sentence(text: str, found: re.Match[str], value: re.Match[str]) -> bool:
    """Whether `name: value` gives a value, and does not begin to say something about `name`."""
    name, said = found["name"], value[value.lastgroup or "bare"]
    in_path = found.start() > 0 and text[found.start() - 1] == "/"
    if in_path or name.lower() == _COUNTED or _VERSION().fullmatch(said):
        return False
    if value.lastgroup != "bare" or name != name.lower():
        return True
    ends = _REST_OF_LINE().match(text, value.end()) is not None
    return ends or _PLAIN_WORD().fullmatch(said.rstrip(",;")) is None


def _scan(words: Sequence[str], depth: int, *, apart: bool) -> Iterator[str | None]:
    """What each word of a command is to be; None where it stays.

    In words that are `apart`, `TOKEN:` may be one and its value the next.
    """
    program: str = ""
    before: str = ""
    coming: _Redact | None = None
    later = 0
    for word in words:
        # In a text the next command begins behind these, and what came before has no value.
        ends = not apart and not word.strip(";|&\n")
        expected, coming, above = None if ends else coming, None, before
        # `set -x NAME value` is what fish has for `setenv NAME value`.
        exports = above in ("set", "setenv") and re.fullmatch(r"-[A-Za-z]+", word)
        before = "setenv" if exports else word
        if expected and not _is_option(word):
            if word.lower() in _SCHEMES:
                coming = expected
                yield None
                continue
            # A user beside the password may have the shape of a secret, too.
            yield _changed(word, _redacted(expected(word), depth))
            continue
        program = _program(program, word)
        later = _places_later(later, program, above, word)
        if apart and _announces(above, word):
            coming = _whole
            yield None
            continue
        changed, coming = _option(program, above, word)
        if later == 1:
            coming, later = coming or _positional, 0
        yield _changed(word, _redacted(word if changed is None else changed, depth))


def _places_later(now: int, program: str, before: str, word: str) -> int:
    """How many words on there is a secret that has no name, as programs have them; 0 if none is."""
    if not program:
        return 0
    if found := _begins(program, before, word):
        return found
    return now if now == 0 or word.startswith("-") else now - 1


def _begins(program: str, before: str, word: str) -> int:
    lower = word.lower()
    if program == "htpasswd":
        flags = word[1:] if re.fullmatch(r"-[A-Za-z0-9]+", word) else ""
        return (2 if "n" in flags else 3) if "b" in flags else 0
    if program == "rabbitmqctl":
        return 2 if lower in ("add_user", "change_password", "authenticate_user") else 0
    if program == "redis-cli":
        return 1 if lower in ("auth", "requirepass", "masterauth") else 0
    if program in ("poetry", "composer"):
        return 1 if lower.startswith(_TOKENS) else 2 if lower.startswith("http-basic.") else 0
    return 1 if program in ("cargo", "vault") and word == "login" and before else 0


def _positional(value: str) -> str:
    return value if re.match(r"[\w-]+=", value) else _whole(value)


def _announces(before: str, word: str) -> bool:
    """Whether the next word is the value of what this one names, as in `TOKEN: x`."""
    header = _HEADER().fullmatch(word)
    return names_secret(before if word == "=" else header["name"] if header else "")


def _changed(word: str, changed: str) -> str | None:
    return None if changed == word else changed


def _is_option(word: str) -> bool:
    return word.startswith("--") or re.fullmatch(r"-[A-Za-z]", word) is not None


def _program(now: str, word: str) -> str:
    """The program that the words after this one are for."""
    if not word.strip(";|&\n"):
        return ""
    name = word.rpartition("/")[2].removesuffix(".exe")
    if name == "login":
        return name if now in _LOGS_IN else now
    if name == "publish":
        return name if now == "poetry" else now
    return name if name in _PROGRAMS or name in _LOGS_IN else now


def _option(program: str, before: str, word: str) -> tuple[str | None, _Redact | None]:
    """The word without its secret, if it has one, and what is to be done about the next word."""
    flags = _PROGRAMS.get(program, {})
    if word in flags:
        return None, flags[word]
    if word[:1] == "-" and word[1:2] != "-":
        return _short_option(flags, word)
    option = _OPTION().fullmatch(word) or _VARIABLE().fullmatch(word)
    if option is not None and option["value"] is not None:
        return _with_value(flags, word, option["name"], option["value"]), None
    if option is not None and names_secret(option["name"]):
        return None, _named(option["name"])
    setting = before in ("set", "config", "add") and re.search(r"[_./:]", word) is not None
    setting = setting or (before == "setenv" and not word.startswith("-"))
    return None, _whole if setting and names_secret(word.rpartition(":")[2]) else None


def _short_option(flags: Mapping[str, _Redact], word: str) -> tuple[str | None, _Redact | None]:
    attached, last = flags.get(f"+{word[1:2]}"), flags.get(f"-{word[-1:]}")
    if attached and len(word) > 2 and not _PORTS().fullmatch(word[2:]):
        return f"{word[:2]}{attached(word[2:].removeprefix('='))}", None
    if last and re.fullmatch(r"-[A-Za-z#]+", word):
        return None, last
    option = _OPTION().fullmatch(word)
    if option is None or len(option["name"]) == 1:
        return None, None
    if option["value"] is not None:
        return _with_value(flags, word, option["name"], option["value"]), None
    return None, _named(option["name"]) if names_secret(option["name"]) else None


def _with_value(flags: Mapping[str, _Redact], word: str, name: str, value: str) -> str | None:
    head = word[: len(word) - len(value)]
    redact = flags.get(head[:-1], _named(name))
    return _changed(word, f"{head}{redact(value)}")


def _named(name: str) -> _Redact:
    """What has this name is a secret; of the secrets of a build only their sources are named."""

    def redact(value: str) -> str:
        source = value.startswith(("id=", "type=", "src="))
        return value if source or not names_secret(name, value) else _whole(value)

    return redact
