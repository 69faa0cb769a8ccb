# SPDX-License-Identifier: MIT
"""Imports each area, which registers its checks."""

import importlib

NAMES = [
    "reading_rights", "file_paths", "spellings", "mixed_writers", "unique_spellings", "invalid_bodies", "unicode_forms", "unicode_fields",
    "internal_damage", "round_trips", "commands", "resources", "destinations", "leftovers", "watching",
]
for name in NAMES:
    importlib.import_module(name)
