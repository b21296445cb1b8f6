"""Keys of a Parquet column of maps, read from its dictionaries and not from its rows.

Writers keep the distinct keys of a row group in one small page at the front of the
column's chunk. Whatever is not as expected is told by None: then the rows must be read.
Knows the file format (https://parquet.apache.org/docs/file-format/), and no bill.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

#: Writers give a dictionary up at a megabyte; one far smaller was never given up.
PAGE_BYTES_MAX = 64 * 1024
_HEADER_BYTES_MAX = 8 * 1024
_DICTIONARY_PAGE = 2
_GZIP_WINDOW = 31
_CONTINUED = 0x80


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """The place of one row group's keys in a file.

    Attributes:
        start: Where its dictionary begins; None without one.
    """

    path: Path
    codec: str
    start: int | None


def dictionary_keys(chunks: Sequence[Chunk]) -> set[str] | None:
    """Return the distinct keys of all chunks; None when a dictionary does not say."""
    found: set[str] = set()
    try:
        for chunk in chunks:
            if chunk.start is None or chunk.codec not in _CODECS:
                return None
            with chunk.path.open("rb") as file:
                file.seek(chunk.start)
                content = file.read(_HEADER_BYTES_MAX + PAGE_BYTES_MAX)
            found.update(_keys(content, _CODECS[chunk.codec]))
    except (ValueError, IndexError, OSError, zlib.error):
        return None
    return found


def _keys(content: bytes, unpack: Callable[[bytes], bytes]) -> Iterator[str]:
    header, end = _struct(content, 0)
    kind, plain, packed = header.get(1), header.get(2), header.get(3)
    if kind != _DICTIONARY_PAGE or plain is None or packed is None:
        raise ValueError(f"page of kind {kind!r} where a dictionary was expected")
    if max(plain, packed) > PAGE_BYTES_MAX:
        raise ValueError(f"dictionary of {plain} bytes is too large to be whole")
    page = unpack(content[end : end + packed])
    if len(page) != plain:
        raise ValueError(f"dictionary of {len(page)} bytes, expected {plain}")
    at = 0
    while at < len(page):
        size = int.from_bytes(page[at : at + 4], "little")
        if at + 4 + size > len(page):
            raise ValueError("dictionary ends inside a key")
        yield page[at + 4 : at + 4 + size].decode()
        at += 4 + size


# --- thrift, compact protocol: numbers of the outermost structure are enough --------


def _struct(content: bytes, at: int) -> tuple[dict[int, int], int]:
    """Return the numbers of a structure by field, and where it ends."""
    found: dict[int, int] = {}
    field = 0
    while (head := content[at]) != 0:
        at += 1
        kind, step = head & 0x0F, head >> 4
        if step:
            field += step
        else:
            number, at = _varint(content, at)
            field = _signed(number)
        value, at = _value(content, at, kind)
        if value is not None:
            found[field] = value
    return found, at + 1


def _value(content: bytes, at: int, kind: int) -> tuple[int | None, int]:
    match kind:
        case 1 | 2:  # true, false: no bytes
            return None, at
        case 4 | 5 | 6:
            number, at = _varint(content, at)
            return _signed(number), at
        case 8:
            size, at = _varint(content, at)
            return None, at + size
        case 12:
            return None, _struct(content, at)[1]
        case _:
            raise ValueError(f"field of kind {kind!r} is not read")


def _varint(content: bytes, at: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        byte = content[at]
        at += 1
        number |= (byte & 0x7F) << shift
        if not byte & _CONTINUED:
            return number, at
        shift += 7


def _signed(number: int) -> int:
    return (number >> 1) ^ -(number & 1)


# --- snappy (https://github.com/google/snappy/blob/main/format_description.txt) ------


def _snappy(packed: bytes) -> bytes:
    size, at = _varint(packed, 0)
    if size > PAGE_BYTES_MAX:
        raise ValueError(f"dictionary of {size} bytes is too large to be whole")
    out = bytearray()
    while at < len(packed) and len(out) <= size:
        tag = packed[at]
        at += 1
        is_copy = tag & 3
        take = _copy if is_copy else _literal
        at = take(packed, at, tag, out)
    return bytes(out)


def _literal(packed: bytes, at: int, tag: int, out: bytearray) -> int:
    size = tag >> 2
    if size >= 60:  # noqa: PLR2004 - of the format: the size follows in 1 to 4 bytes
        width = size - 59
        size = int.from_bytes(packed[at : at + width], "little")
        at += width
    out += packed[at : at + size + 1]
    return at + size + 1


def _copy(packed: bytes, at: int, tag: int, out: bytearray) -> int:
    if tag & 3 == 1:
        size, width = ((tag >> 2) & 7) + 4, 1
        offset = ((tag >> 5) << 8) | packed[at]
    else:
        size, width = (tag >> 2) + 1, 2 if tag & 3 == 2 else 4  # noqa: PLR2004 - as above
        offset = int.from_bytes(packed[at : at + width], "little")
    if not 0 < offset <= len(out):
        raise ValueError("a copy reaches before the start")
    for _ in range(size):
        out.append(out[-offset])
    return at + width


def _gzip(packed: bytes) -> bytes:
    return zlib.decompressobj(_GZIP_WINDOW).decompress(packed, PAGE_BYTES_MAX)


_CODECS: dict[str, Callable[[bytes], bytes]] = {
    "UNCOMPRESSED": bytes,
    "SNAPPY": _snappy,
    "GZIP": _gzip,
}
