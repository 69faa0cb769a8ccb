# SPDX-License-Identifier: MIT
"""Documents as Python values, and their stored form according to docs/SCHEMA.md.

Scalars, lists and objects are built-in Python values. Objects are dictionaries, whose order is significant.
"""

import base64
import json
import math
import re
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any, Dict, List, Optional, Tuple

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


@dataclass(frozen=True)
class Date:
    """A date in nanoseconds since 1970."""

    nanoseconds: int


@dataclass(frozen=True)
class Data:
    content: bytes


@dataclass(frozen=True)
class Link:
    text: str


def date_text(date: Date, digits: int = 9, offset: int = 0) -> str:
    """Returns the date in ISO 8601 with the given number of fractional digits and offset in minutes."""
    seconds, rest = divmod(date.nanoseconds, 1_000_000_000)
    moment = EPOCH + timedelta(seconds=seconds, minutes=offset)
    fraction = f".{rest:09d}"[: digits + 1] if digits else ""
    zone = "Z" if not offset else f"{'+' if offset > 0 else '-'}{abs(offset) // 60:02d}:{abs(offset) % 60:02d}"
    return moment.strftime("%Y-%m-%dT%H:%M:%S").zfill(19) + fraction + zone


def parse_date(text: str) -> Optional[Date]:
    match = re.fullmatch(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)", text)
    if not match:
        return None
    moment = datetime.strptime(match[1], "%Y-%m-%dT%H:%M:%S").replace(tzinfo=timezone.utc)
    seconds = int((moment - EPOCH).total_seconds())
    if match[3] != "Z":
        hours, minutes = match[3][1:].split(":")
        shift = (int(hours) * 60 + int(minutes)) * 60
        seconds += -shift if match[3][0] == "+" else shift
    return Date(seconds * 1_000_000_000 + int((match[2] or "0").ljust(9, "0")))


def from_pairs(pairs: List[Tuple[str, Any]]) -> Any:
    """Returns the value of an object in stored form; of duplicate names, the first one is used."""
    names = [name for name, _ in pairs]
    first: Dict[str, Any] = {}
    for name, value in pairs:
        first.setdefault(name, value)
    if names == ["$date"] and isinstance(first["$date"], str):
        date = parse_date(first["$date"])
        if date:
            return date
    if names == ["$url"] and isinstance(first["$url"], str):
        return Link(first["$url"])
    if names == ["$binary"] and isinstance(first["$binary"], dict) and "base64" in first["$binary"]:
        return Data(base64.b64decode(first["$binary"]["base64"]))
    if names == ["$numberDouble"] and first["$numberDouble"] in ("NaN", "Infinity", "-Infinity"):
        return float(first["$numberDouble"].replace("Infinity", "inf"))
    return {name[1:] if name.startswith("$$") else name: value for name, value in first.items()}


def parse(text: "str | bytes") -> Any:
    """Parses JSON in stored form into a value."""
    return json.loads(text, object_pairs_hook=from_pairs)


def same(left: Any, right: Any) -> bool:
    """Returns whether two values are identical, including type, field order and the sign of zero."""
    if type(left) is not type(right):
        return False
    if isinstance(left, dict):
        return list(left) == list(right) and all(same(left[name], right[name]) for name in left)
    if isinstance(left, list):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, float):
        return (math.isnan(left) and math.isnan(right)) or (left == right and math.copysign(1, left) == math.copysign(1, right))
    return bool(left == right)


def stored(value: Any) -> str:
    """Returns the stored form of a value, except that number formats may differ."""
    if isinstance(value, Date):
        return '{"$date":"%s"}' % date_text(value)
    if isinstance(value, Data):
        return '{"$binary":{"base64":"%s","subType":"00"}}' % base64.b64encode(value.content).decode()
    if isinstance(value, Link):
        return '{"$url":%s}' % json.dumps(value.text, ensure_ascii=False)
    if isinstance(value, float) and not math.isfinite(value):
        name = "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
        return '{"$numberDouble":"%s"}' % name
    if isinstance(value, dict):
        fields = (json.dumps("$" + name if name.startswith("$") else name, ensure_ascii=False) + ":" + stored(content)
                  for name, content in value.items())
        return "{" + ",".join(fields) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(stored, value)) + "]"
    return json.dumps(value, ensure_ascii=False)
