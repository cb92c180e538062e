import pytest

from app.cli.serve import _announce
from app.settings import Settings


@pytest.mark.parametrize("has_keys", [True, False])
def test_what_to_try_first_names_a_key_where_one_is_needed(
    capsys: pytest.CaptureFixture[str], has_keys: bool
) -> None:
    _announce(Settings(host="127.0.0.1"), 9000, has_keys=has_keys)
    assert ("'authorization: Bearer KEY'" in capsys.readouterr().out) is has_keys


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("0.0.0.0", "http://127.0.0.1:9000/"),
        ("::", "http://[::1]:9000/"),
        ("::1", "http://[::1]:9000/"),
        ("keep.example", "http://keep.example:9000/"),
    ],
)
def test_the_address_that_is_said_is_one_that_answers(
    capsys: pytest.CaptureFixture[str], host: str, address: str
) -> None:
    _announce(Settings(host=host), 9000, has_keys=True)
    told = capsys.readouterr().out
    assert f"curl -s {address}v1/conversations/demo/turns" in told
    assert f"Look at it           {address}\n" in told
