"""Patterns of secrets: private keys, connection strings with passwords, and values beside the name of a secret (T8).

A secret in an example has a `~` in its middle (`masking_kinds.Pattern`).
"""

from dagster_project.columns.masking_kinds import KINDS, B, Pattern, placeholder
from dagster_project.columns.token_patterns import TOKENS

_KEY_GATE = (r"PRIVATE KEY|PuTTY-User-Key-File",)
_BEGIN = r"-{4,5} ?BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)? ?-{4,5}"
_END = r"-{4,5} ?END (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)? ?-{4,5}"
_NOBODYS = r"\x{fdd0}-\x{fdef}\x{f0000}-\x{ffffd}"  # `masking` puts one of these behind an escape
_BETWEEN_LINES = rf"(?:\s|\\[rnt]|[\"'+>|,\\{_NOBODYS}])*"
_KEY_TEXT = "MIIEow~IBAAKCAQEAx8V2mTq0lHn5b"

_URL_GATE = (r"://[^\s/\"'<>`@:]*:[^\s/\"'<>`]*@",)
_PAIRS_GATE = (r"(?i-u:password|pwd|accountkey|sharedaccesskey)\s?=\s?[^\s\"'<>]",)
_NAME = r"[A-Za-z][A-Za-z0-9_ ]{0,40}"
_FIRST_NAME = (
    r"(?i-u:server|data ?source|host|host ?name|driver|provider|dsn|database|db|initial catalog|user ?id|user ?name|user|uid|addr"
    r"|address|network address|endpoint|port|persist security info|defaultendpointsprotocol|accountname|application name)"
)
_PLAIN = r"[^\s\"'`<>,;()“”*\\]"
_OF_ALL_SIGNS = r"[^;,\s\"'<>`“”\\]*[^;,\s\"'<>`“”\\.):?]"

# Names under which secrets are kept, and what stands between a name and its value.
_OF_A_SECRET = (
    r"(?:api[_ .-]?key|access[_ .-]?key|secret[_ .-]?key|private[_ .-]?key|encryption[_ .-]?key|signing[_ .-]?key|auth[_ .-]?key"
    r"|account[_ .-]?key|master[_ .-]?key|shared[_ .-]?key|secret|token|credentials?)"
)
_SUFFIX = r"(?:[_-][A-Za-z0-9]+){0,2}"
_FOREIGN = (
    r"contraseña|mot de passe|senha|wachtwoord|hasło|lösenord|пароль"  # words for it that no English one begins like
)
_OF_A_PASSWORD = rf"(?i:passwords?|passwd|passphrase|passcode|passwort|{_FOREIGN}|pwd)"
_OR_PASS = rf"(?:{_OF_A_PASSWORD}{_SUFFIX}|(?:{B}|_)(?:pass|PASS|Pass)|{B}(?:pw|PW))"
_TYPE = r"(?: ?: ?[A-Za-z]+(?:\[[A-Za-z]+\])?)?"
_SIGNS = r"[\\\"'`*\])]{0,8}"
_IS = rf"{_SIGNS}{_TYPE}[ \t]*(?:[=-]>|→|:=|==?|[:：]|>|[|]){_SIGNS}[ \t]*"
_IS_SAID = r"(?:[ \t]+(?:is|was|to|are)[ \t]*:?|[ \t]+)[ \t]*"
_QUOTE = r"(?:[a-zA-Z]?\\{0,3}[\"'`])"
_QUOTED = rf"[^\s\"'`<>{_NOBODYS}]{{5,}}[^\s\"'`<>\\{_NOBODYS}]"
_BARE = rf"[^\s\"'`<>,;&|(){{}}\[\]\\{_NOBODYS}]{{5,}}[^\s\"'`<>,;&|(){{}}\[\]\\.:{_NOBODYS}]"
# `&` ends a value in an address of the web, where a name and `=` follow it; elsewhere it is a sign of a password.
_AND_SIGN = rf"[^\s\"'`<>,;&=|(){{}}\[\]\\{_NOBODYS}]"
_WITH_AND = rf"(?:{_AND_SIGN}{{1,40}}&){{1,4}}{_AND_SIGN}{{0,40}}[^\s\"'`<>,;&=|(){{}}\[\]\\.:{_NOBODYS}]"
# A name is written in small letters, in capitals or with a capital at its start: that is all the first of the two looks for.
_NAME_GATE = (
    r"key|Key|KEY|secret|Secret|SECRET|token|Token|TOKEN|redential|REDENTIAL|pass|Pass|PASS|pwd|Pwd|PWD|contrase|mot de|senha"
    r"|Senha|achtwoord|hasł|Hasł|ösenord|ароль|pw:|pw=|PW:|PW="
)
_VALUE_GATE = (
    _NAME_GATE,
    rf"(?:(?i-u:key|secret|token|credentials?|pass(?:word|words|wd|phrase|code|wort|e)?|pwd?)|(?i:{_FOREIGN}))(?:[_-][A-Za-z0-9]+){{0,2}}"
    rf"(?:{_SIGNS}{_TYPE}[ \t]*[=:>|：→]|[ \t]*[(-]|[ \t]+(?:is|was|to|are)[ \t]|[ \t]+[A-Za-z0-9/+_-]{{12}}|[ \t]+[\\`\"']"
    rf"|{_QUOTE}[ \t]*,[ \t]*{_QUOTE}|[ \t]+[^\s\"'`<>]*[0-9!-])",
)
_AND = r"\\{0,3}[\"'`][ \t]*,[ \t]*"  # between two arguments: `setItem("token", "...")`
_GIVEN = rf"(?:--?[A-Za-z0-9-]*|(?i-u:set|setx|setenv|export|env|arg)[ \t]+[A-Za-z0-9_.-]*)(?i-u:{_OF_A_SECRET}){_SUFFIX}[ \t]+{_QUOTE}?"
# behind our own placeholder, or of a key for everybody
_NOT_A_NAME = rf"<(?:{'|'.join(map(placeholder, KINDS))})(?:_[0-9]+)?>[\\\"'` \t]*$"
_OF_THE_PUBLIC = rf"(?i-u:public[ _-]?key[ _-]?token)[\"' =:>]*$|{_NOT_A_NAME}"
_COMMAND_GATE = (
    r"mysql|maria|mongo|sshpass|sqlcmd|docker login|redis-cli|ldap|unzip|openssl|7z |curl|wget|https? |identified|IDENTIFIED",
    r"[ \t]-[pPawk]|-u|--user|--auth|(?i-u:identified)",
)
_COMMANDS = (
    rf"{B}(?:mysql[a-z]*|mariadb[a-z-]*|mongo[a-z]*|sshpass|sqlcmd|docker login|redis-cli|ldap[a-z]+|unzip|openssl|7z)"
)
_OF_A_REQUEST = rf"{B}(?:curl|wget|https?)[ \t](?:[^\n|;]{{0,200}}?[ \t])?(?:-u|--user|-a|--auth)[ \t=]+{_QUOTE}?[^\s:\"'`]{{1,64}}:"
_IDENTIFIED = r"(?i-u:identified(?: with [a-z0-9_]+)? by (?:password )?)"
_BEARER_GATE = (
    r"(?i-u:bearer|basic|token|apikey):?[ \t]*(?:[\"'`][ \t]*[+.,][ \t]*[\"'`]|[ \t])[A-Za-z0-9._~+/=-]{16}",
)
_COOKIE_GATE = (r"ookie:|OOKIE:",)
_SIGNED_GATE = (r"[?&]sig=",)
_AUTH_GATE = (r"auth[ \t]*=?[ \t]*\(|Auth\(",)
_FAR_NAMES = r"密码|密碼|口令|パスワード|비밀번호|암호"
_FAR_GATE = (_FAR_NAMES,)

SECRETS = (
    Pattern(
        "private_key",
        "PEM and PGP blocks, also without their end",
        _KEY_GATE,
        rf"{_BEGIN}(?:-{{0,3}}[^-])*{_END}|{_BEGIN}(?:{_BETWEEN_LINES}(?:[A-Za-z-]+: [^\n\\]+|[A-Za-z0-9+/=]{{16,}}))+"
        rf"(?:{_BETWEEN_LINES}[A-Za-z0-9+/=]{{1,15}}\z)?",
        (
            f"-----BEGIN RSA PRIVATE~ KEY-----\n{_KEY_TEXT}\n{_KEY_TEXT}==\n-----END RSA PRIVATE~ KEY-----",
            f"-----BEGIN OPENSSH PRIVATE~ KEY-----\\n{_KEY_TEXT}\\nAbC1",
            f"-----BEGIN PGP PRIVATE~ KEY BLOCK-----\nVersion: GnuPG v2\n\n{_KEY_TEXT}",
        ),
        (
            "-----BEGIN RSA PRIVATE KEY-----",
            'if text.startswith("-----BEGIN PRIVATE KEY-----"): pass',
            "-----BEGIN CERTIFICATE-----\nMIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG\n-----END CERTIFICATE-----",
        ),
        check="has_key_body",
    ),
    Pattern(
        "private_key",
        "PuTTY's file",
        _KEY_GATE,
        r"PuTTY-User-Key-File-[0-9]: (?s:.*?)(?:Private-MAC: [0-9a-f]+|\z)",
        (f"PuTTY-User-Key-File-2: ssh-rsa\nPrivate-Lines: 1\n{_KEY_TEXT}\nPrivate-MAC: 0a1b2c",),
        ("PuTTY-User-Key-File-2: is the first line",),
        check="has_key_body",
    ),
    Pattern(
        "connection_string",
        "an address with user and password",
        _URL_GATE,
        r"[A-Za-z][A-Za-z0-9+._-]*://[^\s/\"'<>`@:]*:[^\s/\"'<>`]*@(?:[^\s\"'<>`\\()@,;]|,[A-Za-z])*[A-Za-z0-9/_=\]]",
        (
            "postgres://app:s3~cretPw@db.internal:5432/orders",
            "mongodb+srv://root:Zx8~kQ2@cluster0.ab1cd.mongodb.net/?retryWrites=true",
            "redis://:p4ss~w0rd@10.0.0.5:6379/0",
            "amqp://guest:Gu3~st!@rabbit.example.com",
        ),
        (
            "https://example.com:8080/@name",
            "postgres://user:password@localhost/db",
            "postgres://${USER}:${PASSWORD}@host/db",
            "http://user:<password>@host",
        ),
        check="is_connection",
    ),
    Pattern(
        "connection_string",
        "JDBC with a password",
        ("(?i-u:jdbc:)",),
        r"(?i-u:jdbc):[a-z0-9:+-]+:(?:[^\s\"'<>`\\]*(?i-u:password|pwd)=[^\s\"'<>`\\&;,]*[^\s\"'<>`\\&;,.):?]|[^\s/\"'<>`@]+/[^\s\"'<>`@]+@)"
        r"(?:[^\s\"'<>`\\,]*[A-Za-z0-9/_=;])?",
        (
            "jdbc:postgresql://db:5432/app?user=app&password=Zx8~kQ2mm",
            "jdbc:sqlserver://db:1433;databaseName=app;user=sa;password=Zx8~kQ2mm;",
            "jdbc:oracle:thin:scott/T1g~er@//db:1521/svc",
        ),
        ("jdbc:postgresql://localhost:5432/app", "jdbc:mysql://db/app?user=app&password=${DB_PASSWORD}"),
        check="is_connection",
    ),
    Pattern(
        "connection_string",
        "pairs of name and value with a password among them",
        _PAIRS_GATE,
        rf"{B}{_FIRST_NAME} ?= ?[^;\n\"'<>`]*;(?: ?{_NAME} ?= ?[^;\n\"'<>`]*;)*"
        rf" ?(?i-u:password|pwd|accountkey|sharedaccesskey) ?= ?{_OF_ALL_SIGNS}"
        rf"(?:;(?: ?{_NAME} ?= ?[^;\n\"'<>`]+;)*(?: ?{_NAME} ?= ?[^;\s\"'<>`,\\]*[^;\s\"'<>`,\\.])?)?"
        rf"|{B}(?i-u:host|hostaddr|dbname|user|port)={_PLAIN}+(?: [a-z_]+={_PLAIN}+)* password={_OF_ALL_SIGNS}"
        rf"(?: [a-z_]+={_PLAIN}+)*",
        (
            "Server=tcp:db.example.net,1433;Initial Catalog=app;User ID=sa;Password=Zx8~kQ2!m;Encrypt=True",
            "DefaultEndpointsProtocol=https;AccountName=shop;AccountKey=Zx8~kQ2mLp9Wv4Rt7==;EndpointSuffix=core.windows.net",
            "host=db port=5432 dbname=app user=app password=Zx8~kQ2mm sslmode=require",
        ),
        ("Server=db;Password={0};", "connect(host=host, user=user, password=password)"),
        check="is_connection",
    ),
    *TOKENS,
    Pattern(
        "access_token",
        "a secret key beside its name",
        _VALUE_GATE,
        rf"(?P<lead>(?i-u:secret|aws)[A-Za-z0-9_ .-]{{0,30}}?(?i-u:key)(?i-u:[_ ]?id)?(?:{_IS}|{_IS_SAID}){_QUOTE}?)"
        r"(?P<item>[A-Za-z0-9/+]{40})",
        (
            "aws_secret_access_key = wJalr~XUtnFEMI/K7MDENG/bPxRfiCYzq8LmT2vWQ",
            "the secret key wJalr~XUtnFEMI/K7MDENG/bPxRfiCYzq8LmT2vWQ",
        ),
        ("the aws key da39a3ee5e6b4b0d3255bfef95601890afd80709",),
        not_before=r"^[A-Za-z0-9/+=]",
        check="is_base64",
    ),
    Pattern(
        "access_token",
        "what is sent to authorise a request",
        _BEARER_GATE,
        r"(?P<lead>(?i-u:bearer|authorization[\"'\\]{0,2}[ \t]*[:=][ \t]*[\"'\\]{0,2}(?:basic|token|apikey)):?[ \t]*"
        r"(?:[\"'`][ \t]*[+.,][ \t]*[\"'`]|[ \t]))"
        r"(?P<item>[A-Za-z0-9._~+/-]{16,}={0,2})",
        (
            "Authorization: Bearer 8kLm2Vw9~Rt4Yb7Np1Hc6",
            'headers = {"Authorization": "Basic YWRtaW46Z~nVsbHlTM2NyZXQh"}',
            "{'Authorization': 'Bearer ' + '8kLm2Vw9~Rt4Yb7Np1Hc6'}",
            "bearer: 8kLm2Vw9~Rt4Yb7Np1Hc6",
        ),
        ("Authorization: Bearer authentication-required", "Bearer your-access-token-1234"),
        check="is_secret",
    ),
    Pattern(
        "access_token",
        "what a cookie holds",
        _COOKIE_GATE,
        r"(?P<lead>(?i-u:cookie):[^\n]{0,400}?=)(?P<item>[A-Za-z0-9._~+/%-]{20,}={0,2})",
        ("Cookie: sessionid=9f8e7d6c5b4a~8kLm2Vw9Rt4Y", "Set-Cookie: auth=8kLm2Vw9Rt4Y~b7Np1Hc6Js3; Path=/"),
        (
            "Cookie: theme=dark; lang=en",
            "Set-Cookie: next=https://example.com/a/b1",
            "cookie: name=your-session-cookie-1",
        ),
        check="is_secret",
    ),
    Pattern(
        "access_token",
        "the signature of an address that is shared",
        _SIGNED_GATE,
        r"(?P<lead>[?&]sig=)(?P<item>[A-Za-z0-9%+/-]{30,}={0,2})",
        ("https://shop.blob.core.windows.net/a?sv=2022&sig=8kLm2Vw9Rt4Y~b7Np1Hc6Js3Gd5Fa0TeZs8Kd7%3D",),
        ("?sig=short1", "?sig=your-signature-in-forty-characters-here1"),
        check="is_secret",
    ),
    Pattern(
        "access_token",
        "a secret given to its name, in quotes",
        _VALUE_GATE,
        rf"(?P<lead>(?i-u:{_OF_A_SECRET}){_SUFFIX}(?:{_IS}|{_IS_SAID}|{_AND}){_QUOTE})(?P<item>{_QUOTED})",
        (
            'api_key = "8kLm2V~w9Rt4Yb7"',
            '{"client_secret": "Qx3-Gd5F~a0TeZs8"}',
            "export const token: string = '9f8e7d~6c5b4a'",
            'request.header("X-Api-Key", "9f8e7d~6c5b4a")',
        ),
        (
            'api_key = "your-key-here-123"',
            'token = "identifier2"',
            'secret = "projects/1/secrets/db"',
            'API_KEY = "<API_KEY_1234>"',
            'token_url = "https://example.com/oauth2/v1x2"',
            'publicKeyToken="1fc8b3b9a1e18e3b"',
            'expect("token", "identifier2")',
        ),
        not_after=_OF_THE_PUBLIC,
        check="is_secret",
    ),
    Pattern(
        "access_token",
        "a secret given to its name, without quotes",
        _VALUE_GATE,
        rf"(?P<lead>(?i-u:{_OF_A_SECRET}){_SUFFIX}(?:{_IS}|[ \t]+(?:is|was)[ \t]*:?[ \t]*)|{_GIVEN})(?P<item>{_BARE})",
        (
            "API_KEY=8kLm2V~w9Rt4Yb7",
            "https://example.com/?access_token=9f8e7d~6c5b4a",
            "The token is 9f8e7d~6c5b4a.",
            "--client-secret 9f8e7d~6c5b4a",
            "ENV API_KEY 9f8e7d~6c5b4a",
        ),
        (
            "api_key = os.environ['KEY2']",
            "token = self.tokens2",
            "token = next_token(x1y2)",
            "max_token: 1048576000",
            "private_key: Ed25519PrivateKey",
        ),
        not_after=_OF_THE_PUBLIC,
        not_before=r"^[(\[{]",
        check="is_secret",
    ),
    Pattern(
        "access_token",
        "a password in quotes",
        _VALUE_GATE,
        rf"(?P<lead>(?:{_OR_PASS}(?:{_IS}|{_AND}|\()|{_OF_A_PASSWORD}{_IS_SAID}){_QUOTE})(?P<item>{_QUOTED})",
        (
            'setProperty("password", "Tr0ub4~dor")',
            '.password("Tr0ub4~dor")',
            "Passwort: 'Tr0ub4~dor'",
            'password="hunt~er22"',
            "DB_PASS: 'Tr0ub4~dor&3'",
            '\\"password\\": \\"P@ssw~0rd!\\"',
            "the password is `Tr0ub4~dor`",
        ),
        ('password = "password"', 'passwd = "{password1}"', 'pwd = "/home/user2"', 'password="********"'),
        not_after=_NOT_A_NAME,
        check="is_password",
    ),
    Pattern(
        "access_token",
        "a password without quotes, with & in it",
        _VALUE_GATE,
        rf"(?P<lead>{_OR_PASS}{_IS}|{_OF_A_PASSWORD}[ \t]+(?:is|was)[ \t]*:?[ \t]*)(?P<item>{_WITH_AND})",
        ("PGPASSWORD=kQ8s&L~m2Vx9 psql", "<password>fMZ8&25~MDvrE9</password>", "my password is PMQ8&VU~HxCcA9."),
        ("?password=password2&next=1", "password=a&&b", "passwd & group2"),
        not_after=_NOT_A_NAME,
        not_before=r"^[=(\[{]",
        check="is_bare_password",
    ),
    Pattern(
        "access_token",
        "a password without quotes",
        _VALUE_GATE,
        rf"(?P<lead>{_OR_PASS}{_IS}|(?:{_OF_A_PASSWORD}|(?i-u:my|the|your) pass)[ \t]+(?:is|was)[ \t]*:?[ \t]*)(?P<item>{_BARE})",
        (
            "DB_PASSWORD=Tr0ub4~dor",
            "Password: hunt~er22",
            "my password is S3cr~etPass!",
            "wifi pw: hunt~er22",
            "| Password | Tr0ub4~dor |",
            "пароль: Tr0ub4~dor",
            "my pass is Tr0ub4~dor",
        ),
        ("password=getpass1()", "password = password2", "password: str = field2", "The password is base64-encoded."),
        not_after=_NOT_A_NAME,
        not_before=r"^[(\[{]",
        check="is_bare_password",
    ),
    Pattern(
        "access_token",
        "a password behind the word alone, as nobody would write a word",
        _VALUE_GATE,
        rf"(?P<lead>{_OF_A_PASSWORD}[ \t]+\(?)(?P<item>{_BARE})",
        ("login admin / password kQ8s~Lm2Vx9", "user sa password Tr0ub4~dor!", "the password (Tr0ub4~dor!) is old"),
        ("password reset2024", "password PBKDF2-SHA256", "the password field_2 is"),
        not_after=_NOT_A_NAME,
        not_before=r"^[(\[{]",
        check="is_strong",
    ),
    Pattern(
        "access_token",
        "a password beside its name in Chinese, Japanese or Korean",
        _FAR_GATE,
        rf"(?P<lead>(?:{_FAR_NAMES})[ \t]*(?:是|为|為|は|는|은|：|:|=)[ \t]*{_QUOTE}?)(?P<item>[!-~--[\s\"'`<>,;&|(){{}}\[\]\\]]{{6,}})",
        ("密码是Tr0ub4~dor，谢谢", "パスワードはTr0ub4~dorです", "비밀번호: Tr0ub4~dor"),
        ("密码是password", "密码：********", "パスワードは8文字以上です"),
        check="is_bare_password",
    ),
    Pattern(
        "access_token",
        "a password behind the name of its user",
        _AUTH_GATE,
        rf"(?P<lead>(?i-u:auth)[ \t]*=?[ \t]*\([ \t]*{_QUOTE}[^\"'`\n]{{1,64}}[\"'`][ \t]*,[ \t]*{_QUOTE})(?P<item>{_QUOTED})",
        ("requests.get(url, auth=('admin', 'Tr0ub4~dor'))", 'HTTPBasicAuth("admin", "Tr0ub4~dor")'),
        ("auth=('user', 'password')", "auth=(user, token2)"),
        check="is_password",
    ),
    Pattern(
        "access_token",
        "a password on a command line",
        _COMMAND_GATE,
        rf"(?P<lead>(?:{_COMMANDS}[ \t][^\n|;]{{0,120}}?-[pPawk][ \t]*|{_OF_A_REQUEST}|{_IDENTIFIED}){_QUOTE}?)"
        rf"(?P<item>{_WITH_AND}|{_BARE})",
        (
            "curl -s -u admin:Tr0ub4~dor https://example.com",
            "mysql -u root -pTr0ub4~dor app",
            "sshpass -p 'Tr0ub4~dor' ssh a@b",
            "curl -u 'admin:REWl&iO~B1L2z9' https://example.com",
            "CREATE USER app IDENTIFIED BY 'Tr0ub4~dor'",
        ),
        (
            "curl -u user:password https://example.com",
            "mysql -u root -p app",
            "mysql -h db -P 3306",
            "identified by its id2",
        ),
        check="is_bare_password",
    ),
)
