# SPDX-License-Identifier: MIT
"""Imports all checks."""

import screens  # noqa: F401
import keyboard  # noqa: F401
import graph  # noqa: F401
import transfers  # noqa: F401
import hostile  # noqa: F401
import together  # noqa: F401
import safety  # noqa: F401
import writing  # noqa: F401
import syncing  # noqa: F401
import server  # noqa: F401
import large  # noqa: F401
