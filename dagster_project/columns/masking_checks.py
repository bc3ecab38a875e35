"""What a regular expression cannot say of an item: check digits, and whether a value is random enough to be a secret (T8).

A check gets the frame of candidates (`item`, the text `before` and `after` it) and says which are items.
"""

from collections.abc import Callable

import numpy as np
import polars as pl

from dagster_project.columns.masking_kinds import LETTER

CARD_DIGITS = 19
IBAN_SIGNS = 34
LEAST_DISTINCT_SIGNS = 8
RANDOM_SWITCHES = 4  # so often a capital follows a small letter where no word has one

_ITEM = pl.col("item")
_BEFORE = pl.col("before")
_AFTER = pl.col("after")

# Values that stand for one: what documentation and templates write in place of a secret.
_PLACEHOLDER = (
    r"(?i)your|example|placeholder|change[_-]?(?:me|this|it)|insert|dummy|sample|redacted|replace|x{4}|\*{3}|\.{3}|environ|getenv"
    r"|process\.env|config[.\[(]|settings\.|secrets?[./]|vault|undefined|^(?:none|null|true|false)(?-u:\b)|[<>]|\$\{|\$\(|\{\{|#\{"
    r"|^\$[a-z_]+$|%[sdr(]|^\{[^{}]*\}$|^\[[^\[\]]*\]$|%[a-z_]+%"
    r"|(?-i:(?:Key|Type|Types|Token|Secret|Provider|Manager|Credentials?)$)"
)
# Words with digits behind them, as names have them: `sha256`, `user-2`, `self.tokens2`.
_WORD = r"(?:(?:[A-Z]?\p{Ll}+|[A-Z]+)+[0-9]{0,3}|[0-9]+)"
_BETWEEN = r"[^\p{L}\p{N}!$%^]"
_WORDS = rf"^{_BETWEEN}*{_WORD}(?:{_BETWEEN}+{_WORD})*{_BETWEEN}*$"
_CODE = r"[\\(){}\[\]|\s]|://|^[~.]{0,2}/[a-z.]+/|\.(?i-u:pem|key|json|txt|py|js|ts|ya?ml|toml|html?|xml|crt|cfg|ini|md|sh|sql|php|java|go)$"
_NAME = (
    r"(?i)^[*&_-]*(?:pass|pwd|secret|key|token|user|self|arg|param|str|field|input|value|hash|sha|md5|base|utf|b64|rfc|oauth|bcrypt"
    r"|argon|pbkdf|scrypt|rot13|ascii|aes|rsa|hmac|http|text|data|conf|opt|test|len|int|byte|char|min|max|new|old|get|set|req|ctx|this)"
)
_HAS_LETTER = r"\p{L}"
_HAS_DIGIT = r"[0-9]"
_HAS_SIGN = r"[!@#$%^&*?~+]"


def has_key_body(found: pl.DataFrame) -> pl.Series:
    """A key, not only the line above one."""
    return found["item"].str.contains(r"[A-Za-z0-9+/]{16}")


def is_varied(found: pl.DataFrame) -> pl.Series:
    """`ghp_xxxxxxxxxxxx` is none, nor is a name in small letters."""
    signs = _ITEM.str.split("").list.n_unique() >= LEAST_DISTINCT_SIGNS
    mixed = _ITEM.str.contains(_HAS_DIGIT) | (_ITEM.str.count_matches("[a-z][A-Z]") >= RANDOM_SWITCHES)
    mixed |= _ITEM.str.contains("^A[A-Z]IA[A-Z]{16}$")
    return found.select(signs & mixed & ~_ITEM.str.contains(r"(?i)x{6}|your[_-]|\.{3}")).to_series()


def is_base64(found: pl.DataFrame) -> pl.Series:
    """Random signs of both cases, so that the hash of a commit is none."""
    return found.select(
        _ITEM.str.contains("[a-z]")
        & _ITEM.str.contains("[A-Z]")
        & _ITEM.str.contains("[0-9+]")
        & (_ITEM.str.split("").list.n_unique() >= LEAST_DISTINCT_SIGNS)
    ).to_series()


def is_connection(found: pl.DataFrame) -> pl.Series:
    """The password in it is one: no placeholder, and not the word for it beside the word for a user."""
    of_pair = _ITEM.str.extract(r"(?i-u:password|pwd|accountkey|sharedaccesskey) ?= ?([^;&\s]+)")
    of_address = _ITEM.str.extract(r"://[^\s/@:]*:([^\s/]*)@")
    of_oracle = _ITEM.str.extract(r"jdbc:[a-z:]+/([^\s@]+)@")
    password = pl.coalesce(of_pair, of_address, of_oracle)
    is_word = password.str.contains(r"(?i)^(?:password|passwd|passw|pass|pwd|pw|secret|[a-z])$")
    of_nobody = _ITEM.str.contains(r"(?i)://(?:user|username|usr|u|name|login|foo|me|)?:|user(?:name| id)? ?= ?user")
    said = password.str.strip_chars(".")
    template = said.str.contains(rf"{_PLACEHOLDER}|^[{{\[<]|^[*.x]*$|^\$[A-Z_a-z]+$") | said.str.contains(
        r"^[A-Z_]*PASSWORD$"
    )
    return found.select(password.is_not_null() & ~template & ~(is_word & of_nobody)).to_series()


def is_secret(found: pl.DataFrame) -> pl.Series:
    """A value of eight signs or more that no person would say: letters and digits mixed, no words, no code."""
    mixed = (_ITEM.str.contains(_HAS_DIGIT) & ~_ITEM.str.contains(_WORDS)) | (
        _ITEM.str.count_matches(r"[a-z][A-Z]") >= RANDOM_SWITCHES
    )
    return found.select(
        (_ITEM.str.len_chars() >= 8)
        & _ITEM.str.contains(_HAS_LETTER)
        & mixed
        & ~_ITEM.str.contains(_CODE)
        & ~_ITEM.str.contains(_PLACEHOLDER)
    ).to_series()


def is_password(found: pl.DataFrame) -> pl.Series:
    """A password may be a word with digits behind it."""
    mixed = _ITEM.str.contains(_HAS_LETTER) & (_ITEM.str.contains(_HAS_DIGIT) | _ITEM.str.contains(_HAS_SIGN))
    return found.select(
        mixed
        & ~_ITEM.str.contains(r"\\|://|^[~.]{0,2}/[a-z.]+[0-9]*(?:/|$)|^[a-z_]+[0-9]*(?:\.[A-Za-z_]+)+$")
        & ~_ITEM.str.contains(_PLACEHOLDER)
    ).to_series()


def is_bare_password(found: pl.DataFrame) -> pl.Series:
    """Without quotes it may be the name of a variable: what begins like one is none."""
    is_word = _ITEM.str.contains(_WORDS)
    mixed = _ITEM.str.contains(_HAS_LETTER) & _ITEM.str.contains(_HAS_DIGIT)
    name = _ITEM.str.contains(_NAME) & is_word
    path = _ITEM.str.contains(r"://|^[~.]{0,2}/[a-z.]+[0-9]*(?:/|$)|[.](?:[a-z_]+|[A-Z_]+)[0-9]*$")
    return found.select(mixed & ~name & ~path & ~_ITEM.str.contains(_PLACEHOLDER)).to_series()


def is_strong(found: pl.DataFrame) -> pl.Series:
    """A password nobody would take for a word: small letters, digits, and a capital or a sign."""
    has_rest = _ITEM.str.contains("[A-Z]") | _ITEM.str.contains(_HAS_SIGN)
    mixed = _ITEM.str.contains("[a-z]") & _ITEM.str.contains(_HAS_DIGIT) & has_rest
    return found.select(
        mixed & ~_ITEM.str.contains(_WORDS) & ~_ITEM.str.contains(_CODE) & ~_ITEM.str.contains(_PLACEHOLDER)
    ).to_series()


def has_luhn_digit(found: pl.DataFrame) -> pl.Series:
    """Every second digit from the right counts twice; the sum of digits is a multiple of ten."""
    digits = _signs(found["item"].str.replace_all("[^0-9]", "").str.zfill(CARD_DIGITS), CARD_DIGITS) - ord("0")
    doubled = digits[:, -2::-2] * 2
    total = digits[:, ::-2].sum(axis=1) + (doubled - 9 * (doubled > 9)).sum(axis=1)
    return pl.Series(total % 10 == 0) & (found["item"].str.extract_all("[0-9]").list.n_unique() > 1)


def has_mod97_digits(found: pl.DataFrame) -> pl.Series:
    """Country and check digits go to the end, letters become numbers; what is left by 97 is 1 (ISO 13616)."""
    compact = found["item"].str.replace_all("[^A-Za-z0-9]", "").str.to_uppercase()
    turned = compact.str.slice(4) + compact.str.head(4)
    signs = _signs(turned.str.zfill(IBAN_SIGNS), IBAN_SIGNS)
    is_letter = signs >= ord("A")
    values = np.where(is_letter, signs - ord("A") + 10, signs - ord("0"))
    rest = np.zeros(len(signs), dtype=np.int64)
    for column in range(IBAN_SIGNS):
        rest = (rest * np.where(is_letter[:, column], 100, 10) + values[:, column]) % 97
    return pl.Series(rest == 1)


def _signs(texts: pl.Series, width: int) -> np.ndarray:
    """ASCII texts of one length as a table of their signs."""
    return np.frombuffer("".join(texts).encode(), dtype=np.uint8).reshape(len(texts), width).astype(np.int64)


_DATE = r"(?:19|20)[0-9]{2}[-./](?:0[1-9]|1[0-2])[-./][0-3][0-9]|^[0-3]?[0-9][-./][01]?[0-9][-./](?:19|20)[0-9]{2}"


def is_phone(found: pl.DataFrame) -> pl.Series:
    """Seven to fifteen digits, three of them different, that are no date, no decimal number and no ZIP+4."""
    number = _ITEM.str.replace(r"(?i-u:[ ,]*(?:x|ext\.?|extension) ?[0-9]+)$", "")
    digits = number.str.count_matches("[0-9]")
    return found.select(
        digits.is_between(7, 15)
        & ((digits >= 8) | ~number.str.starts_with("+"))
        & (number.str.extract_all("[0-9]").list.n_unique() >= 3)
        & ~number.str.contains(
            rf"{_DATE}|^[0-9]+\.[0-9]+$|^0[0-9]{{4}}-[0-9]{{4}}$|^[0-9]{{1,2}}(?:[ .-][0-9]{{1,2}}){{0,3}}$"
            r"|(?:19|20)[0-9]{2}-(?:19|20)[0-9]{2}$|^01?2?345678"
        )
        & ~(number.str.contains("^0") & (digits < 9))
    ).to_series()


_VERSION_WORD = (
    r"(?i-u:(?:version|versions|release|released|firmware)|(?-u:\b)(?:ver|vers|v|rel|build|rev|revision|patch|patched|driver|sdk|tag|oid"
    r"|identifier|objectidentifier|sections?|sec|chapters?|clauses?|paragraphs?|figures?|figs?|tables?|steps?|parts?"
    r"|appendix))(?i-u:[\"']?(?: (?:to|from|is|of|number|no\.?))*)"
    r"[\"'\s:=(.>]{0,5}$|§ ?$|[~^]$|[<>~!]=[ \"']?$|[A-Za-z0-9_\])]==[\"']?$"
)
_PRODUCT = (
    r"(?i-u:(?-u:\b)(?:oracle|windows|macos|os x|ios|android|java|jdk|python|django|chrome|firefox|safari|linux|kernel|ubuntu|office"
    r"|(?:sql|exchange|media|application) server"
    r"|acrobat|flash|node|npm|pip|nuget|gem|maven|(?:upgrad|updat|downgrad|bump|migrat|install)[a-z]*))[^\n]{0,30}$"
)
_ADDRESS_WORD = (
    r"(?i-u:(?:(?-u:\b)|_)(?:ip|ips|ipv4|addr|address|addresses|host|hosts|hostname|server|servers|gateway|router|dns|nameserver"
    r"|resolver|ping|ssh|telnet|curl|wget|traceroute|nmap|from|peer|remote|bind|listen|listening|connect|connected|connecting|connection"
    r"|subnet|proxy|inet|src|dst|source|destination|login|logged|request|whois|machine|banned|blocked)(?-u:\b))[^\n]{0,24}$|://$|@$|IP:? ?$"
)


def is_ipv4(found: pl.DataFrame) -> pl.Series:
    """An address of somebody, not a version: see docs/masking.md for the rule."""
    octets = found["item"].str.split(".").list.eval(pl.element().cast(pl.Int64))
    found = found.with_columns(
        octets.list.get(0).alias("first"), octets.list.get(1).alias("second"), octets.list.max().alias("most")
    )
    glued = _BEFORE.str.contains(rf"(?:[{LETTER}\p{{N}}_.]|[{LETTER}_]-|[{LETTER}\p{{N}}]/)$") | _AFTER.str.contains(
        rf"^(?:[{LETTER}_]|\.[{LETTER}\p{{N}}]|-[0-9]*{LETTER})"
    )
    is_network = _ITEM.str.ends_with(".0") & _AFTER.str.contains(r"^/[12]?[0-9](?-u:\b)")
    nobodys = _ITEM.str.contains(
        r"^(?:0|127|255)\.|^[0-9]+\.0\.0\.0$|^224\.0\.0\.|^239\.255\.255\.250$|^169\.254\.169\.254$|^[0-9]+\.255\.255\.255$"
    )
    with_port = _AFTER.str.contains(r"^(?::[0-9]{2,5}|/[0-9]{1,2})(?-u:\b)")
    is_oid = (pl.col("first") < 3) & (pl.col("second") < 40)
    is_small = (pl.col("most") < 32) | is_oid
    said_to_be = with_port | _BEFORE.str.contains(_ADDRESS_WORD)
    is_product = _BEFORE.str.contains(_PRODUCT) & ~with_port
    looks_small = is_small & (is_product | (~said_to_be & (pl.col("first") != 10)))
    return found.select(
        ~glued & ~nobodys & ~is_network & ~_BEFORE.str.contains(_VERSION_WORD) & ~looks_small
    ).to_series()


def is_ipv6(found: pl.DataFrame) -> pl.Series:
    """Eight groups, one of three signs or more; or fewer with one `::`, within the ranges that are given out."""
    groups = _ITEM.str.replace("%.*$", "").str.extract_all("[0-9A-Fa-f]+")
    gaps = _ITEM.str.count_matches("::")
    whole = (gaps == 0) & (groups.list.len() == 8) & (groups.list.eval(pl.element().str.len_bytes()).list.max() >= 3)
    short = (
        (gaps == 1)
        & (groups.list.len() <= 7)
        & _ITEM.str.contains(r"^(?i-u:[23][0-9a-f]{3}|f[cd][0-9a-f]{2}|fe[89ab][0-9a-f]|64:ff9b):")
        & _ITEM.str.contains(_HAS_DIGIT)
    )
    return found.select(whole | short).to_series()


Check = Callable[[pl.DataFrame], pl.Series]
CHECKS: dict[str, Check] = {
    check.__name__: check
    for check in (
        has_key_body,
        is_varied,
        is_base64,
        is_connection,
        is_secret,
        is_password,
        is_bare_password,
        is_strong,
        has_luhn_digit,
        has_mod97_digits,
        is_phone,
        is_ipv4,
        is_ipv6,
    )
}
