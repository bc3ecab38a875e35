"""Patterns of access keys and tokens that are known by how they begin (T8), a line for each service."""

from dagster_project.columns.masking_kinds import B, Pattern

# What tokens begin with, in as many patterns as it takes for each to be one an engine looks for at once.
_MOST = (
    r"ghp_|gho_|ghu_|ghs_|ghr_|github_pat_|glpat-|xox|xapp-|k_live_|k_test_|whsec_|sk-|npm_|pypi-|hf_|SG\.|AKIA|ASIA|AIza|eyJ",
)
_OTHERS = (
    r"gsk_|pplx-|xai-|tvly-|nvapi-|AGE-SECRET|hvs\.|hvb\.|dp\.pt\.|PMAK-|ATATT3|ATCTT3|ATBB|rubygems_|dapi|glsa_|glc_|NRAK-|sntrys_|sntryu_"
    r"|sbp_|:AA|hooks\.slack|api/webhooks|r8_",
)
_RARE = (
    r"AGPA|AIDA|AROA|ANPA|ABIA|ACCA|gldt-|glrt-|glcbt-|glptt-|glft-|glsoat-|glagent-|GOCSPX|ya29|dop_v1_|doo_v1_|shpat_|shpss_"
    r"|shpca_|shppa_|sq0atp|sq0csp|dckr_[op]at_|figd_|lin_api_",
)
_YOUNGER = (
    r"fo1_|ntn_|secret_|ops_eyJ|EAA|jina_|pul-|pat-|vercel_|tfp_|rnd_|phc_|phx_|AQ\.Ab|nfp_|HRKU-|CFPAT-|LTAI|AKID|lsv2_|sgp_"
    r"|\.atlasv1\.|xkeysib-|1//0|-us[0-9]",
)
_HEX = (r"(?:SK|AC|key-)[0-9a-f]{32}",)

# What it is, its gate, its shape, an example (with a `~` in the middle), a counter-example.
_TOKENS = (
    ("AWS key id", _MOST, r"(?:AKIA|ASIA)[A-Z0-9]{12,20}", "AKIA4~HZQ7VTRM2WXNE5K", "AKIAXXXXXXXXXXXXXXXX"),
    (
        "AWS role id",
        _RARE,
        r"(?:AGPA|AIDA|AROA|ANPA|ABIA|ACCA)[A-Z0-9]{12,20}",
        "AROA4~HZQ7VTRM2WXNE5K",
        "AROAMINGPACKAGES",
    ),
    (
        "GitHub",
        _MOST,
        r"gh[pousr]_[A-Za-z0-9]{20,}",
        "ghp_Zx8~Kq2Lm9Wd4Rt7Yb1Nv6Pc3Hs5Jf0GaQeUo",
        "ghp_token_of_the_user",
    ),
    (
        "GitHub, fine-grained",
        _MOST,
        r"github_pat_[A-Za-z0-9_]{20,}",
        "github_pat_11A~BCDE0Y0qXzT3vKp8_mN4bV7cX",
        "github_pat_xxx",
    ),
    (
        "GitLab",
        _MOST,
        r"glpat-[A-Za-z0-9_.-]{15,}[A-Za-z0-9_-]",
        "glpat-7Gk~2mQx9vR4tLp8ZsW3y",
        "glpat-xxxxxxxxxxxxxxxxxxxx",
    ),
    (
        "GitLab, others",
        _RARE,
        r"gl(?:dt|rt|cbt|ptt|ft|soat|agent)-[A-Za-z0-9_.-]{15,}[A-Za-z0-9_-]",
        "glrt-7Gk~2mQx9vR4tLp8ZsW3y",
        "glrt-registration-of-a-runner",
    ),
    ("Slack", _MOST, r"(?:xox[a-z]|xapp)-[A-Za-z0-9-]{10,}", "xoxb-2837~465910-837465-Qw8eRt5Yu1", "xoxb-your-token"),
    (
        "Slack webhook",
        _OTHERS,
        r"(?:https://)?hooks\.slack\.com/(?:services|workflows)/[A-Za-z0-9/_-]{20,}",
        "hooks.slack.com/services/T0~3K9X/B05QZ/8sKd7Gh2LmQ9",
        "hooks.slack.com/services/TXXXX/BXXXX/XXXXXXXX",
    ),
    (
        "Discord webhook",
        _OTHERS,
        r"(?:https://)?discord(?:app)?\.com/api/webhooks/[0-9]{10,}/[A-Za-z0-9_-]{20,}",
        "discord.com/api/webhooks/918273~645546372819/kQ8sLm2Vx9Zt4Rw7Yb1N",
        "discord.com/api/webhooks/ID/TOKEN",
    ),
    ("Google API", _MOST, r"AIza[A-Za-z0-9_-]{30,40}", "AIzaSy~D8k2Lq9Xv4Tm7Rw1Zp6Nb3Hc5Jf0GsQ", f"AIza{'X' * 35}"),
    ("Google OAuth", _RARE, r"ya29\.[A-Za-z0-9_-]{20,}", "ya29.a0AfH6~SMBx8Kq2Lm9Wd4Rt7Yb", "ya29.short"),
    (
        "Google client secret",
        _RARE,
        r"GOCSPX-[A-Za-z0-9_-]{20,}",
        "GOCSPX-8k2~Lq9Xv4Tm7Rw1Zp6Nb3Hc5Jf0",
        "GOCSPX-secret",
    ),
    ("Stripe", _MOST, r"[srp]k_(?:live|test)_[A-Za-z0-9]{10,}", "sk_live~_4eC39HqLyjWDarjtT1zdp7dc", "sk_live_key"),
    ("Stripe webhook", _MOST, r"whsec_[A-Za-z0-9+/]{20,}", "whsec_8k2L~q9Xv4Tm7Rw1Zp6Nb3Hc5", "whsec_secret"),
    (
        "OpenAI, Anthropic, OpenRouter",
        _MOST,
        r"sk-(?:(?:proj|svcacct|admin|ant|or|None)-[A-Za-z0-9_-]{16,}|[A-Za-z0-9]{20,})",
        "sk-ant-api03~-Xk8Lm2Qv9Zt4Rw7Yb1Np6Hc",
        "sk-learn-contrib-package-of-estimators",
    ),
    ("Groq, Replicate", _OTHERS, r"(?:gsk|r8)_[A-Za-z0-9]{20,}", "gsk_Qx3Gd5~Fa0TeZs8Kd7Gh2LmQ9", "gsk_settings"),
    ("xAI", _OTHERS, r"xai-[A-Za-z0-9]{30,}", "xai-Qx3Gd5~Fa0TeZs8Kd7Gh2LmQ9kQ8sLm2Vx9", "xai-explained"),
    (
        "Perplexity, Tavily",
        _OTHERS,
        r"(?:pplx|tvly)-[A-Za-z0-9-]{20,}",
        "pplx-Qx3Gd5~Fa0TeZs8Kd7Gh2LmQ9",
        "pplx-70b-online",
    ),
    ("Nvidia", _OTHERS, r"nvapi-[A-Za-z0-9_-]{20,}", "nvapi-Qx3Gd5~Fa0TeZs8Kd7Gh2LmQ9", "nvapi-documentation"),
    ("npm", _MOST, r"npm_[A-Za-z0-9]{24,}", "npm_8Kq2Lm9Wd4~Rt7Yb1Nv6Pc3Hs5Jf0GaQeUoTz", "npm_config_registry"),
    ("PyPI", _MOST, r"pypi-[A-Za-z0-9_-]{30,}", "pypi-AgEIcHlwaS5~vcmcCJDk4ZmEyMzE0LTk3", "pypi-publish"),
    ("RubyGems", _OTHERS, r"rubygems_[0-9a-f]{40,}", f"rubygems_0a1b~2c3d{'4e5f6071' * 5}", "rubygems_mirror"),
    (
        "JSON web token",
        _MOST,
        r"eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]+){0,3}",
        "eyJhbGciOiJIUzI1~NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N",
        "eyJhbGciOiJIUzI1NiJ9 alone",
    ),
    ("Hugging Face", _MOST, r"hf_[A-Za-z0-9]{20,}", "hf_QxZ8~kLm2Vw9Rt4Yb7Np1Hc6Js3Gd5Fa0Te", "hf_hub_download"),
    ("Twilio", _HEX, r"(?:SK|AC)[0-9a-f]{32}", "SK0a1b~2c3d4e5f60718293a4b5c6d7e8f9", "SKU0a1b2c3d4e5f"),
    ("Mailgun", _HEX, r"key-[0-9a-f]{32}", "key-0a1b~2c3d4e5f60718293a4b5c6d7e8f9", "key-0123"),
    (
        "SendGrid",
        _MOST,
        r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}",
        "SG.8kLm2Vw9Rt4Yb7~Np1Hc6Js.Qx3Gd5Fa0TeZs8Kd7Gh2LmQ9",
        "SG.a.b",
    ),
    ("DigitalOcean", _RARE, r"do[op]_v1_[0-9a-f]{40,}", f"dop_v1_0a1b~2c3d{'4e5f6071' * 5}", "dop_v1_token"),
    ("Shopify", _RARE, r"shp(?:at|ss|ca|pa)_[0-9a-f]{32}", f"shpat_0a1b~2c3d{'4e5f6071' * 3}", "shpat_token"),
    ("Square", _RARE, r"sq0(?:atp|csp)-[A-Za-z0-9_-]{20,}", "sq0atp-8kLm2~Vw9Rt4Yb7Np1Hc6J", "sq0atp-key"),
    ("Docker", _RARE, r"dckr_[op]at_[A-Za-z0-9_-]{20,}", "dckr_pat_8kLm2~Vw9Rt4Yb7Np1Hc6Js3Gd5F", "dckr_pat_name"),
    ("Figma", _RARE, r"figd_[A-Za-z0-9_-]{20,}", "figd_8kLm2~Vw9Rt4Yb7Np1Hc6Js3Gd5F", "figd_token"),
    ("Linear", _RARE, r"lin_api_[A-Za-z0-9]{20,}", "lin_api_8kLm2~Vw9Rt4Yb7Np1Hc6Js3Gd5F", "lin_api_key"),
    (
        "age",
        _OTHERS,
        r"AGE-SECRET-KEY-1[A-Z0-9]{30,}",
        "AGE-SECRET-KEY-1~Q2W3E4R5T6Y7U8I9O0P1A2S3D4F5G6H7",
        "AGE-SECRET-KEY-1",
    ),
    ("Vault", _OTHERS, r"hv[sb]\.[A-Za-z0-9_-]{20,}", "hvs.8kLm2~Vw9Rt4Yb7Np1Hc6Js3Gd5F", "hvs.token"),
    ("Doppler", _OTHERS, r"dp\.pt\.[A-Za-z0-9]{20,}", "dp.pt.8kLm2~Vw9Rt4Yb7Np1Hc6Js3Gd5F", "dp.pt.name"),
    (
        "Postman",
        _OTHERS,
        r"PMAK-[0-9a-f]{24}-[0-9a-f]{20,}",
        f"PMAK-{'0a1b2c3d' * 3}-4e5f~{'60718293' * 3}",
        "PMAK-0a1b",
    ),
    (
        "Atlassian",
        _OTHERS,
        r"(?:ATATT3|ATCTT3|ATBB)[A-Za-z0-9_=-]{20,}",
        "ATATT3x~FfGF08kLm2Vw9Rt4Yb7Np1Hc6Js",
        "ATBBREVIATION",
    ),
    ("Databricks", _OTHERS, r"dapi[0-9a-f]{32}", f"dapi0a1b~2c3d{'4e5f6071' * 3}", "dapi0a1b"),
    ("Grafana", _OTHERS, r"gl(?:sa|c)_[A-Za-z0-9_=+/]{20,}", "glsa_8kLm2~Vw9Rt4Yb7Np1Hc6Js3Gd5F_0a1b2c3d", "glc_name"),
    ("New Relic", _OTHERS, r"NRAK-[A-Z0-9]{20,}", "NRAK-8KLM2~VW9RT4YB7NP1HC6JS3GD5F", "NRAK-KEY"),
    (
        "Sentry",
        _OTHERS,
        r"sntry[su]_[A-Za-z0-9_=+/-]{30,}",
        "sntrys_eyJ~pYXQiOjE3MDAwMDAwMDAuMH0_8kLm2Vw9Rt4Yb7",
        "sntrys_token",
    ),
    ("Supabase", _OTHERS, r"sbp_[0-9a-f]{30,}", f"sbp_0a1b~2c3d{'4e5f6071' * 4}", "sbp_token"),
    (
        "Telegram",
        _OTHERS,
        r"[0-9]{8,10}:AA[A-Za-z0-9_-]{30,36}",
        "81726~35441:AAE8kLm2Vw9Rt4Yb7Np1Hc6Js3Gd5Fa0TeZ",
        "12:34:AA",
    ),
    ("Facebook", _YOUNGER, r"EAA[A-Za-z0-9]{60,}", f"EAACEd~Eose0cBA{'8kLm2Vw9Rt4Yb7Np1Hc6Js3G' * 3}", "EAAssociation"),
    (
        "Notion",
        _YOUNGER,
        r"(?:ntn|secret)_[A-Za-z0-9]{40,}",
        "ntn_8kLm2Vw9Rt4Yb~7Np1Hc6Js3Gd5Fa0TeZs8Kd7Gh2LmQ9",
        "secret_of_the_service",
    ),
    ("Fly", _YOUNGER, r"fo1_[A-Za-z0-9_-]{30,}", "fo1_8kLm2Vw9Rt4Yb~7Np1Hc6Js3Gd5Fa0TeZs8Kd7", "fo1_name"),
    (
        "1Password",
        _YOUNGER,
        r"ops_eyJ[A-Za-z0-9_-]{40,}",
        "ops_eyJ8kLm2Vw9Rt4Yb~7Np1Hc6Js3Gd5Fa0TeZs8Kd7Gh2LmQ9",
        "ops_eyJ",
    ),
    (
        "Jina",
        _YOUNGER,
        r"jina_[A-Za-z0-9]{40,}",
        "jina_8kLm2Vw9Rt4Yb~7Np1Hc6Js3Gd5Fa0TeZs8Kd7Gh2LmQ9",
        "jina_embeddings",
    ),
    ("Pulumi", _YOUNGER, r"pul-[0-9a-f]{40}", f"pul-0a1b~2c3d{'4e5f6071' * 4}", "pul-name"),
    (
        "HubSpot",
        _YOUNGER,
        r"pat-(?:na|eu)[0-9]-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}",
        "pat-na1-0a1b2c3d~-4e5f-6071-8293-a4b5c6d7e8f9",
        "pat-na1-name",
    ),
    ("Vercel", _YOUNGER, r"vercel_[A-Za-z0-9]{20,}", "vercel_8kLm2Vw9Rt4~Yb7Np1Hc6Js3", "vercel_deployment"),
    ("Typeform", _YOUNGER, r"tfp_[A-Za-z0-9_-]{40,}", "tfp_8kLm2Vw9Rt4Yb~7Np1Hc6Js3Gd5Fa0TeZs8Kd7Gh2LmQ9", "tfp_name"),
    ("Render", _YOUNGER, r"rnd_[A-Za-z0-9]{24,}", "rnd_8kLm2Vw9Rt4Yb~7Np1Hc6Js3Gd5Fa", "rnd_normal"),
    ("PostHog", _YOUNGER, r"ph[cx]_[A-Za-z0-9]{40,}", "phc_8kLm2Vw9Rt4Yb~7Np1Hc6Js3Gd5Fa0TeZs8Kd7Gh2LmQ", "phc_name"),
    (
        "Google, newer",
        _YOUNGER,
        r"AQ\.Ab[A-Za-z0-9_-]{40,}",
        "AQ.Ab8RN6~I8kLm2Vw9Rt4Yb7Np1Hc6Js3Gd5Fa0TeZs8Kd7",
        "AQ.Above",
    ),
    ("Netlify", _YOUNGER, r"nfp_[A-Za-z0-9]{30,}", "nfp_8kLm2Vw9Rt4Yb~7Np1Hc6Js3Gd5Fa0TeZs8", "nfp_name"),
    ("Heroku", _YOUNGER, r"HRKU-[A-Za-z0-9_-]{30,}", "HRKU-AA8kLm2Vw9Rt4Yb~7Np1Hc6Js3Gd5Fa0TeZs8", "HRKU-NAME"),
    (
        "Contentful",
        _YOUNGER,
        r"CFPAT-[A-Za-z0-9_-]{40,}",
        "CFPAT-8kLm2Vw9Rt4Yb~7Np1Hc6Js3Gd5Fa0TeZs8Kd7Gh2L",
        "CFPAT-NAME",
    ),
    (
        "Alibaba, Tencent",
        _YOUNGER,
        r"(?:LTAI[A-Za-z0-9]{12,26}|AKID[A-Za-z0-9]{28,36})",
        "LTAI5t8kLm2~Vw9Rt4Yb7Np1H",
        "LTAI12",
    ),
    (
        "LangSmith",
        _YOUNGER,
        r"lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}",
        f"lsv2_pt_0a1b~2c3d{'4e5f6071' * 3}_8293a4b5c6",
        "lsv2_pt_key",
    ),
    (
        "Sourcegraph",
        _YOUNGER,
        r"sgp_(?:[0-9a-f]{16}_|local_)?[0-9a-f]{40}",
        f"sgp_0a1b~2c3d{'4e5f6071' * 4}",
        "sgp_name",
    ),
    (
        "Terraform",
        _YOUNGER,
        r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_-]{60,70}",
        f"8kLm2Vw9Rt4Yb7.atlasv1.~{'8kLm2Vw9Rt4Yb7Np1Hc6Js3Gd5Fa0TeZ' * 2}",
        "name.atlasv1.name",
    ),
    ("Google, to refresh", _YOUNGER, r"1//0[A-Za-z0-9_-]{40,}", f"1//0~{'8kLm2Vw9Rt4Yb7Np' * 3}", "1//0"),
    (
        "Mailchimp",
        _YOUNGER,
        r"[0-9a-f]{32}-us[0-9]{1,2}",
        f"0a1b~2c3d{'4e5f6071' * 3}-us12",
        "0a1b2c3d-us12",
    ),
    (
        "Brevo",
        _YOUNGER,
        r"xkeysib-[0-9a-f]{64}-[A-Za-z0-9]{16}",
        f"xkeysib-0a1b~2c3d{'4e5f6071' * 7}-8kLm2Vw9Rt4Yb7Np",
        "xkeysib-key",
    ),
)

# In the order of their gates, so that those of one are looked for at once.
TOKENS = tuple(
    Pattern("access_token", f"{what} token", gate, f"{B}(?:{shape})", (example,), (counter_example,), check="is_varied")
    for first in (_MOST, _OTHERS, _RARE, _YOUNGER, _HEX)
    for what, gate, shape, example, counter_example in _TOKENS
    if gate is first
)
