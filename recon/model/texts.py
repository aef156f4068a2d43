"""Columns of texts as Parquet files hold them, made plain: of one type, without blanks around them.

Never makes a Python object per row, and copies only what has to change.
"""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from recon.model.cells import Arrow

_LAST_BLANK, _FIRST_BEYOND_ASCII = 32, 128


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
    return pc.ascii_trim_whitespace(column)


def is_bytes(column: Arrow) -> bool:
    """Return whether a column is one of bytes."""
    return bool(pa.types.is_binary(column.type) or pa.types.is_large_binary(column.type))


def _is_text(kind: Arrow) -> bool:
    """Return whether an Arrow type is text."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _is_odd(texts: Arrow) -> bool:
    """Return whether some text may begin or end with a blank, or may be no ASCII; quick, and to be sure."""
    if pa.types.is_string_view(texts.type):
        return True
    _, offsets, content = texts.buffers()
    if content is None or len(texts) == 0:
        return False
    width = np.int64 if pa.types.is_large_string(texts.type) else np.int32
    bounds = np.frombuffer(offsets, width)[texts.offset : texts.offset + len(texts) + 1]
    letters = np.frombuffer(content, np.uint8)[bounds[0] : bounds[-1]]
    if len(letters) == 0 or letters.max() >= _FIRST_BEYOND_ASCII:
        return len(letters) > 0
    if letters.min() > _LAST_BLANK:
        return False
    # Of an empty text a neighbour's letters are looked at, which does no harm.
    first = letters[np.minimum(bounds[:-1] - bounds[0], len(letters) - 1)]
    last = letters[np.maximum(bounds[1:] - bounds[0] - 1, 0)]
    return bool(min(first.min(), last.min()) <= _LAST_BLANK)
