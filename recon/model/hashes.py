"""Texts in Arrow memory as 64-bit hashes, and one column's texts found in another by them.

Twice as quick as a table of strings, because sorting, scattering and gathering integers is what arrays are
good at. A hash is never trusted: texts that are found are compared, and where two texts share a hash the
caller is told to ask in another way. No Python object is made per row.
"""

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Ints = npt.NDArray[np.int64]
Hashes = npt.NDArray[np.uint64]

ABSENT = -1
_WORD = 8  # Bytes of a hash's word.
_ODD = np.uint64(0x9E3779B97F4A7C15)  # 2**64 over the golden ratio: multiplying by it spreads bits widely.
_HALF = np.uint64(32)
_ELSEWHERE = 1  # No word begins there.
_ROUNDS = 32  # Of a search; each settles most of what is left, so that more mean hashes made to collide.
_STEP, _HIGHEST = 17, 40  # Bits by which each round looks at another part of the hash.


def of(texts: pa.Array) -> Hashes:
    """Return a hash per text of an array of large strings, equal texts equal; a missing one has any."""
    if len(texts) == 0:
        return np.empty(0, np.uint64)
    bounds = np.frombuffer(texts.buffers()[1], np.int64)[texts.offset : texts.offset + len(texts) + 1]
    lengths = np.diff(bounds)
    hashes = _spread(lengths.astype(np.uint64), _ELSEWHERE)
    if bounds[-1] == bounds[0]:
        return hashes
    starts, words = bounds[:-1], _words(texts.buffers()[2], int(bounds[-1]))
    for at in range(0, int(lengths.max()), _WORD):
        # What is beyond a text's end adds nothing: its hash is the same in a column of longer ones.
        hashes += _spread(_word(words, starts, lengths, at), at)
    return hashes


def _spread(numbers: Hashes, at: int) -> Hashes:
    """Return numbers as wide ones, each place in its own way, and zero as zero; overwrites them."""
    numbers *= np.uint64(int(_ODD) * (2 * at + 1) % 2**64)
    numbers ^= numbers >> _HALF
    numbers *= _ODD
    return numbers


def _words(content: pa.Buffer, end: int) -> Hashes:
    """Return the eight bytes from each byte on as one integer, little end first; end: where texts end."""
    letters = np.frombuffer(content, np.uint8)
    if len(letters) < end + _WORD:
        letters = np.concatenate([letters[:end], np.zeros(_WORD, np.uint8)])
    return np.ndarray((len(letters) - _WORD + 1,), np.dtype("<u8"), letters.data, strides=(1,))


def _word(words: Hashes, starts: Ints, lengths: Ints, at: int) -> Hashes:
    """Return the word at a place of each text, with zeros for what is beyond its end."""
    left = lengths - at
    if left.min() >= _WORD:
        return words[starts + at]
    taken = words[np.minimum(starts + at, len(words) - 1)]
    beyond = (_WORD - np.clip(left, 0, _WORD)).astype(np.uint64) * np.uint64(8)
    # In two steps, because shifting a word by all of its bits is not defined.
    once = beyond >> np.uint64(1)
    taken <<= once
    taken <<= beyond - once
    return taken


def find(needles: pa.Array, haystack: pa.Array, within: tuple[Ints, Ints] | None = None) -> Ints | None:
    """Return for each needle the first position of the same text, -1 where there is none or it is missing.

    within: numbers per needle and per text of the haystack, which must be the same as well. None: some texts
    share a hash, and nobody can tell by it.
    """
    here, there = of(needles), of(haystack)
    if within is not None:
        here += _spread(within[0].astype(np.uint64), _ELSEWHERE)
        there += _spread(within[1].astype(np.uint64), _ELSEWHERE)
    found = _first(here, there, np.asarray(pc.is_valid(haystack)))
    if found is None:
        return None
    if needles.null_count:
        found[~np.asarray(pc.is_valid(needles))] = ABSENT
    known = found != ABSENT
    taken = haystack.take(pa.array(found, mask=~known))
    if pc.all(pc.equal(taken, needles)).as_py() is False:
        return None
    if within is not None and (within[0][known] != within[1][found[known]]).any():
        return None
    return found


def _first(needles: Hashes, haystack: Hashes, valid: npt.NDArray[np.bool_]) -> Ints | None:
    """Return for each hash its first position among the valid ones of the haystack; None to give up.

    Each round writes what is not yet in its place into a table, by some bits of the hash. What finds its
    place taken by another hash is for the next round.
    """
    found = np.full(len(needles), ABSENT, np.int64)
    asking = np.arange(len(needles))
    # From the last to the first: what is written last stands.
    waiting = np.flatnonzero(valid)[::-1]
    for turn in range(_ROUNDS):
        if len(waiting) == 0 or len(asking) == 0:
            return found
        mine = haystack[waiting]
        bits, shift = len(waiting).bit_length() + 1, turn * _STEP % _HIGHEST
        slots = _bits(mine, bits, shift)
        table = np.full(1 << bits, ABSENT, np.min_scalar_type(-len(haystack)))
        table[slots] = waiting
        theirs = needles if turn == 0 else needles[asking]
        there = table[_bits(theirs, bits, shift)]
        same = (there != ABSENT) & (haystack[there] == theirs)
        found[asking[same]] = there[same]
        asking = asking[~same]
        # Equal hashes have been answered by the first of them.
        waiting = waiting[haystack[table[slots]] != mine]
    return None


def _bits(hashes: Hashes, bits: int, shift: int) -> Ints:
    """Return some bits of each hash as a number: the highest after a shift, which all of a text decides."""
    return ((hashes << np.uint64(shift)) >> np.uint64(64 - bits)).astype(np.int64)


def repeated(texts: pa.Array) -> npt.NDArray[np.bool_]:
    """Return which texts may be there more than once; the others surely are not, nor are missing ones."""
    valid = np.asarray(pc.is_valid(texts))
    hashes = of(texts)
    ordered = np.sort(hashes if texts.null_count == 0 else hashes[valid])
    twice = ordered[1:][ordered[1:] == ordered[:-1]]
    if len(twice) == 0:
        return np.zeros(len(texts), bool)
    bits = len(twice).bit_length() + 4  # A table sparse enough to rule most texts out.
    marked = np.zeros(1 << bits, bool)
    marked[_bits(twice, bits, 0)] = True
    may = np.flatnonzero(marked[_bits(hashes, bits, 0)] & valid)
    answer = np.zeros(len(texts), bool)
    answer[may[np.isin(hashes[may], twice)]] = True
    return answer
