# SPDX-License-Identifier: MIT
"""The keys of Selenium, without which the modules of the checks can still be imported, to be skipped."""

try:
    from selenium.webdriver.common.keys import Keys
except ImportError:
    Keys = None

__all__ = ["Keys"]
