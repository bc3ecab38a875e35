"""A sixth system is a folder, its SQL, and lines in assets, core__signals and docs (docs/architecture.md).

`tests/sixth_system` holds such a system, surveys, as it would lie in the project; `LINES` are those it adds to files that are there.
It is put into a copy of the project and run there by the real command.
"""

import json
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import content, environment
from tests.tables import table

ROOT = Path(__file__).parents[2]
SIXTH = Path(__file__).parents[1] / "sixth_system"
PROJECT = ("dagster_project", "assets", "sql", "docs")
BESIDE = ("README.md", "pyproject.toml", "tests")
# file -> a piece of it and what stands there instead
LINES: dict[str, list[tuple[str, str]]] = {
    "assets/core.py": [
        ("core__signals = ", 'core__surveys = sql_table("core__surveys")\ncore__signals = '),
    ],
    "assets/metrics.py": [
        ("metric__turn_daily = ", 'metric__survey_daily = sql_table("metric__survey_daily")\nmetric__turn_daily = '),
    ],
    "sql/core/core__signals.sql": [
        ("core__answer_refs\n-- params", "core__answer_refs, core__surveys\n-- params"),
        (
            "    from sessions\n    where verdict is not null\n",
            """    from sessions
    where verdict is not null
    union all
    select
        'surveys:' || id as signal_id,
        'surveys' as system,
        answer as kind,
        session_id as subject_id,
        'surveys:' || session_id as own_ref,
        session_id,
        user_id,
        null::varchar as tenant_id,
        null::varchar as workspace_id,
        null::varchar as domain,
        event_date,
        occurred_at,
        case answer when 'yes' then 'positive' when 'no' then 'negative' else 'neutral' end as polarity,
        true as is_explicit,
        1.0::double as confidence,
        1.0::double as weight
    from core__surveys
""",
        ),
    ],
    "docs/sources/README.md": [
        (
            "\nSeeds 0 and 2",
            "| - | [5-surveys.md](5-surveys.md) | surveys | `surveys` | whether a session helped |\n\nSeeds 0 and 2",
        ),
    ],
    "sql/README.md": [
        (
            "| `core__turns` |",
            "| `core__surveys` | One answer to a survey before as_of. | id | raw_surveys__answers | $as_of, $spaces |\n"
            "| `core__turns` |",
        ),
        (
            "core__sessions, core__answer_refs | - |",
            "core__sessions, core__answer_refs, core__surveys | - |",
        ),
        (
            "| `metric__turn_daily` |",
            "| `metric__survey_daily` | One day of answers to surveys. | event_date | core__surveys | - |\n"
            "| `metric__turn_daily` |",
        ),
    ],
    "README.md": [
        (
            "| `rating_scale` |",
            "| `surveys` |  |  | Where answers to one-question surveys are read from. |\n| `rating_scale` |",
        ),
        (
            "| `min_weight` |",
            "| `language` | `en` | en, de | In which language its question was asked. |\n| `min_weight` |",
        ),
    ],
}
pytestmark = pytest.mark.slow
NOON, DAY = 1_769_860_800, 86_400  # of 2026-01-31
ANSWERS = [
    ("a1", "u1", "s1", "yes", NOON - DAY),
    ("a2", "u2", "s1", " NO ", NOON - DAY),
    ("a3", "default", "s2", "unsure", NOON * 1000),  # milliseconds, by nobody we know
    ("a4", "u1", "s2", "maybe", NOON),
    ("a5", "u1", "s2", None, NOON),
    ("a6", "u1", "s3", "yes", "soon"),
    ("a7", "u1", "s3", "yes", 7),
    ("a1", "u1", "s1", "yes", NOON - DAY),
]


def put(source: Path, target: Path) -> None:
    if source.is_dir():
        ignored = shutil.ignore_patterns("__pycache__", "node_modules", "sixth_system")
        shutil.copytree(source, target, symlinks=True, ignore=ignored)
    else:
        shutil.copy(source, target)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project with the sixth system in it."""
    project = tmp_path_factory.mktemp("project")
    for name in (*PROJECT, *BESIDE):
        put(ROOT / name, project / name)
    shutil.copytree(SIXTH, project, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    for name, edits in LINES.items():
        text = (project / name).read_text(encoding="utf-8")
        for piece, instead in edits:
            assert text.count(piece) == 1, (name, piece)
            text = text.replace(piece, instead)
        (project / name).write_text(text, encoding="utf-8")
    return project


@pytest.fixture(scope="module")
def home(project: Path) -> Path:
    """A home after a run on a small dirty database of surveys, and nothing else."""
    home = project / "home"
    with closing(sqlite3.connect(project / "answers.db")) as database:
        database.execute("create table survey_answers (id, user_id, session_id, answer, answered_at)")
        database.executemany("insert into survey_answers values (?, ?, ?, ?, ?)", ANSWERS)
        database.commit()
    asked(project, "run", "--as-of", "2026-02-01")
    return home


def python(project: Path, *arguments: str) -> str:
    """What a process says in which the copy is the project that is installed."""
    more = {"PYTHONPATH": str(project), "GRISTMILL_HOME": str(project / "home"), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=project,
        env=environment(GRISTMILL_SURVEYS=str(project / "answers.db"), GRISTMILL_LANGUAGE="de", **more),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def asked(project: Path, *arguments: str) -> str:
    return python(project, "-c", "from dagster_project.cli import main; main()", *arguments)


def told(project: Path, *arguments: str) -> Any:
    return json.loads(asked(project, *arguments, "--json"))


def rows(home: Path, name: str, *columns: str) -> list[tuple[Any, ...]]:
    return table(home, name).select(columns).rows()


def test_it_touches_what_the_house_says(project: Path) -> None:
    """A folder, its SQL, and lines in assets, core__signals and docs; everything else is as it was."""
    before, after = (
        {f"{name}/{path}": held for name in PROJECT for path, held in content(folder / name).items()}
        for folder in (ROOT, project)
    )
    before["README.md"], after["README.md"] = ((folder / "README.md").read_bytes() for folder in (ROOT, project))
    mine = ("dagster_project/systems/surveys/", "dagster_project/assets/", "dagster_project/sql/")  # two are links
    assert {path for path in after if before.get(path) != after[path] and not path.startswith(mine)} == {
        "assets/core.py",
        "assets/metrics.py",
        "sql/core/core__surveys.sql",
        "sql/core/core__signals.sql",
        "sql/metric/metric__survey_daily.sql",
        "docs/sources/5-surveys.md",
        "docs/sources/README.md",
        "sql/README.md",
        "README.md",
    }
    assert [(project / "dagster_project" / name).readlink() for name in ("assets", "sql")] == [
        Path("../assets"),
        Path("../sql"),
    ]


def test_its_rows_are_kept_or_refused_with_reasons(home: Path) -> None:
    """G3, G5: read = kept + quarantined + copies."""
    kept = rows(home, "raw_surveys__answers", "id", "answer", "repairs")
    assert sorted(kept) == [("a1", "yes", []), ("a2", " NO ", []), ("a3", "unsure", ["answered_at:milliseconds"])]
    refused = rows(home, "quarantine__rows", "system", "key", "reasons")
    assert sorted(refused) == [
        ("surveys", "a4", ["unknown:answer"]),
        ("surveys", "a5", ["missing:answer"]),
        ("surveys", "a6", ["wrong_type:answered_at"]),
        ("surveys", "a7", ["out_of_range:answered_at"]),
    ]


@pytest.mark.usefixtures("home")
def test_it_has_an_option_of_its_own(project: Path, home: Path) -> None:
    """A source may be told what no other system's is; what it is told is a setting like any other."""
    assert set(rows(home, "raw_surveys__answers", "id", "language")) == {("a1", "de"), ("a2", "de"), ("a3", "de")}
    found = told(project, "config")
    (language,) = [setting for setting in found["settings"] if setting["key"] == "language"]
    assert (language["value"], language["from"], language["allowed"]) == ("de", "GRISTMILL_LANGUAGE", "en, de")
    spoken = {source["key"]: [file["language"] for file in source["files"]] for source in found["sources"]}
    assert spoken["surveys"] == ["de"]


def test_its_metric_and_its_signals(home: Path) -> None:
    assert rows(home, "metric__survey_daily", "event_date", "answer_count", "yes_count", "no_count") == [
        (date(2026, 1, 30), 2, 1, 1),
        (date(2026, 1, 31), 1, 0, 0),
    ]
    assert rows(home, "core__signals", "signal_id", "system", "kind", "user_id", "polarity") == [
        ("surveys:a1", "surveys", "yes", "u1", "positive"),
        ("surveys:a2", "surveys", "no", "u2", "negative"),
        ("surveys:a3", "surveys", "unsure", None, "neutral"),
    ]
    shares = rows(home, "metric__satisfaction_daily", "system", "fixed_share")
    assert {share for system, share in shares if system == "surveys"} == {0.2}  # N: one of five with signals


@pytest.mark.usefixtures("home")
def test_the_commands_know_it(project: Path) -> None:
    assert told(project, "stats", "--system", "surveys") == {
        "total_answers": 3,
        "by_answer": {"yes": 1, "no": 1, "unsure": 1},
    }
    assert asked(project, "why", "a2") == "a2\n  a2: no by u2, 2026-01-30 12:00:00 UTC\n"
    assert "refused: unknown:answer" in asked(project, "why", "a4")
    (source,) = [source for source in told(project, "config")["sources"] if source["key"] == "surveys"]
    assert (source["variable"], source["from"], len(source["files"])) == ("GRISTMILL_SURVEYS", "GRISTMILL_SURVEYS", 1)
    status = told(project, "status")
    assert [(table["table"], table["rows"]) for table in status["tables"] if "survey" in table["table"]] == [
        ("raw_surveys__answers", 3),
        ("core__surveys", 3),
        ("metric__survey_daily", 2),
    ]
    went = ("system", "read", "quarantined", "copies")
    assert [tuple(source[name] for name in went) for source in status["sources"] if source["read"]] == [
        ("surveys", 8, 4, 1)
    ]


def test_dagster_knows_it(project: Path) -> None:
    python(project, "-m", "dagster", "definitions", "validate", "-m", "dagster_project.definitions")
    keys = "{spec.key.to_user_string(): sorted(dep.asset_key.to_user_string() for dep in spec.deps)"
    found = python(
        project,
        "-c",
        f"import json; from dagster_project.definitions import defs; "
        f"print(json.dumps({keys} for spec in defs.resolve_all_asset_specs()}}))",
    )
    graph = json.loads(found.splitlines()[-1])
    assert graph["metric__survey_daily"] == ["core__surveys"]
    assert "core__surveys" in graph["core__signals"] and graph["raw_surveys__answers"] == ["source_surveys"]


def test_what_holds_of_the_project_holds_of_it(project: Path) -> None:
    """The rooms and their order, what the docs list, what every query must be, the portable subset: nothing more is asked for."""
    tests = ("tests/test_house.py", "tests/config/test_readme_settings.py", "tests/sql/test_every_query.py")
    about_it = ("-k", "test_house or test_readme or survey or signals")
    found = python(project, "-m", "pytest", "-vv", "-n", "0", "-p", "no:cacheprovider", *about_it, *tests)
    assert "test_stands_in_the_readme_as_its_header_says[metric__survey_daily] PASSED" in found
    python(project, "-m", "tests.sql.portable")
