import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.model.media import data_url, refusal

PNG = frozenset({"image/png"})
MB = 1024 * 1024


def url(content: bytes, media_type: str = "image/png") -> str:
    return f"data:{media_type};base64,{base64.b64encode(content).decode()}"


def png(width: int, height: int) -> bytes:
    size = width.to_bytes(4) + height.to_bytes(4)
    return b"\x89PNG\r\n\x1a\n" + b"\0\0\0\rIHDR" + size + b"\x08\x02\0\0\0"


def gif(width: int, height: int) -> bytes:
    return b"GIF89a" + width.to_bytes(2, "little") + height.to_bytes(2, "little") + b"\0\0\0"


def jpeg(width: int, height: int, marker: int = 0xC0) -> bytes:
    app0 = b"\xff\xe0" + (16).to_bytes(2) + b"JFIF\0" + b"\0" * 9
    frame = b"\xff" + bytes([marker]) + (11).to_bytes(2) + b"\x08"
    return b"\xff\xd8" + app0 + frame + height.to_bytes(2) + width.to_bytes(2) + b"\x01\x01\x11\0"


@given(st.binary(min_size=1))
def test_a_data_url_gives_back_its_bytes(content: bytes) -> None:
    held = data_url(url(content))
    assert held is not None
    assert (held.media_type, held.content) == ("image/png", content)
    assert base64.b64decode(held.data) == content


@pytest.mark.parametrize(
    ("text", "media_type"),
    [
        ("data:image/png;base64,AAAA", "image/png"),
        ("data:IMAGE/PNG;base64,AAAA", "image/png"),
        ("data:text/plain;charset=utf-8;base64,AAAA", "text/plain"),
        ("data:application/vnd.ms-excel;name=a.xls;base64,AAAA", "application/vnd.ms-excel"),
        ("data:image/svg+xml;base64,AAAA", "image/svg+xml"),
        ("data:;base64,AAAA", "application/octet-stream"),
    ],
)
def test_the_media_type_is_read_in_lower_case(text: str, media_type: str) -> None:
    held = data_url(text)
    assert held is not None
    assert held.media_type == media_type


@pytest.mark.parametrize(
    "text",
    [
        "",
        "AAAA",
        "data:image/png,AAAA",
        "data:image/png;base64,",
        "data:image/png;base64,AAA",
        "data:image/png;base64,AA A",
        "data:image/png;base64,AAA%",
        "data:image/png;base64,ÄÄÄÄ",
        "data:image/png;base64,\ud800AAA",
        "data:image/png;base64,AA==AA==",
        "data:image;base64,AAAA",
        "https://example.org/a.png",
        "file:///etc/passwd",
    ],
)
def test_what_cannot_be_decoded_is_no_data_url(text: str) -> None:
    assert data_url(text) is None


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (png(1, 1), "image/png"),
        (gif(1, 1), "image/gif"),
        (jpeg(1, 1), "image/jpeg"),
        (b"RIFF\0\0\0\0WEBPVP8 ", "image/webp"),
        (b"%PDF-1.7", "application/pdf"),
        (b"RIFF\0\0\0\0WAVE", None),
        (b"hello", None),
    ],
)
def test_the_first_bytes_tell_what_it_is(content: bytes, kind: str | None) -> None:
    held = data_url(url(content))
    assert held is not None
    assert held.sniffed() == kind


@pytest.mark.parametrize(
    "content",
    [png(300, 20), png(20, 300), gif(300, 20), gif(20, 300), jpeg(300, 20), jpeg(20, 300, 0xC2)],
)
def test_the_longest_side_is_read_from_the_header(content: bytes) -> None:
    held = data_url(url(content))
    assert held is not None
    assert held.longest_side() == 300


@pytest.mark.parametrize(
    "content",
    [
        b"hello",
        png(9, 9)[:20],
        gif(9, 9)[:8],
        jpeg(9, 9)[:10],
        b"\xff\xd8\xff",
        b"RIFF\0\0\0\0WEBP",
    ],
)
def test_a_header_that_does_not_tell_gives_no_size(content: bytes) -> None:
    held = data_url(url(content))
    assert held is not None
    assert held.longest_side() is None


@given(st.binary(max_size=40))
def test_no_bytes_behind_a_jpeg_sign_are_too_strange(rest: bytes) -> None:
    held = data_url(url(b"\xff\xd8\xff" + rest, "image/jpeg"))
    assert held is not None
    held.longest_side()


def refused(text: str, taken: frozenset[str] = PNG) -> str | None:
    return refusal(text, taken, MB, 8000)


@pytest.mark.parametrize("address", ["https://example.org/a.png", "http://example.org"])
def test_addresses_are_taken_where_the_wire_takes_them(address: str) -> None:
    assert refused(address, frozenset({"url"})) is None
    assert refused(address) == "this provider takes no addresses here"


def test_a_good_image_is_not_refused() -> None:
    assert refused(url(png(8000, 8000))) is None


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("data:image/png;base64,%", "it is not a readable data URL"),
        ("file:///etc/passwd", "it is not a readable data URL"),
        (url(b"x", "image/tiff"), "this provider takes no image/tiff here"),
        (url(gif(1, 1)), "it is declared as image/png but is image/gif"),
        (url(b"x" * (MB + 1)), "its 1048577 bytes are more than the 1048576 this provider takes"),
        (url(png(8001, 1)), "its 8001 pixels are more than the 8000 this provider takes"),
    ],
)
def test_a_refusal_says_why(text: str, why: str) -> None:
    assert refused(text) == why


def test_an_address_that_is_no_unicode_is_refused() -> None:
    assert refused("https://example.org/\ud800", frozenset({"url"})) is not None


def test_an_address_with_blanks_is_refused() -> None:
    assert refused("https://example.org/a b", frozenset({"url"})) is not None
