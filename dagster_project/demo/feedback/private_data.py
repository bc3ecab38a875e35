"""Things people should not have typed: made up, none of them anybody's, all of a form that masking has to find.

Addresses and numbers are from ranges set aside for examples (RFC 2606, 5737, 3849; 555-01xx; test cards and the standard's IBANs).
"""

from collections.abc import Callable
from random import Random

NAMES = ("anna", "ben", "clara", "diego", "emil", "fatima", "goran", "hanna", "ines", "jonas")
FAMILIES = ("example", "sample", "placeholder", "nobody", "fictional")
CARDS = ("4242 4242 4242 4242", "4111 1111 1111 1111", "5555 5555 5555 4444", "3782 822463 10005")
IBANS = ("DE89 3704 0044 0532 0130 00", "GB29 NWBK 6016 1331 9268 19", "FR14 2004 1010 0505 0001 3M02 606")
CAPITALS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"


def _email(rng: Random) -> str:
    return (
        f"{rng.choice(NAMES)}.{rng.choice(FAMILIES)}{rng.randrange(10, 99)}@example.{rng.choice(('com', 'org', 'net'))}"
    )


def _phone(rng: Random) -> str:
    return f"+1 {rng.choice(('202', '312', '415'))}-555-01{rng.randrange(100):02d}"


def _access_key(rng: Random) -> str:
    return "AKIADEMO" + "".join(rng.choices(CAPITALS, k=12))


def _token(rng: Random) -> str:
    return "ghp_" + "".join(rng.choices(LETTERS, k=36))


def _database(rng: Random) -> str:
    return f"postgresql://shop:{rng.choice(NAMES)}{rng.randrange(1000, 9999)}@db.example.com:5432/orders"


def _ip(rng: Random) -> str:
    return f"{rng.choice(('192.0.2', '198.51.100', '203.0.113'))}.{rng.randrange(1, 255)}"


def _private_key(rng: Random) -> str:
    lines = ("".join(rng.choices(LETTERS, k=64)) for _ in range(3))
    return "-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----".format("\n".join(lines))


MAKERS: dict[str, Callable[[Random], str]] = {
    "email": _email,
    "phone": _phone,
    "card": lambda rng: rng.choice(CARDS),
    "iban": lambda rng: rng.choice(IBANS),
    "access_key": _access_key,
    "token": _token,
    "database": _database,
    "ip": _ip,
    "private_key": _private_key,
}
