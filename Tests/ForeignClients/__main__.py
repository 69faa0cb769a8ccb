# SPDX-License-Identifier: MIT
"""Tests the sync server with clients of other projects: `python3 Tests/ForeignClients --tool nanostore --packages FOLDER`."""

import argparse
import os
import shutil
import signal
import sys
import tempfile
import time
import traceback
from typing import Any

sys.dont_write_bytecode = True

import areas  # noqa: E402, F401
from harness import CHECKS, Failure, Shared, Skipped, Trial  # noqa: E402

# The longest time of a check, in seconds. A limit for what hangs, not a measure: a check takes a second or two.
LIMIT = 120


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="foreign-clients", description=__doc__)
    parser.add_argument("--tool", required=True, help="the path of nanostore")
    parser.add_argument("--packages", required=True, help="the folder of scripts/setup-foreign-clients")
    parser.add_argument("--only", action="append", default=[], help="run only checks whose name contains this text; may be repeated")
    parser.add_argument("--verbose", action="store_true", help="also list the checks that passed")
    return parser.parse_args()


def overdue(*_: Any) -> None:
    raise Failure(f"takes longer than {LIMIT} seconds")


def main() -> int:
    options = arguments()
    # So that servers and the browser are stopped also if these checks are.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    signal.signal(signal.SIGALRM, overdue)
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    root = tempfile.mkdtemp(prefix="nanostore-clients-")
    shared = Shared(options, root)
    try:
        for check in CHECKS:
            if options.only and not any(text in check.name for text in options.only):
                continue
            start = time.monotonic()
            trial = Trial(options, shared, os.path.join(root, check.name))
            outcome, reason = "passed", ""
            try:
                signal.alarm(LIMIT)
                check.run(trial)
                trial.finish()
            except Skipped as skipped:
                outcome, reason = "skipped", str(skipped)
            except Failure as failure:
                outcome, reason = "failed", str(failure)
            except Exception:
                lines = traceback.format_exc().split("Stacktrace:")[0].strip().splitlines()
                outcome, reason = "failed", " | ".join(line.strip() for line in lines if "Tests/ForeignClients" in line or line is lines[-1])
            finally:
                signal.alarm(0)
                trial.close()
            counts[outcome] += 1
            if outcome != "passed" or options.verbose:
                label = "FAIL" if outcome == "failed" else outcome
                print(f"{label} {check.name} ({time.monotonic() - start:.1f} s): {check.claim} {reason}", flush=True)
    finally:
        shared.close()
        shutil.rmtree(root, ignore_errors=True)
    print("{passed} passed, {failed} failed, {skipped} skipped".format(**counts))
    return 1 if counts["failed"] or not sum(counts.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
