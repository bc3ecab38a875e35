"""Patterns of personal data: card numbers and IBANs (checked digits), e-mail addresses, phone numbers, IP addresses (T8)."""

from dagster_project.columns.masking_kinds import LETTER, B, Pattern

# So many digits with nothing but what stands in numbers between them: everything a phone or card number can be.
_DIGITS_GATE = (r"[0-9](?:[ ().,/\u{a0}\u{2009}\u{202f}\u{2010}-\u{2013}-]{0,3}[0-9]){6}",)
_S = r"[ \u{a0}\u{202f}\u{2009}\u{2010}-\u{2013}-]"  # between groups of digits: spaces and hyphens of all widths
_D = r"[ \u{a0}\u{202f}\u{2009}\u{2010}-\u{2013}./-]"  # the same with dots and slashes

_CARD = (
    # In groups: four of four, Amex, Diners; then without groups: as long as each issuer has them.
    rf"(?:[456][0-9]{{3}}|2[2-7][0-9]{{2}}|35[0-9]{{2}}|81[0-9]{{2}})(?:{_S}[0-9]{{4}}){{3}}"
    rf"|3[47][0-9]{{2}}{_S}[0-9]{{6}}{_S}[0-9]{{5}}|3[0689][0-9]{{2}}{_S}[0-9]{{6}}{_S}[0-9]{{4}}"
    r"|4[0-9]{12}(?:[0-9]{3}(?:[0-9]{3})?)?|(?:[56][0-9]|2[2-7]|35|81)[0-9]{14}|3[47][0-9]{13}|3(?:0[0-5]|[689][0-9])[0-9]{11}"
    r"|(?:2131|1800)[0-9]{11}|62[0-9]{14,17}|(?:50[0-9]{2}|5[6-8][0-9]{2}|6304|6390|67[0-9]{2}|0604)[0-9]{8}"
)

# How many letters and digits follow country and check digits.
IBAN_LENGTHS = {
    11: "NO",
    12: "BE",
    14: "DK FI FO GL NL FK SD",
    15: "MK SI",
    16: "AT BA EE KZ LT LU XK MN",
    17: "CH HR LI LV",
    18: "BG BH CR DE GB GE IE ME RS VA",
    19: "AE GI IL IQ OM TL SO",
    20: "AD CZ ES MD PK RO SA SE SK VG TN",
    21: "LY PT ST",
    22: "IS TR DJ BI",
    23: "FR GR IT MC SM MR",
    24: "AL AZ BY CY DO GT HU LB NI PL SV",
    25: "BR EG PS QA UA",
    26: "JO KW MU YE",
    27: "MT SC",
    28: "LC",
    29: "RU",
}
_IBAN = "|".join(
    rf"(?i-u:{'|'.join(countries.split())})[0-9]{{2}}(?:{_S}?[A-Za-z0-9]){{{length}}}"
    for length, countries in IBAN_LENGTHS.items()
)

# Top-level domains: those of countries, those of more than a few people, those reserved for examples and inner networks.
_COUNTRIES = (
    "ac ad ae af ag ai al am ao aq ar as at au aw ax az ba bb bd be bf bg bh bi bj bm bn bo br bs bt bv bw by bz ca cc cd cf cg ch"
    " ci ck cl cm cn co cr cu cv cw cx cy cz de dj dk dm do dz ec ee eg er es et eu fi fj fk fm fo fr ga gb gd ge gf gg gh gi gl gm"
    " gn gp gq gr gs gt gu gw gy hk hm hn hr ht hu id ie il im in io iq ir is it je jm jo jp ke kg kh ki km kn kp kr kw ky kz la lb"
    " lc li lk lr ls lt lu lv ly ma mc md me mg mh mk ml mm mn mo mp mq mr ms mt mu mv mw mx my mz na nc ne nf ng ni nl no np nr nu"
    " nz om pa pe pf pg ph pk pl pm pn pr ps pt pw qa re ro rs ru rw sa sb sc sd se sg sh si sk sl sm sn so sr ss st su sv sx sy"
    " sz tc td tf tg th tj tk tl tm tn to tr tt tv tw tz ua ug uk us uy uz va vc ve vg vi vn vu wf ws ye yt za zm zw"
)
_OTHERS = (
    "com org net edu gov mil int info biz name pro mobi asia jobs museum travel coop aero cat tel post"
    " academy agency app art associates bank band berlin bike blog build business cafe capital care careers cash center chat church"
    " city cloud club codes coffee community company computer consulting cool day design dev digital direct directory education"
    " email energy engineering enterprises events exchange expert express family finance fitness foundation fun fund gallery games"
    " global gmbh group guide guru health help hosting house institute international land law legal life link live london love"
    " ltd management market marketing media money network news ninja nyc online page partners party photo photography photos plus"
    " press properties rent report rocks run sale school science services shop site social software solutions space store"
    " studio support systems team tech technology tips today tools top tours town trade training university ventures video vip"
    " watch web website wiki wine work works world xyz yoga zone arpa onion"
    " example invalid test local localhost internal corp lan intranet localdomain"
)
_DOMAINS = "|".join(
    [*_OTHERS.split(), *_COUNTRIES.split(), "xn--[a-z0-9-]+", r"(?:com|edu|gov|net|org)\.py", r"\u{440}\u{444}"]
)
_LETTER = r"\p{L}\p{N}"
_LOCAL = rf"{LETTER}\p{{N}}"

# Before and after a number that is more than this number: ids, floats, amounts, versions, longer numbers.
_NOT_AFTER = rf"[{_LOCAL}_.+/#$€£%@-]$"
_NOT_BEFORE = rf"^(?:[{_LOCAL}_%°]|[.:/+=-][0-9]| ?[€$£])"
_END = rf"(?:[ ,]{{0,2}}(?i-u:x|ext\.?|extension) ?[0-9]{{1,6}}{B}|{B})"  # with an extension or without
_PHONE_WORD = (
    r"(?:(?i:phone|telefono|teléfono|téléphone|telefon|telephone|mobile|mobil|cell ?phone|whatsapp|hotline|handynummer)"
    rf"|{B}(?i-u:tel|cell|fax|sms|handy|(?:my|our|his|her|their|your|contact|direct|home|work|office) (?:cell |mobile )?number)"
    r"|wa\.me/|电话|手机|联系方式|電話|携帯|전화|휴대폰|телефон|_(?i-u:tel|cell|fax))"
    r"[^0-9\p{L}\n<+(]{0,8}(?:号码|号|是|番号|は|(?i-u:number|num|no|nr|is|at|on|me|home|work|to)[^0-9\p{L}\n<+(]{0,5}){0,3}"
    rf"|{B}(?i-u:call|text|dial|ring|reach|contact|message|phone)(?i-u: (?:me|us|him|her|them|back|directly|now|my \w+)){{0,3}}"
    r"(?i-u: (?:at|on|under)):? "
)

_OCTET = r"(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"

PERSONAL = (
    Pattern(
        "card_number",
        "numbers of payment cards with the right check digit",
        _DIGITS_GATE,
        rf"{B}(?:{_CARD}){B}",
        (
            "4111 1111 1111 1111",
            "Card: 5500-0055-5555-5559, 12/27",
            "378282246310005",
            "3056 930902 5904",
            "6011000990139424",
        ),
        (
            "4111 1111 1111 1112",
            "id 4111111111111111222",
            "0.4111111111111111",
            "user_4111111111111111",
            "1609459200000",
        ),
        not_after=rf"(?:[{_LOCAL}_.+]|[0-9A-Fa-f]-|[A-Z]{{2}}[0-9]{{2}}(?: ?[A-Z0-9]{{4}})* ?|[0-9] )$",
        not_before=rf"^(?:[{_LOCAL}_]|[.-][0-9])",
        check="has_luhn_digit",
    ),
    Pattern(
        "iban",
        "account numbers with the right check digits",
        (rf"[0-9]{{2}}(?:{_S}?[A-Za-z0-9]){{11}}", rf"{B}[A-Za-z]{{2}}[0-9]{{2}}(?:{_S}?[A-Za-z0-9]){{11}}"),
        rf"{B}(?:{_IBAN}){B}",
        (
            "DE89 3704 0044 0532 0130 00",
            "IBAN: GB29NWBK60161331926819.",
            "NL91-ABNA-0417-1643-00",
            "fr1420041010050500013m02606",
        ),
        ("DE88 3704 0044 0532 0130 00", "GB29NWBK6016133192681", "XGB29NWBK60161331926819"),
        not_after=rf"[{_LOCAL}_]$",
        not_before=rf"^[{_LOCAL}_]",
        check="has_mod97_digits",
    ),
    Pattern(
        "email",
        "e-mail addresses with a top-level domain that is one",
        (r"(?:@|%40)[^\s@]*\.", rf"[{_LETTER}_%+-](?:@|%40)(?:[{_LETTER}-]+\.)+[\p{{L}}x]"),
        rf"[{_LOCAL}_+](?:[{_LOCAL}._%+-]*[{_LOCAL}_%+-])?(?:@|%40)(?:[{_LETTER}](?:[{_LETTER}-]*[{_LETTER}])?\.)+(?i:{_DOMAINS})_*{B}",
        (
            "jane.doe+news@example.com",
            "Write to j_o@mail.uni-köln.de.",
            "<a@b.co.uk>",
            "mailto:x@y.museum",
            "jürgen@müller.de",
            "发邮件到jane@example.com谢谢",
            "?email=jane%40example.com&x=1",
            "scp a.txt jane@example.com:/tmp",
            "_jane@example.com_",
        ),
        (
            "git@github.com:org/repository.git",
            "icon@2x.png",
            "package@1.2.3",
            "x@self.weight",
            "y = a@b.to(device)",
            "@property",
            "https://name:password@host.com",
            "ssh://git@github.com/org/repository",
        ),
        not_after=rf"(?:[@{_LOCAL}]|://[^\s/]*)$",
        not_before=rf"^(?:[(@]|:[\w.~-]+/|-?_*[{_LOCAL}])",
    ),
    Pattern(
        "phone",
        "international numbers",
        _DIGITS_GATE,
        rf"\+1{_D}?\(?[0-9]{{3}}\)?{_D}{{0,2}}[0-9]{{3}}{_D}?[0-9]{{4}}{_END}|\+[1-9][0-9]{{8,14}}{B}"
        rf"|\+[1-9][0-9]{{0,3}}(?:(?:{_S}|/){{0,2}}(?:\([0-9]{{1,5}}\)|[0-9])){{6,13}}{_END}"
        rf"|\+[1-9][0-9]{{0,2}}(?:\.[0-9]{{1,4}}){{2,6}}{B}|\(\+[1-9][0-9]{{0,2}}\)(?:{_S}{{0,2}}(?:\([0-9]{{1,5}}\)|[0-9])){{6,12}}{_END}",
        (
            "+1 (415) 555-0132",
            "+14155550132",
            "+44 20 7946 0958",
            "+49 (0)30 901820",
            "+33-6-12-34-56-78",
            "tel:+81-3-1234-5678",
            "(+44) 20 7946 0958",
        ),
        ("1.5e+1234567890", "+0200", "x+1234567890", "+1 234", "+12.5 1000000.5"),
        not_after=rf"[{_LOCAL}_)\]+.]$",
        not_before=_NOT_BEFORE,
        check="is_phone",
    ),
    Pattern(
        "phone",
        "international numbers that begin with 00, in groups",
        _DIGITS_GATE,
        rf"{B}00[1-9][0-9]{{0,2}}(?:{_S}(?:\(0\){_S}?)?[0-9]{{2,11}}){{1,5}}{_END}",
        ("001-590-961-9677x6886", "0049 30 9018 2034", "0044-20-7946-0958"),
        ("0010 0110 1010 1100", "00491701234567", "001.000.008.016"),
        not_after=rf"{_NOT_AFTER}|[0-9] +$",
        not_before=rf"{_NOT_BEFORE}|^ [0-9]",
        check="is_phone",
    ),
    Pattern(
        "phone",
        "ten digits as they are written in North America",
        _DIGITS_GATE,
        rf"(?:{B}1{_D})?(?:\([1-9][0-9]{{2}}\){_D}{{0,2}}[0-9]{{3}}{_D}[0-9]{{4}}|{B}[1-9][0-9]{{2}}(?:[-\u{{2010}}-\u{{2013}}][0-9]{{3}}"
        rf"[-\u{{2010}}-\u{{2013}}]|\.[0-9]{{3}}\.|[ /\u{{a0}}][0-9]{{3}}-)[0-9]{{4}}){_END}",
        (
            "(415) 555-0132",
            "415-555-0132 ext. 12",
            "415.555.0132",
            "1-800-555-0199",
            "(415)555-0132",
            "Fax 415 555-0132",
        ),
        ("2024-415-555-0132", "415-555-01321", "v415.555.0132", "$415-555-0132", "0-415-55501-3"),
        not_after=_NOT_AFTER,
        not_before=_NOT_BEFORE,
        check="is_phone",
    ),
    Pattern(
        "phone",
        "groups with nothing but spaces between them",
        _DIGITS_GATE,
        rf"{B}(?:(?:1 )?[2-9][0-9]{{2}}[ \u{{a0}}][2-9][0-9]{{2}}[ \u{{a0}}][0-9]{{4}}|1[3-9][0-9]{_S}[0-9]{{4}}{_S}[0-9]{{4}}){_END}",
        ("415 555 0132", "138 1234 5678"),
        ("100 415 555 0132", "415 555 0132 220", "200 100 3000"),
        not_after=rf"{_NOT_AFTER}|[0-9] +$",
        not_before=rf"{_NOT_BEFORE}|^ +[0-9]",
        check="is_phone",
    ),
    Pattern(
        "phone",
        "national numbers that begin with 0, in groups or of ten or eleven digits",
        _DIGITS_GATE,
        rf"\(0[1-9][0-9]{{0,4}}\){_D}?[0-9]{{2,8}}(?:{_D}[0-9]{{2,8}}){{0,4}}{B}"
        rf"|{B}0[1-9](?:(?: [0-9]{{2}}){{4}}|(?:\.[0-9]{{2}}){{4}}|(?:-[0-9]{{2}}){{4}}"
        rf"|{_S}[0-9]{{4}}{_S}?[0-9]{{4}}|\.[0-9]{{4}}\.[0-9]{{4}}"
        rf"|{_S}[0-9]{{8}}|-[0-9]{{2,3}}(?: [0-9]{{2,3}}){{2,3}}){B}"
        rf"|{B}0[1-9][0-9]{{1,3}}(?:[/ \u{{a0}}-][0-9]{{2,8}})(?:{_S}[0-9]{{2,8}}){{0,4}}{B}"
        rf"|{B}0[1-9][0-9]{{2}}(?:\.[0-9]{{3}}){{2}}{B}|{B}0[1-9][0-9]{{8,9}}{B}",
        (
            "020 7946 0958",
            "(030) 901820-34",
            "06 12 34 56 78",
            "01.23.45.67.89",
            "0170/1234567",
            "07700 900123",
            "03-1234-5678",
            "08-590 390 96",
            "06759234396",
        ),
        (
            "01-02-2024",
            "0123456789",
            "012345-6789-1",
            "01-23-45-67-89-ab",
            "02134-5678",
            "0123 4567 89ab",
            "1 020 7946 0958",
        ),
        not_after=rf"{_NOT_AFTER}|[0-9A-Fa-f]{{4}} +$|[0-9] +$",
        not_before=rf"{_NOT_BEFORE}|^[ .-][0-9A-Fa-f]{{2}}(?-u:\b)|^ +[0-9]",
        check="is_phone",
    ),
    Pattern(
        "phone",
        "area, then four or five digits and four; and Russian numbers",
        _DIGITS_GATE,
        rf"(?:\([1-9][0-9]\)[ \u{{a0}}]?|{B}[1-9][0-9][ -])9?[0-9]{{4}}-[0-9]{{4}}{B}"
        rf"|{B}8 ?(?:\([0-9]{{3}}\) ?[0-9]{{3}}-[0-9]{{2}}-?[0-9]{{2}}| [0-9]{{3}} [0-9]{{3}} [0-9]{{2}} ?[0-9]{{2}}){B}",
        ("(11) 98765-4321", "8 (495) 123-45-67", "17 2185-9242", "42-0146-2005"),
        ("f(11)98765-4321", "(11) 98765-43210", "in 12 1999-2004"),
        not_after=rf"{_NOT_AFTER}|[0-9] +$",
        not_before=rf"{_NOT_BEFORE}|^ +[0-9]",
        check="is_phone",
    ),
    Pattern(
        "phone",
        "a number beside a word that says it is one",
        _DIGITS_GATE,
        rf"(?P<lead>{_PHONE_WORD})(?P<item>\+?\(?[0-9](?:{_D}{{0,2}}(?:\([0-9]{{1,5}}\)|[0-9])){{6,14}}{_END})",
        (
            "phone: 4155550132",
            '"mobile_number": "07700900123"',
            "Tel. 612 345 678",
            "call me at 5550132",
            "my number is 98765 43210",
            "https://wa.me/14155550132",
        ),
        ("mobile 2024-01-02 10:00", "phone 0.12345678", "called 4155550132", "order number 4155550132", "tel 12:34"),
        not_after=r"[0-9][.]$|<PHONE(?:_[0-9]+)?>[^0-9\p{L}]*$",  # not behind our own placeholder
        not_before=rf"^(?:[{_LOCAL}_%]|[.:/-][0-9])",
        check="is_phone",
    ),
    Pattern(
        "ip_address",
        "four numbers with dots that are no version",
        (r"[0-9]\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]",),
        rf"{B}{_OCTET}(?:\.{_OCTET}){{3}}{B}",
        (
            "host 203.0.113.42",
            "http://198.51.100.7:8080/",
            "192.168.1.17",
            "ping 8.8.8.8",
            "ssh root@10.0.0.5",
            "X-Real-IP: 1.2.3.4",
        ),
        (
            "version 1.2.3.4",
            "v91.92.93.94",
            "package==1.2.3.4",
            "1.3.6.1.4.1.311",
            "upgrade from 2.4.1.3 to 2.4.1.10",
            "Chrome/120.0.0.0",
            "lib-93.94.95.96.tar.gz",
            "127.0.0.1",
            "0.0.0.0",
            "255.255.255.0",
            "section 1.2.3.4",
            "300.1.1.1",
            "10.0.19041.1",
        ),
        check="is_ipv4",
    ),
    Pattern(
        "ip_address",
        "IPv6 addresses",
        (r"[0-9A-Fa-f]{1,4}:(?:[0-9A-Fa-f]{0,4}:){1,6}[0-9A-Fa-f]",),
        rf"{B}[0-9A-Fa-f]{{1,4}}(?:::?[0-9A-Fa-f]{{1,4}})+(?:%[A-Za-z0-9]+)?",
        (
            "2001:db8::8a2e:370:7334",
            "fe80::1ff:fe23:4567:890a%eth0",
            "2a02:26f0:1700:0:0:0:1738:ab12",
            "[2001:db8::1]:443",
        ),
        (
            "12:34:56",
            "aa:bb:cc:dd:ee:ff",
            "std::vector",
            "x[2000::2]",
            "::1",
            "aa:bb:cc:dd:ee:ff:00:11",
            "abcd::beef",
            "dead::beef1",
        ),
        not_after=rf"(?:[{_LOCAL}_.]|::|(?:^|[^{_LOCAL}_])[0-9A-Fa-f]{{1,4}}:|[{_LOCAL}_\])]\[)$",
        not_before=rf"^(?:[{_LOCAL}_]|::?[{_LOCAL}_])",
        check="is_ipv6",
    ),
)
