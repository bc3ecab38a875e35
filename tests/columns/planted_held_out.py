"""A second way to plant items, written after the patterns and never used to tune them: other items, other texts.

What was found here when it was written stands in docs/masking.md.
"""

import random
import string
from base64 import b64encode

from tests.columns.planted_items import Planted

TEXTS = {
    "mail": (
        "Hi Jo,\n\nas discussed on the 3rd of May: {}\n\nBest,\nKim\n",
        "> On Tue, 7 May 2024 at 09:12, Kim wrote:\n> please note {} for later\n\nDone.\n",
        "Subject: Re: access\n\n{}\n\nSent from my phone",
    ),
    "prose": (
        "The form still shows {}; is that intended?",
        "Long story short: we agreed on {} and moved on.",
        "Two things – first {}, second the invoice of 12.04.2024.",
        "“{}” is what the customer wrote in ticket 88213.",
        "連絡先は {} です。よろしくお願いします。",
    ),
    "code": (
        "INSERT INTO notes (id, body) VALUES (42, '{}');\n",
        'let data = vec!["{}"]; // 0x1f\n',
        '    assert parse("{}") == 7\n',
        "fmt.Println(`{}`)\n",
        'System.out.println("{}");\n',
    ),
    "markup": (
        '<li class="c-12">{}</li>\n<li>v2.0.1</li>',
        '<input name="q" value="{}" size="30">',
        ".. note::\n\n   {}\n",
        "1. **{}**\n2. _other_\n",
    ),
    "data": (
        "note;amount\n{};12,50\n",
        "field\tvalue\n3\t{}\n",
        '- name: x\n  text: "{}"\n  port: 8080\n',
        "{{'when': '2024-04-12', 'what': '{}', 'n': 3}}",
    ),
    "log": (
        '[2024-04-12T10:11:12.123Z] WARN  handler=7 input="{}" code=422\n',
        'Traceback (most recent call last):\n  File "app.py", line 218, in run\nValueError: cannot use {}\n',
        "$ echo {} >> notes.txt\n$ wc -l notes.txt\n218 notes.txt\n",
    ),
    "talk": (
        "A: could you repeat that?\nB: yes, {}\nA: thanks!",
        "### Instruction:\nSummarise the message.\n\n### Input:\n{}\n\n### Response:\nA short note.",
        "customer (14:02): {}\nagent (14:03): one moment please",
    ),
}


def _token(rng: random.Random, count: int, alphabet: str = string.ascii_letters + string.digits) -> str:
    return "".join(rng.choice(alphabet) for _ in range(count))


def _number(rng: random.Random, shape: str) -> str:
    """`N` is a digit from 2, `#` any digit; all else stands for itself."""
    return "".join(
        rng.choice("23456789") if sign == "N" else rng.choice(string.digits) if sign == "#" else sign for sign in shape
    )


def _key(rng: random.Random) -> str:
    name = rng.choice(["RSA PRIVATE KEY", "DSA PRIVATE KEY", "PGP PRIVATE KEY BLOCK", "PRIVATE KEY"])
    body = b64encode(rng.randbytes(rng.randrange(150, 900))).decode()
    cut = rng.random()
    if cut < 0.25:  # as one line, with the line breaks of JSON
        return f"-----BEGIN {name}-----\\n{body}\\n-----END {name}-----\\n".removesuffix("\\n")
    lines = "\n".join(body[at : at + 70] for at in range(0, len(body), 70))
    return f"-----BEGIN {name}-----\n{lines}\n-----END {name}-----"


def _connection(rng: random.Random) -> str:
    secret = _token(rng, rng.randrange(9, 20), string.ascii_letters + string.digits + "-_!.~") + rng.choice("aZ9")
    host = rng.choice(["10.2.33.4", "localhost", "db-7.prod.internal", "cluster0.x1y2z.mongodb.net", "mysql"])
    user = rng.choice(["app", "root", "svc_report", "etl-user", "sa"])
    return rng.choice(
        [
            f"postgresql+asyncpg://{user}:{secret}@{host}/main",
            f"mysql://{user}:{secret}@{host}:3306/shop?charset=utf8mb4",
            f"rediss://:{secret}@{host}:6380",
            f"amqps://{user}:{secret}@{host}/vhost",
            f"ftp://{user}:{secret}@{host}",
            f"mongodb://{user}:{secret}@{host}:27017,h2.internal:27017/?replicaSet=rs0",
            f"jdbc:mysql://{host}:3306/shop?user={user}&password={secret}",
            f"Data Source={host};Initial Catalog=shop;User ID={user};Password={secret}",
            f"Driver={{ODBC Driver 17 for SQL Server}};Server={host};UID={user};PWD={secret}",
            f"DefaultEndpointsProtocol=https;AccountName=shop7;AccountKey={b64encode(rng.randbytes(64)).decode()}",
            f"dbname=shop user={user} password={secret} host={host}",
        ]
    )


def _access(rng: random.Random) -> str:
    hexes, capitals = "0123456789abcdef", string.ascii_uppercase
    return rng.choice(
        [
            "ASIA" + _token(rng, 16, string.ascii_uppercase + string.digits),
            "gho_" + _token(rng, 36),
            "ghs_" + _token(rng, 36),
            "glpat-" + _token(rng, 20, string.ascii_letters + string.digits + "_"),
            f"xoxp-{_number(rng, '#' * 11)}-{_number(rng, '#' * 12)}-{_token(rng, 32, hexes)}",
            f"https://hooks.slack.com/services/T{_token(rng, 8, capitals)}/B{_token(rng, 8, capitals)}/{_token(rng, 24)}",
            "AIzaSy" + _token(rng, 33, string.ascii_letters + string.digits + "-_"),
            "sk_test_" + _token(rng, 24),
            "sk-or-v1-" + _token(rng, 64, hexes),
            "sk-ant-" + _token(rng, 90, string.ascii_letters + string.digits + "-_") + "AA",
            "npm_" + _token(rng, 36),
            "hf_" + _token(rng, 34, string.ascii_letters),
            "AC" + _token(rng, 32, hexes),
            f"eyJ{_token(rng, 30)}.eyJ{_token(rng, 60)}.{_token(rng, 43)}",
            f"SG.{_token(rng, 22)}.{_token(rng, 43)}",
            "shpat_" + _token(rng, 32, hexes),
            "dop_v1_" + _token(rng, 64, hexes),
            f"{_number(rng, 'N#########')}:AA{_token(rng, 33)}",
        ]
    )


_BESIDE_NAMES = (
    "aws_access_key_id = x\naws_secret_access_key = {}",
    "AWS_SECRET_ACCESS_KEY={}",
    'export OPENAI_API_KEY="{}"',
    "secret-key: {}",
    "<apiKey>{}</apiKey>",
    "config.auth_token = '{}';",
    '{{"accessToken":"{}","expiresIn":3600}}',
    '-H "Authorization: Bearer {}"',
    "spring.datasource.password={}",
    "the api key is {} (please rotate it)",
    "PASSWORD: {}",
    "const clientSecret = `{}`;",
)


def _card(rng: random.Random) -> str:
    digits = [int(d) for d in rng.choice(["4", "52", "2720", "6011", "34", "300", "3569", "65"])]
    size = {3: 14 if digits[:2] == [3, 0] else 15}.get(digits[0], 16) if len(digits) < 4 else 16
    digits += [rng.randrange(10) for _ in range(size - 1 - len(digits))]

    def checksum(whole: list[int]) -> int:
        return sum(d if (len(whole) - at) % 2 else (2 * d if d < 5 else 2 * d - 9) for at, d in enumerate(whole)) % 10

    whole = next([*digits, last] for last in range(10) if checksum([*digits, last]) == 0)
    text = "".join(map(str, whole))
    if size == 16 and rng.random() < 0.6:
        return rng.choice([" ", "-", "\u00a0"]).join(text[at : at + 4] for at in range(0, 16, 4))
    return text


def _iban(rng: random.Random) -> str:
    country, shape = rng.choice(
        [
            ("DE", "#" * 18),
            ("BE", "#" * 12),
            ("PL", "#" * 24),
            ("SE", "#" * 20),
            ("NO", "#" * 11),
            ("IE", "AIBK" + "#" * 14),
            ("PT", "#" * 21),
            ("DK", "#" * 14),
            ("MT", "MALT" + "#" * 5 + "001X" + "#" * 14),
            ("TR", "#" * 22),
        ]
    )
    body = _number(rng, shape)
    rest = 0
    for sign in body + country + "00":
        rest = int(f"{rest}{int(sign, 36)}") % 97
    text = f"{country}{98 - rest:02d}{body}"
    return rng.choice(
        [
            text,
            " ".join(text[at : at + 4] for at in range(0, len(text), 4)),
            text.lower() if rng.random() < 0.2 else text,
        ]
    )


_LOCALS = "k.lang info o.oconnor99 Maria_Lopez first.last+tag x no-reply JDOE li-na.w müller".split()
_MAIL_HOSTS = (
    "web.de outlook.com sub.dept.uni.edu firma-gmbh.at mail.ru startup.io posteo.net bücher.de example.org company.co.jp gov.uk shop.store"
).split()


def _mail(rng: random.Random) -> str:
    return f"{rng.choice(_LOCALS)}{rng.choice(['', _number(rng, '##')])}@{rng.choice(_MAIL_HOSTS)}"


def _phone(rng: random.Random) -> str:
    shapes = (
        "+1 N## N## ####",
        "+1-N##-N##-####",
        "+1.N##.N##.####",
        "(N##)N##-####",
        "N##-N##-#### ext. ###",
        "N## N## ####",
        "1-800-N##-####",
        "+44 (0)161 N## ####",
        "+447N########",
        "0161 N## ####",
        "(0161) N## ####",
        "+49 1N# #######",
        "+49 (89) ######-##",
        "0176 ########",
        "089/######",
        "+33 (0)1 ## ## ## ##",
        "01 N# ## ## ##",
        "+39 3N# ### ####",
        "+31 6 ########",
        "06-########",
        "+46 70 ### ## ##",
        "+86 138 #### ####",
        "+55 (11) 9####-####",
        "+61 4NN ### ###",
        "(02) 9### ####",
        "+7 (9N#) ###-##-##",
        "+41 79 ### ## ##",
        "tel: N#######",
        "0044 20 7### ####",
        "+380 44 ### ## ##",
    )
    return _number(rng, rng.choice(shapes))


def _address(rng: random.Random) -> str:
    if rng.random() < 0.3:
        return rng.choice(
            [
                ":".join(f"{rng.getrandbits(16):04x}" for _ in range(8)),
                f"fe80::{rng.getrandbits(16):x}:{rng.getrandbits(16):x}:fe{rng.getrandbits(8):02x}:{rng.getrandbits(16):x}",
                f"2606:4700:{rng.getrandbits(16):x}::{rng.randrange(1, 9999)}",
                f"fd{rng.getrandbits(8):02x}:{rng.getrandbits(16):x}::{rng.getrandbits(16):x}",
            ]
        )
    return f"{rng.choice([10, 172, 192, 203, 85, 91, 54, 18, 104])}.{rng.randrange(256)}.{rng.randrange(256)}.{rng.randrange(1, 255)}"


MAKERS = {
    "private_key": _key,
    "connection_string": _connection,
    "access_token": _access,
    "card_number": _card,
    "iban": _iban,
    "email": _mail,
    "phone": _phone,
    "ip_address": _address,
}


def planted(count: int, seed: int = 5) -> list[Planted]:
    """So many texts with an item each, all kinds in all styles."""
    rng = random.Random(seed)
    found = []
    for at in range(count):
        kind = list(MAKERS)[at % len(MAKERS)]
        if kind == "access_token" and at % 3 == 0:
            secret = _token(rng, 40, string.ascii_letters + string.digits + "/+")
            found.append(Planted(kind, secret, rng.choice(_BESIDE_NAMES).format(secret)))
        else:
            secret = MAKERS[kind](rng)
            text = rng.choice(TEXTS[rng.choice(list(TEXTS))]).format(secret)
            found.append(Planted(kind, secret.removeprefix("tel: "), text))
    return found
