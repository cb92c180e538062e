from dataclasses import fields
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.model.limits import Limits
from app.settings import LOG_LEVELS, Settings, SettingsError, from_environment


def error(environ: dict[str, str], **flags: Any) -> str:
    with pytest.raises(SettingsError) as caught:
        from_environment(environ, **flags)
    return str(caught.value)


def test_an_empty_environment_gives_the_defaults() -> None:
    settings = from_environment({})
    assert settings == Settings()
    assert (settings.host, settings.port) == ("127.0.0.1", 8420)
    assert settings.database_url == "sqlite:///turnkeep.db"


def test_every_setting_has_its_variable() -> None:
    given = {
        "database_url": "postgresql://me@db/turnkeep",
        "host": "0.0.0.0",
        "log_level": "debug",
        "allowed_hosts": "a.example,b.example",
        "cors_origins": "https://c.example",
    }
    for one in fields(Settings):
        default = getattr(Settings(), one.name)
        match default:
            case bool():
                given[one.name] = str(not default).lower()
            case int():
                given[one.name] = str(default + 1)
    settings = from_environment({f"TURNKEEP_{name.upper()}": text for name, text in given.items()})
    for one in fields(Settings):
        assert (getattr(settings, one.name) != getattr(Settings(), one.name)) == (
            one.name != "limits"
        ), one.name
    assert (settings.host, settings.port, settings.docs) == ("0.0.0.0", 8421, False)


@pytest.mark.parametrize("limit", [field.name for field in fields(Limits)])
def test_every_limit_is_a_setting(limit: str) -> None:
    settings = from_environment({f"TURNKEEP_MAX_{limit.upper()}": "7"})
    assert settings.limits == Limits(**{limit: 7})


def test_a_flag_wins_over_its_variable() -> None:
    environ = {"TURNKEEP_PORT": "9000", "TURNKEEP_HOST": "a"}
    settings = from_environment(environ, port="9001", host=None)
    assert (settings.port, settings.host) == (9001, "a")


@pytest.mark.parametrize("flag", [9001, "9001"])
def test_a_flag_may_be_a_number_or_its_text(flag: int | str) -> None:
    assert from_environment({}, port=flag).port == 9001


@pytest.mark.parametrize("empty", ["", " ", "\t"])
def test_an_empty_variable_counts_as_one_that_is_not_set(empty: str) -> None:
    environ = {"TURNKEEP_PORT": empty, "TURNKEEP_DATABASE_URL": empty, "TURNKEEP_LOG_LEVEL": empty}
    assert from_environment(environ) == Settings()


def test_blanks_around_a_value_do_not_matter() -> None:
    assert from_environment({"TURNKEEP_PORT": " 9000\n"}).port == 9000


def test_other_peoples_variables_do_not_matter() -> None:
    assert (
        from_environment({"PORT": "1", "DATABASE_URL": "x", "TURNKEEP_UNKNOWN": "?"}) == Settings()
    )


@pytest.mark.parametrize("value", ["x", "1.5", "-1", "+1", "1_000", "٣", "0x10", "1e3", "9" * 19])
def test_what_is_no_whole_number_is_refused_by_name(value: str) -> None:
    assert error({"TURNKEEP_WORKERS": value}) == (
        f"TURNKEEP_WORKERS must be a whole number, not {value!r}"
    )


@pytest.mark.parametrize("name", ["WORKERS", "PG_WRITERS", "MAX_TURNS", "MAX_BODY_BYTES"])
def test_nothing_is_not_enough(name: str) -> None:
    assert error({f"TURNKEEP_{name}": "0"}) == f"TURNKEEP_{name} must be at least 1, not 0"


@pytest.mark.parametrize(("port", "fine"), [("0", True), ("65535", True), ("65536", False)])
def test_a_port_is_one_that_exists(port: str, fine: bool) -> None:
    environ = {"TURNKEEP_PORT": port}
    if fine:
        assert from_environment(environ).port == int(port)
    else:
        assert "at most 65535" in error(environ)


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("true", True),
        ("YES", True),
        ("on", True),
        ("1", True),
        ("false", False),
        ("No", False),
        ("OFF", False),
        ("0", False),
    ],
)
def test_a_switch_takes_the_usual_words(word: str, value: bool) -> None:
    environ = {"TURNKEEP_PG_PREPARED_STATEMENTS": word}
    assert from_environment(environ).pg_prepared_statements is value


def test_a_switch_takes_no_other_word() -> None:
    said = error({"TURNKEEP_PG_PREPARED_STATEMENTS": "maybe"})
    assert said == "TURNKEEP_PG_PREPARED_STATEMENTS must be true or false, not 'maybe'"


@pytest.mark.parametrize("level", [*LOG_LEVELS, "INFO", "Warning"])
def test_a_log_level_may_be_written_in_any_case(level: str) -> None:
    assert from_environment({"TURNKEEP_LOG_LEVEL": level}).log_level == level.lower()


def test_an_unknown_log_level_is_refused_with_the_known_ones() -> None:
    said = error({"TURNKEEP_LOG_LEVEL": "loud"})
    assert all(level in said for level in LOG_LEVELS)


@pytest.mark.parametrize(
    "url",
    [
        "sqlite:///file.db",
        "sqlite:////abs/file.db",
        "sqlite://",
        "postgresql://me:pw@host:1/db",
        "postgresql+psycopg://me@host/db",
    ],
)
def test_a_database_url_is_a_plain_one(url: str) -> None:
    assert from_environment({"TURNKEEP_DATABASE_URL": url}).database_url == url


@pytest.mark.parametrize("url", ["turnkeep.db", "mysql://x", "postgres:secret", "://", "http://x"])
def test_another_database_url_is_refused_and_not_shown(url: str) -> None:
    said = error({"TURNKEEP_DATABASE_URL": url})
    assert said.startswith("TURNKEEP_DATABASE_URL must begin with sqlite:/// or postgresql://")
    assert url not in said.partition("(")[2]


def test_a_password_is_never_shown() -> None:
    assert "s3cret" not in error({"TURNKEEP_DATABASE_URL": "mysql://me:s3cret@host/db"})


def test_a_bad_flag_is_called_by_the_name_it_was_given_under() -> None:
    assert error({}, port="x") == "--port must be a whole number, not 'x'"
    assert error({}, log_level="loud").startswith("--log-level must be one of")


def test_an_error_is_one_line() -> None:
    assert "\n" not in error({"TURNKEEP_PORT": "1\n2"})


def test_a_flag_that_does_not_exist_is_a_mistake_of_ours() -> None:
    with pytest.raises(TypeError, match="colour"):
        from_environment({}, colour="red")


@given(
    st.builds(
        Settings,
        database_url=st.sampled_from(["sqlite:///a.db", "postgresql://me@host/db"]),
        host=st.sampled_from(["0.0.0.0", "::1", "localhost"]),
        port=st.integers(0, 65_535),
        workers=st.integers(1, 64),
        log_level=st.sampled_from(LOG_LEVELS),
        pg_prepared_statements=st.booleans(),
        pg_writers=st.integers(1, 9),
        search=st.booleans(),
        limits=st.builds(Limits, *[st.integers(1, 10**9) for _ in fields(Limits)]),
    )
)
def test_settings_survive_the_way_to_a_worker(settings: Settings) -> None:
    assert from_environment(settings.as_environment()) == settings


def test_the_environment_for_a_worker_names_every_setting() -> None:
    assert len(Settings().as_environment()) == len(fields(Settings)) - 1 + len(fields(Limits))
