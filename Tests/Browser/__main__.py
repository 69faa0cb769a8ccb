# SPDX-License-Identifier: MIT
"""Tests the inspector in a headless browser: `python3 Tests/Browser --tool nanostore --inspector nanostore-inspector`."""

import argparse
import os
import shutil
import sys
import tempfile
import time
import traceback

sys.dont_write_bytecode = True

import areas  # noqa: E402, F401
from harness import CHECKS, Failure, Skipped, Trial  # noqa: E402


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="browser", description=__doc__)
    parser.add_argument("--tool", required=True, help="the path of nanostore")
    parser.add_argument("--inspector", required=True, help="the path of nanostore-inspector")
    parser.add_argument("--pages", help="serve the pages from this folder instead of the embedded ones")
    parser.add_argument("--only", action="append", default=[], help="run only checks whose name contains this text; may be repeated")
    parser.add_argument("--images", help="write screenshots into this folder")
    parser.add_argument("--long", action="store_true", help="also run the checks that take minutes")
    parser.add_argument("--verbose", action="store_true", help="also list the checks that passed")
    return parser.parse_args()


def main() -> int:
    options = arguments()
    try:
        import selenium  # noqa: F401
        from browser import Browser, find_chromium
        chromium = find_chromium()
    except ImportError:
        chromium = None
    if chromium is None:
        if os.environ.get("NANOSTORE_REQUIRE_BROWSER"):
            print("FAIL: Chromium, chromedriver or Selenium is missing; scripts/setup-browser installs them")
            print("0 passed, 1 failed, 0 skipped")
            return 1
        print("Chromium, chromedriver or Selenium is missing, so the inspector is not tested in a browser; scripts/setup-browser installs them")
        print(f"0 passed, 0 failed, {len(CHECKS)} skipped")
        return 0
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    root = tempfile.mkdtemp(prefix="nanostore-browser-")
    browser = Browser(chromium, root)
    try:
        for check in CHECKS:
            if options.only and not any(text in check.name for text in options.only):
                continue
            if check.long and not options.long:
                continue
            start = time.monotonic()
            trial = Trial(options, browser, os.path.join(root, check.name))
            outcome, reason = "passed", ""
            try:
                check.run(trial)
                trial.finish()
            except Skipped as skipped:
                outcome, reason = "skipped", str(skipped)
            except Failure as failure:
                outcome, reason = "failed", str(failure)
            except Exception:
                lines = traceback.format_exc().split("Stacktrace:")[0].strip().splitlines()
                outcome, reason = "failed", " | ".join(line.strip() for line in lines if "Tests/Browser" in line or line is lines[-1])
            finally:
                if outcome == "failed" and options.images:
                    trial.image(f"failed-{check.name}")
                trial.close()
            counts[outcome] += 1
            if outcome != "passed" or options.verbose:
                label = "FAIL" if outcome == "failed" else outcome
                print(f"{label} {check.name} ({time.monotonic() - start:.1f} s): {check.claim} {reason}", flush=True)
    finally:
        browser.close()
        shutil.rmtree(root, ignore_errors=True)
    print("{passed} passed, {failed} failed, {skipped} skipped".format(**counts))
    return 1 if counts["failed"] or not counts["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
