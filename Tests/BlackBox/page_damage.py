# SPDX-License-Identifier: MIT
"""Damages pages of a database file: duplicate rows, exchanged pages, flipped bytes."""

import random
from typing import Callable, Dict, List, Tuple

import direct_sqlite

INTERNAL = ["nano_collections", "nano_indexes", "nano_paths", "nano_metadata", "nano_bags", "nano_bag_members", "nano_index_ledger"]


def roots(database: str) -> Dict[str, int]:
    """Returns the root pages of the internal tables and their indexes."""
    found = direct_sqlite.rows(database, "SELECT name, rootpage FROM sqlite_schema WHERE tbl_name LIKE 'nano\\_%' ESCAPE '\\' AND rootpage > 0")
    return dict(found)


def read(database: str, page: int, size: int = 4096) -> bytearray:
    with open(database, "rb") as file:
        file.seek((page - 1) * size)
        return bytearray(file.read(size))


def write(database: str, page: int, content: bytes, size: int = 4096) -> None:
    with open(database, "r+b") as file:
        file.seek((page - 1) * size)
        file.write(content)


def pages(database: str, size: int = 4096) -> int:
    with open(database, "rb") as file:
        return file.seek(0, 2) // size


def cells(page: bytearray) -> Tuple[int, int]:
    """Returns the offset and number of the cell pointers of a B-tree page."""
    start = 12 if page[0] in (2, 5) else 8
    return start, min(int.from_bytes(page[3:5], "big"), (len(page) - start) // 2)


def other_page(rng: random.Random, database: str, page: bytearray) -> bytearray:
    return read(database, rng.randrange(2, pages(database) + 1))


def other_internal(rng: random.Random, database: str, page: bytearray) -> bytearray:
    return read(database, rng.choice(list(roots(database).values())))


def duplicate_row(rng: random.Random, database: str, page: bytearray) -> bytearray:
    start, count = cells(page)
    if count > 1:
        one, other = rng.sample(range(count), 2)
        page[start + 2 * one:start + 2 * one + 2] = page[start + 2 * other:start + 2 * other + 2]
    elif count == 1 and page[0] in (10, 13):
        page[3:5] = (2).to_bytes(2, "big")
        page[start + 2:start + 4] = page[start:start + 2]
    return page


def dropped_row(rng: random.Random, database: str, page: bytearray) -> bytearray:
    _, count = cells(page)
    page[3:5] = rng.randrange(max(count, 1)).to_bytes(2, "big")
    return page


def flipped_bytes(rng: random.Random, database: str, page: bytearray) -> bytearray:
    used = [at for at in range(len(page)) if page[at]] or [0]
    for _ in range(rng.choice([1, 1, 2, 8])):
        page[rng.choice(used)] = rng.randrange(256)
    return page


def zeroes(rng: random.Random, database: str, page: bytearray) -> bytearray:
    return bytearray(len(page))


def noise(rng: random.Random, database: str, page: bytearray) -> bytearray:
    at = rng.choice([0, 8, 2048])
    page[at:] = rng.randbytes(len(page) - at)
    return page


def duplicate_children(rng: random.Random, database: str, page: bytearray) -> bytearray:
    """Turns the page into an interior page with duplicate pointers to another page, possibly to itself."""
    target = rng.choice([rng.randrange(2, pages(database) + 1), *roots(database).values()])
    page[0] = 2 if page[0] == 10 else 5
    page[8:12] = target.to_bytes(4, "big")
    return page


Damage = Callable[[random.Random, str, bytearray], bytearray]
DAMAGES: List[Damage] = [
    other_page, other_internal, duplicate_row, dropped_row, flipped_bytes, flipped_bytes, flipped_bytes, zeroes, noise, duplicate_children]
