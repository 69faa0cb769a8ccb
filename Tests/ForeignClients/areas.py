# SPDX-License-Identifier: MIT
"""Imports all checks, in the order in which they run."""

import program  # noqa: F401
import couchdb_python  # noqa: F401
import pouchdb  # noqa: F401
import reverse_proxy  # noqa: F401
