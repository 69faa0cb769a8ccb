# SPDX-License-Identifier: MIT
"""A model of conditions and sort order, implemented from docs/QUERY-SEMANTICS.md alone."""

import functools
import math
from fractions import Fraction
from typing import Any, Callable, Dict, List, Optional, Tuple

from values import Data, Date, Link, date_text

Path = Tuple[str, ...]
Test = Callable[[Dict[str, Any]], bool]

RANKS = {bool: 1, int: 2, float: 2, Date: 3, str: 4, Link: 4, Data: 5, list: 6, dict: 7, type(None): 0}


def reached(value: Any, path: Path, enters_end: bool = True) -> List[Any]:
    """Returns every value at a path without numeric components (rules 1 to 5)."""
    if path:
        if isinstance(value, list):
            return [found for element in value for found in reached(element, path, enters_end)]
        if isinstance(value, dict) and path[0] in value:
            return reached(value[path[0]], path[1:], enters_end)
        return []
    if isinstance(value, list) and enters_end:
        return [value] + [found for element in value for found in reached(element, ())]
    return [value]


def number(value: Any) -> Any:
    """Returns a key that orders numbers by exact value, with NaN first (rules 14, 15)."""
    if isinstance(value, float) and not math.isfinite(value):
        return (-2 if math.isnan(value) else -1 if value < 0 else 1, Fraction(0))
    return (0, Fraction(value))


def text(value: Any) -> List[int]:
    return [ord(character) for character in (value.text if isinstance(value, Link) else value)]


def order(left: Any, right: Any) -> int:
    """Compares two values in the order of all values (rule 39); returns -1, 0 or 1."""
    ranks = RANKS[type(left)], RANKS[type(right)]
    if ranks[0] != ranks[1]:
        return -1 if ranks[0] < ranks[1] else 1
    rank = ranks[0]
    if rank == 0:
        return 0
    if rank == 6 or rank == 7:
        first = [part for pair in left.items() for part in pair] if rank == 7 else left
        second = [part for pair in right.items() for part in pair] if rank == 7 else right
        for one, other in zip(first, second):
            difference = order(one, other)
            if difference:
                return difference
        return (len(first) > len(second)) - (len(first) < len(second))
    key = {1: lambda v: v, 2: number, 3: lambda v: v.nanoseconds, 4: text, 5: lambda v: v.content}[rank]
    one, other = key(left), key(right)
    return (one > other) - (one < other)


def compare(left: Any, operator: str, right: Any) -> bool:
    """Evaluates a comparison of two values (rules 10, 13, 19)."""
    if left is None or right is None or RANKS[type(left)] != RANKS[type(right)]:
        return False
    difference = order(left, right)
    if operator in ("=", "!="):
        return (difference == 0) == (operator == "=")
    if RANKS[type(left)] >= 6:
        return False
    return {"<": difference < 0, "<=": difference <= 0, ">": difference > 0, ">=": difference >= 0}[operator]


def literal(value: Any) -> Optional[str]:
    """Returns the value as a literal in query text, or None if there is no literal for it."""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int) and -(2**63) < value:
        return str(value)
    if isinstance(value, float) and math.isfinite(value):
        written = repr(value)
        return written if "." in written or "e" in written else written + ".0"
    if isinstance(value, str) and "\x00" not in value:
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, Date):
        return f"DATE '{date_text(value)}'"
    if isinstance(value, Data):
        return f"x'{value.content.hex()}'"
    if isinstance(value, Link):
        return f"'{value.text}'"
    return None


def bracketed(path: Path) -> str:
    def name(part: str) -> str:
        return part if part.isascii() and part.isalnum() else '"' + part.replace('"', '""') + '"'

    return "[" + ".".join(map(name, path)) + "]"


def comparison(path: Path, operator: str, value: Any) -> Tuple[str, Test]:
    return (f"{bracketed(path)} {operator} {literal(value)}",
            lambda document: any(compare(found, operator, value) for found in reached(document, path)))


def is_null(path: Path) -> Tuple[str, Test]:
    def holds(document: Dict[str, Any]) -> bool:
        found = reached(document, path)
        return not found or any(value is None for value in found)

    return f"{bracketed(path)} IS NULL", holds


def exists(path: Path) -> Tuple[str, Test]:
    return f"EXISTS({bracketed(path)})", lambda document: bool(reached(document, path))


def begins(path: Path, start: str) -> Tuple[str, Test]:
    return (f"begins_with({bracketed(path)}, {literal(start)})",
            lambda document: any(isinstance(v, (str, Link)) and (v.text if isinstance(v, Link) else v).startswith(start)
                                 for v in reached(document, path)))


def opposite(condition: Tuple[str, Test]) -> Tuple[str, Test]:
    return f"NOT ({condition[0]})", lambda document: not condition[1](document)


def sort_value(document: Dict[str, Any], path: Path, descending: bool) -> Any:
    """Returns the value by which a document is sorted (rule 38)."""
    found = reached(document, path, enters_end=False)
    if not found:
        return None
    return functools.reduce(lambda a, b: b if (order(b, a) > 0) == descending and order(a, b) else a, found)


def sorted_by(documents: "List[tuple[str, Dict[str, Any]]]", path: Path, descending: bool) -> List[str]:
    """Returns keys sorted by a field, with ties in the original order (rules 37 to 40)."""
    def difference(one: Any, other: Any) -> int:
        result = order(sort_value(one[1], path, descending), sort_value(other[1], path, descending))
        return -result if descending else result

    return [key for key, _ in sorted(documents, key=functools.cmp_to_key(difference))]
