"""Configuration: file, then environment, then options; every mistake is one line (G12 for what changes tables)."""

import os
import re
from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from dagster_project.config import SYSTEMS, Config, SourceFile, load
from dagster_project.config.source_settings import OF_A_SOURCE
from dagster_project.errors import GristmillError

SQL_FOLDER = Path(__file__).parents[2] / "sql"
NO_SOURCES: dict[str, tuple[SourceFile, ...]] = dict.fromkeys(SYSTEMS, ())


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder without configuration."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def complaint(file: Path | None = None, environ: Mapping[str, str] | None = None) -> str:
    """The one line with which loading must fail."""
    with pytest.raises(GristmillError) as error:
        load(file, environ=environ or {})
    line = str(error.value)
    assert "\n" not in line
    return line


def options(**said: str) -> dict[str, str | None]:
    """All options of a source, where some were said."""
    return {name: said.get(name, setting.default) for name, setting in OF_A_SOURCE.items()}


def test_nothing_at_all() -> None:
    """Defaults: `data` in the working folder, no source."""
    assert load(environ={}) == Config(home=Path("data"), sources=NO_SOURCES)


def test_every_key_of_a_file(folder: Path) -> None:
    """Paths in a file are relative to it."""
    file = write(
        folder / "etc" / "mill.toml",
        """
        home = "mill"
        feedback = "db/feedback.db"
        distillation = "db/distillation.db"
        conversations = "db/turn_index.db"
        tenant = "acme"
        rating_scale = "five"
        min_weight = 0.5
        split_key = "other"
        ready_score = 0.8
        auto_ready = false
        synthetic_pairs = true
        review_corrections = true
        second_review_share = 0.2
        review_batch = 50
        similarity_model = "our.models:load"
        similarity_threshold = 0.9
        sample_rate = 0.5
        satisfaction_shares = { feedback = 0.75, sessions = 0.25 }
        anonymity_k = 7
        token_budget = 16000
        busy_timeout_seconds = 2
        memory_limit_mb = 300
        workers = 3
        min_free_mb = 1

        [[reactions]]
        uri = "db/acme.db"
        project = "support"

        [[reactions]]
        uri = "postgresql://u:pw@db.example:5432/prod"
        tenant = "umbrella"
        project = "web"
        """,
    )
    assert load(file, environ={}) == Config(
        home=folder / "etc" / "mill",
        sources={
            "feedback": (
                SourceFile(folder / "etc" / "db" / "feedback.db", "feedback.db", options(rating_scale="five")),
            ),
            "distillation": (SourceFile(folder / "etc" / "db" / "distillation.db", "distillation.db"),),
            "conversations": (SourceFile(folder / "etc" / "db" / "turn_index.db", "turn_index.db"),),
            "reactions": (
                SourceFile(folder / "etc" / "db" / "acme.db", "acme.db", options(tenant="acme", project="support")),
                SourceFile(
                    Path("prod"),
                    "prod.kdcube_umbrella_web",
                    options(tenant="umbrella", project="web"),
                    "postgresql://u:pw@db.example:5432/prod",
                    "kdcube_umbrella_web",
                ),
            ),
            "sessions": (),
        },
        min_weight=0.5,
        split_key="other",
        ready_score=0.8,
        auto_ready=False,
        synthetic_pairs=True,
        review_corrections=True,
        second_review_share=0.2,
        review_batch=50,
        similarity_model="our.models:load",
        similarity_threshold=0.9,
        sample_rate=0.5,
        satisfaction_shares={"feedback": 0.75, "sessions": 0.25},
        anonymity_k=7,
        token_budget=16000,
        busy_timeout_seconds=2.0,
        memory_limit_mb=300,
        workers=3,
        min_free_mb=1,
    )


def test_file_then_environment_then_options(folder: Path) -> None:
    """Each later one wins, key by key."""
    write(
        folder / "gristmill.toml",
        'home = "from_file"\nmin_weight = 0.1\nsplit_key = "file"\nfeedback = "file.db"\nrating_scale = "five"',
    )
    environ = {
        "GRISTMILL_HOME": "from_environment",
        "GRISTMILL_MIN_WEIGHT": "0.2",
        "GRISTMILL_MEMORY_LIMIT_MB": "64",
        "GRISTMILL_FEEDBACK": "environment.db",
        "GRISTMILL_RATING_SCALE": "thumbs",
    }
    from_file, from_environment = load(environ={}), load(environ=environ)
    assert (from_file.home, from_file.min_weight, from_file.split_key) == (Path("from_file"), 0.1, "file")
    assert from_file.sources["feedback"] == (SourceFile(Path("file.db"), "file.db", options(rating_scale="five")),)
    assert (from_environment.home, from_environment.min_weight) == (Path("from_environment"), 0.2)
    assert (from_environment.split_key, from_environment.memory_limit_mb) == ("file", 64)
    assert from_environment.sources["feedback"] == (SourceFile(Path("environment.db"), "environment.db"),)
    assert load(home=Path("from_option"), environ=environ).home == Path("from_option")


def test_which_file_is_read(folder: Path) -> None:
    """--config, then GRISTMILL_CONFIG, then ./gristmill.toml."""
    write(folder / "gristmill.toml", 'split_key = "here"')
    named = write(folder / "a" / "named.toml", 'split_key = "named"')
    other = write(folder / "b" / "other.toml", 'split_key = "other"')
    environ = {"GRISTMILL_CONFIG": str(named)}
    assert load(environ={}).split_key == "here"
    assert load(environ=environ).split_key == "named"
    assert load(other, environ=environ).split_key == "other"
    assert load(environ={"GRISTMILL_CONFIG": ""}).split_key == "here"


def test_the_environment_of_the_process_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a mapping the process's own environment is read."""
    for name in [name for name in os.environ if name.startswith("GRISTMILL_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("GRISTMILL_SPLIT_KEY", "mine")
    assert load().split_key == "mine"


# --- sources ---------------------------------------------------------------------------------------------------------


def test_default_sources(folder: Path) -> None:
    """What lies in <home>/sources under the source's own names, the fallback file second; other files do not count."""
    home = folder / "home"
    assert load(home=home, environ={}).sources == NO_SOURCES
    assert [file.label for file in load(home=home, environ={}).absent["feedback"]] == [
        "feedback.db",
        "feedback_fallback.db",
    ]
    for name in ("feedback_fallback.db", "feedback.db", "other.db"):
        write(home / "sources" / name, "")
    assert load(home=home, environ={"GRISTMILL_RATING_SCALE": "five"}).sources["feedback"] == (
        SourceFile(home / "sources" / "feedback.db", "feedback.db", options(rating_scale="five")),
        SourceFile(home / "sources" / "feedback_fallback.db", "feedback_fallback.db", options(rating_scale="five")),
    )


def test_several_sources_with_scales_of_their_own(folder: Path) -> None:
    """F2, F3: a path, a table, or a list of either; the order stays, for it decides conflicts."""
    write(
        folder / "gristmill.toml",
        """
        rating_scale = "five"
        feedback = ["z.db", {uri = "a.db", rating_scale = "thumbs"}, {uri = ["m.db", "/abs/n.db"]}]
        """,
    )
    assert load(environ={}).sources["feedback"] == (
        SourceFile(Path("z.db"), "z.db", options(rating_scale="five")),
        SourceFile(Path("a.db"), "a.db"),
        SourceFile(Path("m.db"), "m.db", options(rating_scale="five")),
        SourceFile(Path("/abs/n.db"), "n.db", options(rating_scale="five")),
    )


def test_a_table_is_a_source(folder: Path) -> None:
    """The form `[feedback]` of TOML."""
    write(folder / "gristmill.toml", '[feedback]\nuri = "a.db"\nrating_scale = "five"')
    assert load(environ={}).sources["feedback"] == (SourceFile(Path("a.db"), "a.db", options(rating_scale="five")),)


def test_several_sources_from_the_environment() -> None:
    """Separated as PATH is, relative to the working folder."""
    found = load(environ={"GRISTMILL_FEEDBACK": os.pathsep.join(["b.db", "/x/a.db"])}).sources["feedback"]
    assert found == (SourceFile(Path("b.db"), "b.db"), SourceFile(Path("/x/a.db"), "a.db"))


def test_labels_tell_files_of_one_name_apart() -> None:
    """A label is the file's name, with its folder only where two share a name."""
    names = ["one/feedback.db", "two/feedback.db", "two/other.db"]
    found = load(environ={"GRISTMILL_FEEDBACK": os.pathsep.join(names)}).sources["feedback"]
    assert [file.label for file in found] == ["one/feedback.db", "two/feedback.db", "other.db"]


# --- mistakes --------------------------------------------------------------------------------------------------------


def test_a_named_file_that_is_not_there(folder: Path) -> None:
    """--config and GRISTMILL_CONFIG must exist; ./gristmill.toml need not."""
    expected = f"configuration file {folder / 'none.toml'} does not exist"
    assert complaint(folder / "none.toml") == expected
    assert complaint(environ={"GRISTMILL_CONFIG": str(folder / "none.toml")}) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("min_wieght = 0.5", "unknown key 'min_wieght'"),
        ("min_weight =", "not valid TOML"),
        ('min_weight = "heavy"', "min_weight (GRISTMILL_MIN_WEIGHT) must be a number, not 'heavy'"),
        ("min_weight = [1]", "min_weight (GRISTMILL_MIN_WEIGHT) must be a number"),
        ("min_weight = 1.5", "min_weight must be between 0 and 1, not 1.5"),
        ("min_weight = nan", "must be a number, not nan"),
        ('memory_limit_mb = "much"', "memory_limit_mb (GRISTMILL_MEMORY_LIMIT_MB) must be a whole number, not 'much'"),
        ('rating_scale = "ten"', "rating_scale must be one of thumbs, five, not 'ten'"),
        ("rating_scale = 5", "rating_scale must be one of thumbs, five, not 5"),
        ("feedback = 5", "source 'feedback'"),
        ('feedback = ["a.db", 5]', "source 'feedback'"),
        ('feedback = {path = "a.db"}', "source 'feedback'"),
        ('feedback = {uri = "a.db", scale = "five"}', "source 'feedback': unknown key 'scale'"),
        ('feedback = {uri = "a.db", rating_scale = "ten"}', "feedback.rating_scale must be one of thumbs, five"),
        ('feedback = {uri = ["a.db", 5]}', "source 'feedback'"),
        ('feedback = ["a.db", "b/../a.db"]', "source 'feedback' names the same file twice"),
    ],
)
def test_mistakes_in_a_file_are_one_line(text: str, expected: str, folder: Path) -> None:
    """An unknown key, a wrong type, an unknown scale, a file named twice."""
    assert expected in complaint(write(folder / "mill.toml", text))


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({"GRISTMILL_MIN_WEIGHT": "x"}, "min_weight (GRISTMILL_MIN_WEIGHT) must be a number, not 'x'"),
        ({"GRISTMILL_MIN_WEIGHT": "-1"}, "min_weight must be between 0 and 1, not -1.0"),
        ({"GRISTMILL_MIN_FREE_MB": "1.5"}, "min_free_mb (GRISTMILL_MIN_FREE_MB) must be a whole number, not '1.5'"),
        ({"GRISTMILL_ANONYMITY_K": "0"}, "anonymity_k must be at least 1, not 0"),
        ({"GRISTMILL_TOKEN_BUDGET": "0"}, "token_budget must be at least 1, not 0"),
        ({"GRISTMILL_RATING_SCALE": "ten"}, "rating_scale must be one of thumbs, five, not 'ten'"),
        ({"GRISTMILL_FEEDBACK": f"a.db{os.pathsep}./a.db"}, "source 'feedback' names the same file twice"),
    ],
)
def test_mistakes_in_the_environment_are_one_line(environ: Mapping[str, str], expected: str) -> None:
    """The line names the variable where a value is of the wrong type."""
    assert expected in complaint(environ=environ)


@pytest.mark.parametrize(
    ("variable", "expected"),
    [
        ("GRISTMILL_MIN_WIEGHT", "GRISTMILL_MIN_WIEGHT is no setting; did you mean GRISTMILL_MIN_WEIGHT?"),
        ("GRISTMILL_FEEDBACKS", "GRISTMILL_FEEDBACKS is no setting; did you mean GRISTMILL_FEEDBACK?"),
        ("GRISTMILL_home", "GRISTMILL_home is no setting; did you mean GRISTMILL_HOME?"),
        ("GRISTMILL_", "GRISTMILL_ is no setting; known keys are anonymity_k, auto_ready, "),
        ("GRISTMILL_XQZ", "GRISTMILL_XQZ is no setting; known keys are anonymity_k, auto_ready, "),
    ],
)
def test_a_misspelt_variable_is_told(variable: str, expected: str) -> None:
    """It would leave its setting as it is, and nobody would know; also where it is empty."""
    for value in ("0.5", ""):
        assert complaint(environ={variable: value, "GRISTMILL_MIN_WEIGHT": "0.5"}).startswith(expected)


def test_variables_of_others_and_of_our_own_that_are_no_key_are_not() -> None:
    assert load(environ={"GRISTMILLER": "x", "GRISTMILL_REVIEWER": "ana", "PATH": ""}) == load(environ={})


def test_a_file_cannot_say_what_only_the_environment_can(folder: Path) -> None:
    assert "unknown key 'reviewer'" in complaint(write(folder / "mill.toml", 'reviewer = "ana"'))


def test_the_same_file_by_a_link(folder: Path) -> None:
    """F3: a file under two names is one file."""
    write(folder / "a.db", "")
    (folder / "b.db").symlink_to(folder / "a.db")
    assert "same file twice" in complaint(environ={"GRISTMILL_FEEDBACK": f"a.db{os.pathsep}b.db"})


# --- G12 -------------------------------------------------------------------------------------------------------------


# What may be set otherwise without another byte in an output. Whoever adds a setting says on which side it is.
LIMITS = {
    "home",
    "absent",
    "taken_out",
    "second_review_share",
    "release_every",
    "keep_releases",
    "on_failure",
    "on_alert",
    "on_alert_format",
    "busy_timeout_seconds",
    "memory_limit_mb",
    "workers",
    "min_free_mb",
    "owner",
}
SOURCE_LIMITS = {"path", "address", "schema", "order"}  # the order of files is that of the list


def other_value(value: Any) -> Any:
    """Something else of the same kind."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    if isinstance(value, Path):
        return value / "elsewhere"
    return {**value, "sessions": 1.0} if isinstance(value, dict) else f"{value} else"


@pytest.mark.parametrize("name", [f.name for f in fields(Config) if f.name != "sources"])
def test_every_setting_that_changes_outputs_is_in_the_hash_of_the_rules(name: str) -> None:
    """G12: and no other; sample_rate 1 and 0.1 are different configurations."""
    one = Config(Path("home"))
    other = replace(one, **{name: other_value(getattr(one, name))})
    assert (one.rules_hash() == other.rules_hash()) is (name in LIMITS)


@pytest.mark.parametrize("name", [f.name for f in fields(SourceFile)])
def test_so_is_what_is_said_of_a_source(name: str) -> None:
    """G12: its rating scale, tenant and project, and the name its rows carry; not where it lies."""
    file = SourceFile(Path("feedback.db"), label="feedback.db")
    one, other = (
        Config(Path("home"), {"feedback": (chosen,)})
        for chosen in (file, replace(file, **{name: other_value(getattr(file, name))}))
    )
    assert (one.rules_hash() == other.rules_hash()) is (name in SOURCE_LIMITS)


def test_the_order_of_files_is_in_the_hash_of_the_rules() -> None:
    """F3: of rows that differ the later file's is kept."""
    files = [SourceFile(Path(name), label=name) for name in ("a.db", "b.db")]
    hashes = {Config(Path("home"), {"feedback": tuple(order)}).rules_hash() for order in (files, files[::-1])}
    assert len(hashes) == 2


def test_the_hash_of_the_rules_stays() -> None:
    """Releases name it: how settings are declared must not change it."""
    file = SourceFile(Path("a.db"), "a.db", options(rating_scale="five", tenant="acme", project="web"))
    other = Config(Path("home"), {"feedback": (file,)}, min_weight=0.5, satisfaction_shares={"feedback": 1.0})
    assert (Config(Path("home")).rules_hash(), other.rules_hash()) == ("ef085954f4a04a1d", "9da79b6631a5b270")


def test_every_setting_a_query_binds_is_declared_as_its_parameter() -> None:
    """And none besides; as_of, the day of the release, its formats and what a space is are the run's own."""
    texts = [path.read_text(encoding="utf-8") for path in SQL_FOLDER.glob("*/*.sql")]
    bound = {name for text in texts for said in re.findall("^-- params: (.*)", text, re.M) for name in said.split(", ")}
    assert Config(Path("home")).sql_parameters().keys() == bound - {"none", "as_of", "release_date", "format", "spaces"}


@pytest.mark.parametrize(
    ("given", "places"),
    [
        ("postgresql://u:p@h:5432/one", ["one"]),
        ("postgresql://u:p@h:5432/one:postgres://h/two", ["one", "two"]),
        ("postgresql://h/one:/data/copy.db", ["one", "/data/copy.db"]),
        ("./copy.db:postgresql://u@h/one?sslmode=require", ["copy.db", "one"]),
    ],
)
def test_several_addresses_in_one_variable(given: str, places: list[str]) -> None:
    found = load(environ={"GRISTMILL_SESSIONS": given.replace(":./", f"{os.pathsep}./")}).sources["sessions"]
    assert [str(file.path) for file in found] == places


def test_a_password_is_not_shown() -> None:
    config = load(environ={"GRISTMILL_SESSIONS": "postgresql://u:secret@h/one"})
    assert "secret" not in repr(config)


def test_satisfaction_shares() -> None:
    """A table in the file, `system=share` in the environment; they must add up to 1."""

    def shares(said: str) -> Mapping[str, float]:
        return load(environ={"GRISTMILL_SATISFACTION_SHARES": said}).satisfaction_shares

    assert shares("") == {}
    assert shares("feedback=0.5, sessions=0.5") == {"feedback": 0.5, "sessions": 0.5}
    for said, told in {
        "feedback=1,nobody=0": "'nobody' is none of",
        "feedback=0.5": "must add up to 1, not 0.5",
        "feedback=2": "must be between 0 and 1",
        "feedback": "must be a number",
    }.items():
        assert told in complaint(environ={"GRISTMILL_SATISFACTION_SHARES": said})
    assert "must be a table" in complaint(write(Path("gristmill.toml"), "satisfaction_shares = 3"))


def test_a_sample_of_nothing() -> None:
    assert "sample_rate must be above 0" in complaint(environ={"GRISTMILL_SAMPLE_RATE": "0"})


@pytest.mark.parametrize(
    "uri",
    [
        "postgressql://u:Sup3rS3cret@h/one",
        "postgresql+psycopg://u:Sup3rS3cret@h/one",
        "mysql://u:Sup3rS3cret@h/one",
        "host=h user=u password=Sup3rS3cret dbname=one",
    ],
)
def test_an_address_of_another_kind_is_refused_and_not_repeated(folder: Path, uri: str) -> None:
    write(folder / "gristmill.toml", f'sessions = "{uri}"')
    for environ in ({}, {"GRISTMILL_SESSIONS": uri}):
        with pytest.raises(GristmillError) as error:
            load(environ=environ)
        assert "Sup3rS3cret" not in str(error.value)
        assert "postgresql://" in str(error.value)


@pytest.mark.parametrize("uri", ["PostgreSQL://u:pw@h/one", " postgres://u:pw@h/one"])
def test_a_scheme_is_read_whatever_its_case(folder: Path, uri: str) -> None:
    write(folder / "gristmill.toml", f'sessions = "{uri}"')
    (file,) = load(environ={}).sources["sessions"]
    assert (file.address, file.label) == ("postgresql://u:pw@h/one", "one.public")


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("busy_timeout_seconds", "inf", "must be a number, not 'inf'"),
        ("busy_timeout_seconds", "nan", "must be a number, not 'nan'"),
        ("busy_timeout_seconds", "1e300", "must be at most 86400"),
        ("memory_limit_mb", "9" * 30, "must be at most 16777216"),
        ("memory_limit_mb", "1e3", "must be a whole number, not '1e3'"),
    ],
)
def test_a_limit_no_engine_could_keep_is_one_line(key: str, value: str, said: str, folder: Path) -> None:
    with pytest.raises(GristmillError, match=said):
        load(home=folder, environ={f"GRISTMILL_{key.upper()}": value})


@pytest.mark.parametrize("value", ["8000.5", "true"])
def test_a_number_of_another_kind_is_not_cut_to_fit(value: str, folder: Path) -> None:
    with pytest.raises(GristmillError, match=r"token_budget .* must be a whole number"):
        load(write(folder / "gristmill.toml", f"token_budget = {value}"), environ={})


def test_a_user_nobody_knows_is_one_line(folder: Path) -> None:
    with pytest.raises(GristmillError, match=r"~nosuchuser/feedback.db: there is no such user"):
        load(home=folder, environ={"GRISTMILL_FEEDBACK": "~nosuchuser/feedback.db"})
    for home in ("~nosuchuser", "~nosuchuser/mill"):
        with pytest.raises(GristmillError, match=r"home ~nosuchuser.*: there is no such user"):
            load(environ={"GRISTMILL_HOME": home})
        with pytest.raises(GristmillError, match=r"home ~nosuchuser.*: there is no such user"):
            load(home=Path(home), environ={})


@pytest.mark.parametrize("home", ["5", '"x\\u0000y"', '""', "[]"])
def test_a_home_that_is_no_path_is_one_line(folder: Path, home: str) -> None:
    (folder / "gristmill.toml").write_text(f"home = {home}\n", encoding="utf-8")
    with pytest.raises(GristmillError, match=r"^home "):
        load(config_file=folder / "gristmill.toml", environ={})
