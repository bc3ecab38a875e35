"""The address of a Postgres database without its password: what may be printed, and errors made fit to be printed.

libpq repeats pieces of an address it cannot parse, and a password with an unescaped `@` or `/` is such an address. So
everything is parsed here first, as libpq would, and what it would misread never reaches it.
"""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import quote, unquote

from dagster_project.errors import GristmillError

SCHEMES = ("postgresql://", "postgres://")
UNREADABLE = "postgresql://***"
# What we ask of every connection unless the address says otherwise: not to wait for ever for a server that is gone.
OWN_PARAMETERS = {
    "connect_timeout": "10",
    "keepalives_idle": "30",
    "keepalives_interval": "10",
    "keepalives_count": "3",
    "fallback_application_name": "gristmill",
}
_URI = re.compile(
    r"postgres(?:ql)?://(?:(?P<user>[^:@/]*)(?::(?P<password>[^@/]*))?@)?"
    r"(?P<host>[^@/?]*)(?:/(?P<dbname>[^@/?]*))?(?:\?(?P<query>.*))?",
    re.DOTALL,
)
_PAIR = re.compile(r"\s*(\w+)\s*=\s*(?:'((?:[^'\\]|\\.)*)'|((?:[^\s\\']|\\.)(?:[^\s\\]|\\.)*|))(?=\s|$)", re.DOTALL)
_BAD_PERCENT = re.compile("%(?![0-9a-fA-F]{2})|%00")
_ADDRESS_LIKE = re.compile(r"[0-9a-fA-F.:]+")


@dataclass(frozen=True)
class Address:
    """An address libpq reads as we do. Only `safe` may be shown."""

    safe: str
    conninfo: str = field(repr=False)
    secrets: tuple[str, ...] = field(repr=False)
    known_words: frozenset[str] = field(repr=False)

    def scrubbed(self, text: str) -> str:
        """A message without any secret of this address, on one line."""
        for secret in self.secrets:
            pattern = re.escape(secret)
            text = re.sub(pattern if len(secret) >= 4 else rf"(?<!\w){pattern}(?!\w)", "***", text)
        text = re.sub(r"(?i)(\w*password\s*=\s*)('(?:[^'\\]|\\.)*'|[^\s&]+)", r"\1***", text)
        text = re.sub(r"(://[^:@/\s]*):[^@\s]*@", r"\1:***@", text)
        return " ".join(text.split())

    def connection_problem(self, text: str) -> str:
        """Why there is no connection: of what libpq quotes, only names and numbers of the address itself are repeated."""
        text = re.sub(r"(?s).*Failed to connect: |\n\tIs the server running.*", "", text)
        quoted = [word for word in re.findall('"([^"\n]*)"', text) if word not in self.known_words]
        for word in (word for word in quoted if not _ADDRESS_LIKE.fullmatch(word)):
            text = text.replace(f'"{word}"', '"..."')
        return self.scrubbed(re.sub(r"connection to server (?:at|on) [^\n]*? failed: ", "", text))


def safe_uri(uri: str) -> str:
    """An address as it may be printed: `postgresql://user:***@host:port/database`, and nothing where it is unclear."""
    try:
        return parse(uri).safe
    except GristmillError:
        return UNREADABLE


def parse(uri: str) -> Address:
    """Take a URI or a `key=value ...` string apart. What libpq would read otherwise is refused in one line."""
    is_uri = uri.startswith(SCHEMES)
    settings = dict(_of_uri(uri) if is_uri else _of_pairs(uri))
    if not settings or "\0" in uri:
        raise GristmillError(
            f"source {UNREADABLE}: this is no address such as postgresql://user:password@host/database"
        )
    secret_names = [name for name in settings if "password" in name or "secret" in name]
    secrets = {settings[name] for name in secret_names} | {os.environ.get("PGPASSWORD", "")}
    if is_uri:  # as they stand in the address, too
        secrets |= set(re.findall(r"(?:password|secret)=([^&]*)", uri)) | {_split(uri)["password"] or ""}
    secrets |= {quote(secret, safe="") for secret in secrets}
    who = settings.get("user", "") + (":***" if secret_names else "")
    where = settings.get("host", "") + (f":{settings['port']}" if settings.get("port") else "")
    more = {name: value for name, value in OWN_PARAMETERS.items() if name not in settings}
    if is_uri:
        added = "&".join(f"{name}={value}" for name, value in more.items())
        conninfo = uri + ("&" if _split(uri)["query"] else "" if uri.endswith("?") else "?") + added
    else:
        conninfo = f"{uri} {' '.join(f'{name}={value}' for name, value in more.items())}"
    return Address(
        safe=f"postgresql://{who}{'@' if who else ''}{where}/{settings.get('dbname', '')}",
        conninfo=conninfo,
        secrets=tuple(sorted(secrets - {""}, key=len, reverse=True)),
        known_words=frozenset(
            word
            for name in ("user", "host", "hostaddr", "port", "dbname")
            for word in (settings.get(name, ""), *re.split("[,:]", settings.get(name, "")))
        ),
    )


def _split(uri: str) -> dict[str, str | None]:
    found = _URI.fullmatch(uri)
    if not found:
        raise GristmillError(
            f"source {UNREADABLE}: this address is ambiguous; write special characters of the password as %XX (@ is %40, / is %2F)"
        )
    return found.groupdict()


def _of_uri(uri: str) -> Iterator[tuple[str, str]]:
    parts = _split(uri)
    if _BAD_PERCENT.search(uri):
        raise GristmillError(
            f"source {UNREADABLE}: a % of this address is not followed by two hex digits; write it as %25"
        )
    for name in ("user", "password", "host", "dbname"):
        if parts[name]:
            yield name, unquote(parts[name] or "")
    for pair in (parts["query"] or "").split("&"):
        name, separator, value = pair.partition("=")
        if pair and (not separator or "=" in value):
            raise GristmillError(
                f"source {UNREADABLE}: what follows the ? must be name=value pairs; write & and = in values as %26 and %3D"
            )
        if pair:
            yield name, unquote(value)


def _of_pairs(text: str) -> Iterator[tuple[str, str]]:
    place = 0
    while place < len(text.rstrip()):
        found = _PAIR.match(text, place)
        if not found:
            raise GristmillError(f"source {UNREADABLE}: this is no list of name=value pairs; quote values with '...'")
        yield found[1], re.sub(r"\\(.)", r"\1", found[2] if found[2] is not None else found[3], flags=re.DOTALL)
        place = found.end()
