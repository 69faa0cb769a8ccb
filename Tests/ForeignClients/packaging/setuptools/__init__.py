# SPDX-License-Identifier: MIT
"""Stands in for setuptools while scripts/setup-foreign-clients downloads a package."""
