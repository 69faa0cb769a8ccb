# SPDX-License-Identifier: MIT
"""Tests the command line tool as a black box: `python3 Tests/BlackBox --tool PATH`."""

import argparse
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from typing import Dict, List, Set

sys.dont_write_bytecode = True
sys.setrecursionlimit(10_000)  # documents have up to 512 levels

import areas  # noqa: E402, F401
from harness import CHECKS, OTHER_USER, Check, play, remove  # noqa: E402


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="black-box", description=__doc__)
    parser.add_argument("--tool", required=True, help="the path of nanostore")
    parser.add_argument("--short", action="store_true", help="run one round of the quick checks")
    parser.add_argument("--only", action="append", default=[], help="run only checks whose name contains this text; may be repeated")
    parser.add_argument("--seed", type=int, default=None, help="seed of the first round")
    parser.add_argument("--seconds", type=float, default=900, help="in the long form, start no round after this many seconds")
    parser.add_argument("--verbose", action="store_true", help="also list the checks that passed")
    parser.add_argument("--list", action="store_true", help="list the checks without running them")
    return parser.parse_args()


def executable_by_all(tool: str, root: str) -> str:
    """Returns the path of the tool, or of a copy that every user may execute."""
    path = os.path.abspath(tool)
    if os.geteuid() != 0:
        return path
    try:
        subprocess.run([path, "--version"], user=OTHER_USER, group=OTHER_USER, extra_groups=[],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True, timeout=60)
        return path
    except (OSError, subprocess.SubprocessError):
        copy = os.path.join(root, "nanostore")
        shutil.copyfile(path, copy)
        os.chmod(copy, 0o755)
        return copy


def rounds(checks: List[Check], options: argparse.Namespace, seed: int, tool: str, root: str) -> Dict[str, str]:
    """Runs every check once; in the long form, repeats them with new seeds until the time is up."""
    outcomes: Dict[str, str] = {}
    until = time.monotonic() + (0 if options.short else options.seconds)
    turn: Dict[str, int] = {}
    forks = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(max_workers=max(2, os.cpu_count() or 2), mp_context=forks) as pool:
        jobs: Dict["Future[tuple[str, str]]", Check] = {}

        def begin(check: Check) -> None:
            number = turn.get(check.name, 0)
            turn[check.name] = number + 1
            jobs[pool.submit(play, check.name, tool, seed + number, options.short, root)] = check

        for check in checks:
            begin(check)
        while jobs:
            done: Set["Future[tuple[str, str]]"] = wait(list(jobs), return_when=FIRST_COMPLETED).done
            for job in done:
                check = jobs.pop(job)
                outcome, reason = job.result()
                outcomes[check.name] = outcome
                if outcome == "failed" or options.verbose:
                    print(reason if outcome == "failed" else f"{outcome} {check.name}: {reason}", flush=True)
                if outcome == "passed" and time.monotonic() < until:
                    begin(check)
    return outcomes


def main() -> int:
    options = arguments()
    checks = [check for check in CHECKS
              if (check.short or not options.short)
              and (not options.only or any(part in check.name for part in options.only))]
    if options.list:
        for check in checks:
            print(f"{check.name}: {check.claim}")
        return 0
    seed = options.seed if options.seed is not None else int(time.time()) % 1_000_000
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    root = tempfile.mkdtemp(prefix="nanostore-black-box-")
    os.chmod(root, 0o755)
    try:
        outcomes = list(rounds(checks, options, seed, executable_by_all(options.tool, root), root).values())
    finally:
        remove(root)
    failed = outcomes.count("failed")
    print(f"{outcomes.count('passed')} passed, {failed} failed, {outcomes.count('skipped')} skipped")
    return 1 if failed or not outcomes else 0


if __name__ == "__main__":
    sys.exit(main())
