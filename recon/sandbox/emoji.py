"""Emoji by their Slack names; the common ones are drawn, since a bare server has no font that holds them."""

from __future__ import annotations

from html import escape

_DOTS = {
    "red_circle": "red",
    "large_red_square": "red",
    "large_orange_circle": "orange",
    "large_orange_square": "orange",
    "large_yellow_circle": "yellow",
    "large_green_circle": "green",
    "large_blue_circle": "blue",
    "large_purple_circle": "purple",
    "white_circle": "grey",
    "black_circle": "black",
}
# A letter on a coloured tile.
_TILES = {
    "exclamation": ("red", "!"),
    "heavy_check_mark": ("grey", "✔"),
    "information_source": ("blue", "i"),
    "no_entry": ("red", "&minus;"),
    "octagonal_sign": ("red", "&times;"),
    "question": ("purple", "?"),
    "white_check_mark": ("green", "✔"),
    "x": ("red", "✖"),
}
# Strokes in a box of 16 by 16, in the colour named first.
_DRAWINGS = {
    "bell": ("orange", "M4 11.5V7a4 4 0 0 1 8 0v4.5M2.5 11.5h11M7 14h2"),
    "eyes": ("black", "M1 8s2.6-4 7-4 7 4 7 4-2.6 4-7 4-7-4-7-4zM8 7v2"),
    "hourglass": ("orange", "M4 2h8M4 14h8M5 2v3l3 3 3-3V2M5 14v-3l3-3 3 3v3"),
    "hourglass_flowing_sand": ("orange", "M4 2h8M4 14h8M5 2v3l3 3 3-3V2M5 14v-3l3-3 3 3v3M8 8v4"),
    "mag": ("black", "M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9zM10.5 10.5 14 14"),
    "rotating_light": ("red", "M4 13V9a4 4 0 0 1 8 0v4M2 13h12M8 1v1.5M2.5 4l1 1M13.5 4l-1 1"),
    "warning": ("orange", "M8 2 1.5 13.5h13zM8 6.5v3.5M8 12v.1"),
}
_EMOJI = {
    "+1": "👍",
    "-1": "👎",
    "alarm_clock": "⏰",
    "arrow_right": "➡️",
    "arrow_up": "⬆️",
    "arrows_counterclockwise": "🔄",
    "bar_chart": "📊",
    "bust_in_silhouette": "👤",
    "calendar": "📅",
    "construction": "🚧",
    "credit_card": "💳",
    "fire": "🔥",
    "ghost": "👻",
    "link": "🔗",
    "lock": "🔒",
    "money_with_wings": "💸",
    "moneybag": "💰",
    "package": "📦",
    "point_right": "👉",
    "pushpin": "📌",
    "receipt": "🧾",
    "repeat": "🔁",
    "robot_face": "🤖",
    "scales": "⚖️",
    "sos": "🆘",
    "stopwatch": "⏱️",
    "tada": "🎉",
    "twisted_rightwards_arrows": "🔀",
    "zzz": "💤",
}


def draw(name: str) -> str:
    """An emoji as HTML, or the name between colons where we know none."""
    label = f'role="img" aria-label="{escape(name.replace("_", " "))}"'
    if name in _DOTS:
        shape = "dot square" if name.endswith("square") else "dot"
        return f'<span class="{shape} {_DOTS[name]}" {label}></span>'
    if name in _TILES:
        colour, letter = _TILES[name]
        return f'<span class="tile {colour}" {label}>{letter}</span>'
    if name in _DRAWINGS:
        colour, strokes = _DRAWINGS[name]
        return f'<svg class="drawn {colour}" viewBox="0 0 16 16" {label}><path d="{strokes}"/></svg>'
    found = _EMOJI.get(name)
    return f":{escape(name)}:" if found is None else f'<span class="emoji" {label}>{found}</span>'
