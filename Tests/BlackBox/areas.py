# SPDX-License-Identifier: MIT
"""Imports all areas, which register their checks."""

import importlib

NAMES = [
    "read_permissions", "file_paths", "foreign_rows", "mixed_writers", "unique_foreign_rows", "invalid_bodies", "unicode_forms", "unicode_fields",
    "internal_damage", "round_trips", "tables", "commands", "resources", "destinations", "leftovers", "watching", "terminal",
]
for name in NAMES:
    importlib.import_module(name)
