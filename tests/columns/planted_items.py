"""Made-up secrets and personal data as people write them, and the texts they stand in; the same for the same seed.

Nothing here knows the patterns of `columns/masking.py`. No item belongs to anybody: numbers are random, names and domains
invented.
"""

import base64
import json
import random
import string
from collections.abc import Callable
from typing import NamedTuple

ALPHANUMERIC = string.ascii_letters + string.digits
BASE64 = ALPHANUMERIC + "+/"
HEX = "0123456789abcdef"
FIRST = "anna ben chloe david emre fatima george hana ivan julia kofi lena mateo nadia omar priya quentin rosa sven tara".split()
LAST = "smith okafor garcia muller novak tanaka rossi dubois larsen patel kim cohen silva petrov jensen wong".split()
HOSTS = "acme northwind blueharbor quietriver tinyforge maplecorp redpanda stonegate brightlane oldmill".split()
DOMAINS = "com org net io dev co.uk de fr example.com ch nl edu com.au info ai".split()


class Planted(NamedTuple):
    """A text with an item in it. `secret` is what must not be there any more."""

    kind: str
    secret: str
    text: str


def signs(rng: random.Random, alphabet: str, count: int) -> str:
    return "".join(rng.choices(alphabet, k=count))


def digits(rng: random.Random, count: int, first: str = string.digits) -> str:
    return rng.choice(first) + signs(rng, string.digits, count - 1)


def password(rng: random.Random) -> str:
    """Of letters, digits and a sign, as password generators and rules ask for."""
    word = rng.choice(["Winter", "dragon", "Tr0ub4", "Kite", "s3cret", "Maple", "purple"])
    return rng.choice(
        [
            signs(rng, ALPHANUMERIC, 14) + "7q",
            f"{word}{digits(rng, 4)}{rng.choice('!#*^~')}",
            signs(rng, ALPHANUMERIC, 10) + "x4_Z",
        ]
    )


def private_key(rng: random.Random) -> str:
    name = rng.choice(
        ["RSA PRIVATE KEY", "PRIVATE KEY", "EC PRIVATE KEY", "OPENSSH PRIVATE KEY", "ENCRYPTED PRIVATE KEY"]
    )
    body = base64.b64encode(rng.randbytes(rng.choice([120, 300, 600]))).decode()
    lines = "\n".join(body[at : at + 64] for at in range(0, len(body), 64))
    return f"-----BEGIN {name}-----\n{lines}\n-----END {name}-----"


def connection_string(rng: random.Random) -> str:
    user, secret, host = (
        rng.choice(FIRST),
        password(rng),
        f"{rng.choice(['db', 'cache', 'mq'])}.{rng.choice(HOSTS)}.{rng.choice(DOMAINS)}",
    )
    secret = secret.replace("#", "!")
    scheme, port = rng.choice(
        [
            ("postgres", 5432),
            ("postgresql", 5432),
            ("mysql", 3306),
            ("mongodb", 27017),
            ("redis", 6379),
            ("amqp", 5672),
            ("https", 443),
        ]
    )
    return rng.choice(
        [
            f"{scheme}://{user}:{secret}@{host}:{port}/app",
            f"mongodb+srv://{user}:{secret}@{host}/app?retryWrites=true&w=majority",
            f"jdbc:postgresql://{host}:5432/app?user={user}&password={secret}",
            f"jdbc:sqlserver://{host}:1433;databaseName=app;user={user};password={secret};",
            f"Server={host};Database=app;User Id={user};Password={secret};",
            f"host={host} port=5432 dbname=app user={user} password={secret}",
        ]
    )


def access_token(rng: random.Random) -> str:
    def pick(count: int, alphabet: str = ALPHANUMERIC) -> str:
        return signs(rng, alphabet, count)

    def part(value: object) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

    return rng.choice(
        [
            lambda: "AKIA" + pick(16, string.ascii_uppercase + "234567"),
            lambda: "ghp_" + pick(36),
            lambda: f"github_pat_{pick(22)}_{pick(59)}",
            lambda: "glpat-" + pick(20),
            lambda: f"xoxb-{digits(rng, 12)}-{digits(rng, 12)}-{pick(24)}",
            lambda: "AIza" + pick(35),
            lambda: rng.choice(["sk_live_", "sk_test_", "rk_live_"]) + pick(24),
            lambda: "sk-proj-" + pick(48),
            lambda: "sk-" + pick(48),
            lambda: "sk-ant-api03-" + pick(60),
            lambda: "npm_" + pick(36),
            lambda: "pypi-AgEIcHlwaS5vcmc" + pick(60),
            lambda: (
                f"{part({'alg': 'HS256', 'typ': 'JWT'})}.{part({'sub': digits(rng, 9), 'name': rng.choice(FIRST)})}.{pick(43)}"
            ),
            lambda: "hf_" + pick(34),
            lambda: "SK" + pick(32, HEX),
            lambda: f"SG.{pick(22)}.{pick(43)}",
        ]
    )()


def card_number(rng: random.Random) -> str:
    start, length = rng.choice(
        [("4", 16), ("51", 16), ("55", 16), ("2321", 16), ("6011", 16), ("3714", 15), ("36", 14), ("3530", 16)]
    )
    number = start + signs(rng, string.digits, length - len(start) - 1)
    total = sum(sum(divmod(int(digit) * (2 - at % 2), 10)) for at, digit in enumerate(reversed(number)))
    number += str(-total % 10)
    groups = {16: (4, 4, 4, 4), 15: (4, 6, 5), 14: (4, 6, 4)}[length]
    ends = [sum(groups[: at + 1]) for at in range(len(groups))]
    parts = [number[end - size : end] for end, size in zip(ends, groups, strict=True)]
    return rng.choice(["", " ", " ", "-"]).join(parts)


def iban(rng: random.Random) -> str:
    country, bank, count = rng.choice(
        [
            ("DE", "", 18),
            ("GB", "NWBK", 14),
            ("FR", "", 23),
            ("NL", "ABNA", 10),
            ("ES", "", 20),
            ("CH", "", 17),
            ("AT", "", 16),
            ("IT", "X", 22),
        ]
    )
    account = bank + signs(rng, string.digits, count)
    value = int("".join(str(int(sign, 36)) for sign in f"{account}{country}00"))
    number = f"{country}{98 - value % 97:02d}{account}"
    return number if rng.random() < 0.5 else " ".join(number[at : at + 4] for at in range(0, len(number), 4))


def email(rng: random.Random) -> str:
    first, last = rng.choice(FIRST), rng.choice(LAST)
    local = rng.choice(
        [
            f"{first}.{last}",
            f"{first}{digits(rng, 2)}",
            f"{first[0]}{last}",
            f"{first}_{last}",
            f"{first}+news",
            f"{first}-{last}",
        ]
    )
    domain = rng.choice(DOMAINS)
    name = f"{rng.choice(HOSTS)}.{domain}"
    return f"{local}@{rng.choice([name, name, 'mail.' + name, 'gmail.com', 'example.com'])}"


def phone(rng: random.Random) -> str:
    area, three, four = digits(rng, 3, "23456789"), digits(rng, 3, "23456789"), digits(rng, 4)
    return rng.choice(
        [
            f"+1 ({area}) {three}-{four}",
            f"+1{area}{three}{four}",
            f"({area}) {three}-{four}",
            f"{area}-{three}-{four}",
            f"{area}.{three}.{four}",
            f"1-{area}-{three}-{four}",
            f"+44 20 {digits(rng, 4, '37')} {four}",
            f"+44 7{digits(rng, 3)} {digits(rng, 6)}",
            f"07{digits(rng, 3)} {digits(rng, 6)}",
            f"020 7{digits(rng, 3)} {four}",
            f"+49 {rng.choice(['30', '89', '171', '(0)40'])} {digits(rng, 7)}",
            f"0{rng.choice(['30', '89', '171'])} {digits(rng, 7)}",
            f"+33 6 {' '.join(digits(rng, 2) for _ in range(4))}",
            f"06 {' '.join(digits(rng, 2) for _ in range(4))}",
            f"+91 {digits(rng, 5, '6789')} {digits(rng, 5)}",
            f"+81-3-{four}-{digits(rng, 4)}",
            f"+34 6{digits(rng, 2)} {digits(rng, 3)} {digits(rng, 3)}",
        ]
    )


def ip_address(rng: random.Random) -> str:
    if rng.random() < 0.25:
        groups = [f"{rng.randrange(1, 65536):x}" for _ in range(7)]
        short = f"{rng.choice(['2001:db8', '2a02:26f0', 'fe80'])}::{':'.join(groups[:4])}"
        return rng.choice([f"2001:{':'.join(groups)}", short])
    first = rng.choice([10, 192, 172, *(n for n in range(1, 224) if n != 127)])
    return ".".join(map(str, [first, *(rng.randrange(256) for _ in range(2)), rng.randrange(1, 255)]))


MAKERS: dict[str, Callable[[random.Random], str]] = {
    maker.__name__: maker
    for maker in (private_key, connection_string, access_token, card_number, iban, email, phone, ip_address)
}

SENTENCES = (
    "Sure, you can use {} for that.",
    "I sent it yesterday ({}), but nobody answered.",
    "Is {} still right? I am not sure anybody looks at it.",
    "My colleague told me it was {}, so I copied it here.",
    "Please replace {} with something else before you publish the article.",
    "Bitte notieren Sie {} – danke!",
    "Voilà : {}, comme demandé.",
)
TALKS = (
    "User: my details are {}\nAssistant: Thank you, I noted them.\nUser: ok",
    "Human: what is wrong with {}?\n\nAssistant: Nothing that I can see.",
    "[10:42] <mika> here you go: {}\n[10:43] <bot> thanks",
    '[{{"role": "user", "content": "it is {}"}}, {{"role": "assistant", "content": "Got it."}}]',
)
CODES = (
    'value = "{}"  # do not commit\nprint(len(value), 3.14, 1024)\n',
    "const item = '{}';\nexport default item;\n",
    "    client.send(to='{}', retries=3, timeout=30)\n",
    "#!/bin/sh\nexport THING='{}'\nexec ./run --port 8080\n",
)
DATA = (
    '{{"id": 48213, "note": "{}", "created": "2024-03-01T10:11:12Z"}}',
    "id,note,amount\n17,{},12.50\n18,,3\n",
    "note: '{}'\nversion: 1.2.3\n",
)
LOGS = (
    "2024-05-06 07:08:09,123 INFO request 8f3a2b from {} took 12 ms\n2024-05-06 07:08:10 INFO done\n",
    "May  6 07:08:09 web-1 app[4123]: received {} (attempt 2/3)\n",
)
MARKDOWN = (
    "## Contact\n\n- **Value**: `{}`\n- see [the page](https://example.com/help#v1.2)\n",
    "| field | value |\n|---|---|\n| contact | {} |\n",
    "> {}\n\nAs quoted above.\n",
)
STYLES = {"sentence": SENTENCES, "talk": TALKS, "code": CODES, "data": DATA, "log": LOGS, "markdown": MARKDOWN}
# Secrets that are known by the name beside them only.
NAMED = (
    'api_key = "{}"',
    "API_KEY={}",
    'client_secret: "{}"',
    '{{"password": "{}"}}',
    "DB_PASSWORD={}\nDB_HOST=localhost",
    "Authorization: Bearer {}",
    "My password is {} and it does not work.",
    "curl -H 'X-Api-Key: {}' https://api.example.com/v2/items",
    "https://api.example.com/v1/items?access_token={}&page=2",
)


def planted(count: int, seed: int = 11) -> list[Planted]:
    """So many texts with an item each, all kinds in all styles."""
    rng = random.Random(seed)
    kinds, styles = list(MAKERS), list(STYLES)
    found = []
    for at in range(count):
        kind = kinds[at % len(kinds)]
        if kind == "access_token" and rng.random() < 0.4:
            secret = signs(rng, ALPHANUMERIC, rng.choice([18, 24, 32])) + rng.choice("234")
            found.append(Planted(kind, secret, rng.choice(NAMED).format(secret)))
            continue
        secret = MAKERS[kind](rng)
        found.append(Planted(kind, secret, rng.choice(STYLES[rng.choice(styles)]).format(secret)))
    return found
