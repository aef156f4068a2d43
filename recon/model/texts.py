"""Columns of texts as Parquet files hold them, made plain: of one type, without blanks around them.

Never makes a Python object per row, and copies only what has to change.
"""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from recon.model.cells import Arrow

_LAST_BLANK, _LAST_PRINTABLE, _FIRST_BEYOND_ASCII = 32, 126, 128


def plain(column: Arrow) -> Arrow:
    """Return a chunked column of texts as plain ones, any other as it is.

    Some writers of Parquet do not say that their bytes are text, others say so of bytes that are no UTF-8:
    those stay, or become, bytes.
    """
    kind = column.type
    if pa.types.is_dictionary(kind) and _is_text(kind.value_type):
        words = [plain(pa.chunked_array([part.dictionary])).combine_chunks() for part in column.chunks]
        kind = pa.large_binary() if any(map(is_bytes, words)) else pa.large_string()
        parts = [word.cast(kind).take(part.indices) for word, part in zip(words, column.chunks, strict=True)]
        return pa.chunked_array(parts, kind)
    if not (_is_text(kind) or is_bytes(column)):
        return column
    if not is_bytes(column) and not any(map(_is_odd, column.chunks)):
        return column.cast(pa.large_string())
    try:
        column = column.cast(pa.large_string())
        column.validate(full=True)
    except pa.ArrowInvalid:  # Bytes that are no UTF-8.
        return column.cast(pa.large_binary())
    return pc.utf8_trim_whitespace(column)


def is_bytes(column: Arrow) -> bool:
    """Return whether a column is one of bytes."""
    return bool(pa.types.is_binary(column.type) or pa.types.is_large_binary(column.type))


def holds_zero(column: Arrow) -> bool:
    """Return whether some text of a plain column holds a zero byte, which no database keeps."""
    return any(len(letters) and letters.min() == 0 for _, letters in map(_letters, column.chunks))


def is_printable(column: Arrow) -> bool:
    """Return whether plain texts hold nothing but ASCII to be seen, and spaces; quick, and to be sure."""
    parts = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    held = [letters for _, letters in map(_letters, parts) if len(letters)]
    return all(letters.min() >= _LAST_BLANK and letters.max() <= _LAST_PRINTABLE for letters in held)


def _is_text(kind: Arrow) -> bool:
    """Return whether an Arrow type is text."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _is_odd(texts: Arrow) -> bool:
    """Return whether some text may begin or end with a blank, or may be no ASCII; quick, and to be sure."""
    if pa.types.is_string_view(texts.type):
        return True
    bounds, letters = _letters(texts)
    if len(letters) == 0 or letters.max() >= _FIRST_BEYOND_ASCII:
        return len(letters) > 0
    if letters.min() > _LAST_BLANK:
        return False
    # Of an empty text a neighbour's letters are looked at, which does no harm.
    first = letters[np.minimum(bounds[:-1] - bounds[0], len(letters) - 1)]
    last = letters[np.maximum(bounds[1:] - bounds[0] - 1, 0)]
    return bool(min(first.min(), last.min()) <= _LAST_BLANK)


def _letters(texts: Arrow) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """Return where each text of a chunk begins and the last ends, and the bytes of all of them."""
    _, offsets, content = texts.buffers()
    width = np.int64 if pa.types.is_large_string(texts.type) else np.int32
    if content is None or len(texts) == 0:
        return np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.uint8)
    bounds = np.frombuffer(offsets, width)[texts.offset : texts.offset + len(texts) + 1]
    return bounds.astype(np.int64), np.frombuffer(content, np.uint8)[bounds[0] : bounds[-1]]
