# SPDX-License-Identifier: MIT
"""A headless Chromium, driven through Selenium."""

import json
import os
import shutil
import time
from typing import Any, List, Optional, Tuple
from urllib.parse import urlsplit

from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

# Roles of elements that people operate, which need a name.
CONTROLS = {"button", "link", "textbox", "searchbox", "combobox", "checkbox", "radio", "slider", "switch", "tab", "menuitem", "listbox", "option", "dialog"}


def find_chromium() -> Optional[Tuple[str, str]]:
    """Returns the paths of Chromium and its driver; nil if either is missing."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    return (chromium, driver) if chromium and driver else None


class Browser:
    def __init__(self, programs: Tuple[str, str], folder: str) -> None:
        options = Options()
        options.binary_location = programs[0]
        for argument in ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
                         "--disable-background-networking", "--disable-component-update", "--disable-sync", "--lang=en-US", f"--user-data-dir={os.path.join(folder, 'profile')}"]:
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Service(programs[1]))
        self.driver.set_page_load_timeout(300)
        self.driver.set_script_timeout(300)
        self.opened = False

    def close(self) -> None:
        self.driver.quit()

    def open(self, url: str, width: int, height: int, dark: bool) -> None:
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})
        if self.opened:
            # The same page with another fragment would not be loaded again.
            self.driver.get("about:blank")
        self.driver.get(url)
        self.opened = True

    def leave(self) -> None:
        self.driver.get("about:blank")
        self.driver.get_log("browser")
        self.driver.get_log("performance")

    # What the page shows

    def all(self, selector: str) -> List[Any]:
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def one(self, selector: str) -> Any:
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def text(self, selector: str = "body") -> str:
        # textContent, because what scrolls out of view counts.
        return self.driver.execute_script("return document.querySelector(arguments[0])?.innerText ?? ''", selector)

    def texts(self, selector: str) -> List[str]:
        return self.driver.execute_script("return [...document.querySelectorAll(arguments[0])].map((e) => e.innerText)", selector)

    def script(self, text: str, *arguments: Any) -> Any:
        return self.driver.execute_script(text, *arguments)

    def button(self, name: str, within: str = "body") -> Any:
        """Returns the visible button or link with a name."""
        # In one step, because elements are replaced when the page follows a commit.
        found = self.driver.execute_script("""
          const [name, within] = arguments;
          return [...document.querySelectorAll(`:is(${within}) :is(button, a, summary)`)].find((e) =>
            e.checkVisibility() && ((e.innerText ?? '').trim() === name || e.getAttribute('aria-label') === name)) ?? null""", name, within)
        if found is None:
            raise LookupError(f"no button {name!r}")
        return found

    def click(self, name: str, within: str = "body", seconds: float = 300) -> None:
        """Clicks a button as soon as the page has it: what a click or a commit changes is drawn a moment later."""
        end = time.monotonic() + seconds
        while True:
            try:
                return self.button(name, within).click()
            except (LookupError, StaleElementReferenceException):
                if time.monotonic() > end:
                    raise
                time.sleep(0.05)

    def press(self, *keys: str) -> None:
        self.driver.switch_to.active_element.send_keys(*keys)

    def press_page(self, key: str) -> None:
        self.one("body").send_keys(key)

    def enter(self, selector: str, text: str, submit: bool = True) -> None:
        element = self.one(selector)
        element.send_keys(Keys.CONTROL, "a")
        element.send_keys(Keys.DELETE)
        element.send_keys(text)
        if submit:
            element.send_keys(Keys.ESCAPE)
            element.send_keys(Keys.ENTER)

    # What must not happen

    def problems(self, ports: List[int]) -> List[str]:
        """Returns console errors and requests to other hosts since the last call."""
        found: List[str] = []
        for entry in self.driver.get_log("browser"):
            if entry["level"] in ("SEVERE", "WARNING") and "status of 4" not in entry["message"] and "status of 5" not in entry["message"]:
                found.append(f"console: {entry['message']}")
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] != "Network.requestWillBeSent":
                continue
            url = urlsplit(message["params"]["request"]["url"])
            if url.scheme in ("data", "about", "chrome") or url.hostname == "127.0.0.1" and url.port in ports:
                continue
            found.append(f"request to {url.geturl()}")
        return found

    def nameless(self) -> List[str]:
        """Returns the controls of the accessibility tree that have no name."""
        self.driver.execute_cdp_cmd("Accessibility.enable", {})
        nodes = self.driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
        return [node["role"]["value"] for node in nodes
                if not node.get("ignored") and node.get("role", {}).get("value") in CONTROLS and not node.get("name", {}).get("value", "").strip()]

    def overflow(self) -> bool:
        """Whether the page is wider than the window."""
        return self.driver.execute_script("return document.documentElement.scrollWidth > innerWidth + 1 || document.querySelector('main').scrollWidth > document.querySelector('main').clientWidth + 1")
