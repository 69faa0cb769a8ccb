# SPDX-License-Identifier: MIT
"""Generates random documents, and the JSON variants in which other programs may write them."""

import base64
import json
import math
import random
from typing import Any, Callable, Dict, List

from values import Data, Date, Link, date_text, stored

NAMES = ["a", "b", "größe", "n m", "x.y", "naïve", "日本", "👍", "$price", "tags", "o"]
TEXTS = ["", "gin", "tonic water", "größe", "Ärger", "日本語", "a/b", "👍🏽", "line\nbreak", 'quote"', "back\\slash", "x\u0001y",
         "{}", "50%", "\u2028", "e\u0301", "\u00e9", "zz top", "true", "1"]
NUMBERS: List[Any] = [0, 1, -1, 2, 42, 2**53 + 1, 2**63 - 1, -(2**63), 0.0, 1.0, -2.5, 0.1, 1e300, 5e-324, 1e15, 123456.789]


def scalar(rng: random.Random) -> Any:
    """Returns a scalar from a small pool, so that equal values are frequent."""
    kind = rng.randrange(12)
    if kind < 4:
        return rng.choice(NUMBERS)
    if kind < 8:
        return rng.choice(TEXTS)
    if kind == 8:
        return rng.choice([None, True, False])
    if kind == 9:
        return Date(rng.choice([0, 1795209420, 1321009871, -86400]) * 10**9 + rng.choice([0, 125_000_000, 500_000_000]))
    if kind == 10:
        return Data(rng.choice([b"", b"\x00\xff", b"abc", bytes(range(40))]))
    return Link(rng.choice(["https://example.org/a", "https://example.org/b?c=d"]))


def value(rng: random.Random, depth: int = 2) -> Any:
    kind = rng.randrange(10)
    if depth and kind == 0:
        return [value(rng, depth - 1) for _ in range(rng.randrange(4))]
    if depth and kind == 1:
        return document(rng, depth - 1, 3)
    return scalar(rng)


def document(rng: random.Random, depth: int = 2, most: int = 6) -> Dict[str, Any]:
    return {name: value(rng, depth) for name in rng.sample(NAMES, rng.randrange(most + 1))}


class VariantWriter:
    """Writes a value as JSON with random white space, escapes and number formats."""

    def __init__(self, rng: random.Random):
        self.rng = rng
        self.escapes = rng.choice([0.0, 0.1, 1.0])
        self.spaces = rng.choice(["", "", " ", "\n", "\t ", "\r\n"])
        self.ascii = rng.random() < 0.4
        self.variants = rng.random() < 0.6

    def space(self) -> str:
        return self.spaces if self.rng.random() < 0.5 else ""

    def text(self, text: str) -> str:
        def unit(code: int) -> str:
            return f"\\u{code:04x}" if self.rng.random() < 0.5 else f"\\u{code:04X}"

        pieces = []
        for character in text:
            code = ord(character)
            must = character in '"\\' or code < 32
            if not must and not (self.ascii and code > 126) and self.rng.random() >= self.escapes:
                pieces.append(character)
            elif character in '"\\/\n\t' and self.rng.random() < 0.5:
                pieces.append({"\n": "\\n", "\t": "\\t"}.get(character, "\\" + character))
            elif code > 0xFFFF:
                pieces.append(unit(0xD800 + (code - 0x10000 >> 10)) + unit(0xDC00 + (code - 0x10000 & 0x3FF)))
            else:
                pieces.append(unit(code))
        return '"' + "".join(pieces) + '"'

    def double(self, number: float) -> str:
        if not math.isfinite(number):
            return stored(number)
        plain = repr(number)
        ways: List[Callable[[], str]] = [lambda: plain]
        if self.variants:
            ways += [lambda: f"{number:.17e}", lambda: f"{number:.17E}", lambda: plain.replace("e+", "E")]
            if "e" not in plain:
                ways += [lambda: plain + "00", lambda: plain + "e0", lambda: plain + "E-00"]
        return self.rng.choice(ways)()

    def write(self, value: Any) -> str:
        space = self.space
        if isinstance(value, dict):
            members = (space() + self.text("$" + name if name.startswith("$") else name) + space() + ":" + space()
                       + self.write(content) + space() for name, content in value.items())
            return "{" + ",".join(members) + (space() if not value else "") + "}"
        if isinstance(value, list):
            return "[" + ",".join(space() + self.write(item) + space() for item in value) + "]"
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, bool) or value is None:
            return json.dumps(value)
        if isinstance(value, int):
            return str(value)
        if isinstance(value, float):
            return self.double(value)
        return self.form(value)

    def form(self, value: Any) -> str:
        if isinstance(value, Link):
            return self.pairs([("$url", self.text(value.text))])
        if isinstance(value, Date):
            digits, offset = 9, 0
            if self.variants:
                digits = self.rng.choice([9, 9, 6, 3, 0] if value.nanoseconds % 10**9 == 0 else [9, 6, 3])
                offset = self.rng.choice([0, 0, 60, -90])
            return self.pairs([("$date", self.text(date_text(value, digits, offset)))])
        assert isinstance(value, Data)
        kind = self.rng.choice(["00", "0", "05", "80"]) if self.variants else "00"
        inner = [("base64", self.text(base64.b64encode(value.content).decode())), ("subType", self.text(kind))]
        if self.variants and self.rng.random() < 0.5:
            inner.reverse()
        return self.pairs([("$binary", self.pairs(inner))])

    def pairs(self, members: "List[tuple[str, str]]") -> str:
        space = self.space
        return "{" + ",".join(space() + self.text(name) + space() + ":" + space() + content + space()
                              for name, content in members) + "}"
