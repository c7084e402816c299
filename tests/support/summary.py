#!/usr/bin/env python3
"""summary.py ALLOWED STAGES REPORTS...: adds up what a run of the tests recorded.

ALLOWED lists the reasons for which a test may be skipped. STAGES holds the seconds of every stage
and the stages that failed, REPORTS are folders that record.py wrote. Prints times, the slowest tests
with their share of all tests' time, failures, skips by reason and, alone on the last line, the counts. The exit code is 1 when anything failed or a skip
was not allowed; such a skip counts as failed.
"""

import collections
import fnmatch
import pathlib
import sys

SLOWEST = 20


def read_results(files):
    """(result, name, seconds, reason) of every line of the files; the name begins with its report."""
    results = []
    for file in files:
        for line in file.read_text(encoding="utf-8").splitlines():
            result, name, seconds, reason = line.split("\t", 3)
            results.append((result, f"{file.parent.parent.name}/{file.name}: {name}", float(seconds), reason))
    return results


def read_allowed(path):
    lines = pathlib.Path(path).read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def judge_skips(results, allowed):
    """Turns skips that no line of `allowed` covers into failures."""
    judged = []
    for result, name, seconds, reason in results:
        if result == "skipped" and not any(fnmatch.fnmatchcase(reason, line) for line in allowed):
            result, reason = "failed", f"skipped, not allowed by tests/skips.txt: {reason or 'no reason'}"
        judged.append((result, name, seconds, reason))
    return judged


def print_times(path):
    print("\nSeconds")
    rows = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]
    for name, seconds in rows:
        print(f"  {name:30} {int(seconds):5}")
    print(f"  {'all':30} {sum(int(seconds) for _, seconds in rows):5}")


def print_slowest(results):
    total = sum(seconds for _, _, seconds, _ in results)
    print(f"\nThe slowest of {len(results)} tests, with their share of {total:.0f} seconds of tests")
    for _, name, seconds, _ in sorted(results, key=lambda test: -test[2])[:SLOWEST]:
        print(f"  {seconds:6.1f} {seconds / (total or 1):6.1%}  {name}")


def main():
    stages = pathlib.Path(sys.argv[2])
    folders = [pathlib.Path(path) for path in sys.argv[3:]]
    files = [file for folder in folders if folder.is_dir() for file in sorted(folder.iterdir())]
    files += [file for file in [stages / "failures"] if file.exists()]
    results = judge_skips(read_results(files), read_allowed(sys.argv[1]))
    print_times(stages / "seconds")
    print_slowest(results)
    for result, name, _, reason in results:
        if result == "failed":
            print(f"\nFAILED {name} {reason}", end="")
    skips = collections.Counter(reason for result, _, _, reason in results if result == "skipped")
    for reason, count in sorted(skips.items()):
        print(f"\nskipped {count}: {reason}", end="")
    count = collections.Counter(result for result, *_ in results)
    print(f"\n\n{count['passed']} passed, {count['failed']} failed, {count['skipped']} skipped")
    return 1 if count["failed"] or not count["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
