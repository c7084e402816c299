#!/usr/bin/env python3
"""record.py REPORT COMMAND...: runs a test command and writes one line a test into REPORT.

Lines are "passed|failed|skipped<TAB>name<TAB>seconds<TAB>reason". A GoogleTest program gives a line for each of
its tests, any other command one line: 0 is passed, 77 is skipped (its last line of the form
"skipped: reason" says why), all else failed. Until the command ends REPORT says that it did not
finish, so a test that was killed counts as failed. The exit code is 0 unless something failed.
"""

import os
import re
import subprocess
import sys
import time

RESULT = re.compile(r"\[ +(OK|FAILED|SKIPPED) +\] (\S+?),? .*\((\d+) ms\)")
SKIPPED_EXIT = 77


def run(command):
    """Runs the command, shows its output as it comes, and returns (exit code, lines)."""
    lines = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        for raw in process.stdout:
            lines.append(raw.decode(errors="replace").rstrip("\n"))
            print(lines[-1], flush=True)
    return process.returncode, lines


def unit_results(lines):
    """The results that a GoogleTest program printed; a skip's reason follows ': Skipped'."""
    words = {"OK": "passed", "FAILED": "failed", "SKIPPED": "skipped"}
    results, reason = [], ""
    for index, line in enumerate(lines):
        if line.endswith(": Skipped") and index + 1 < len(lines):
            reason = lines[index + 1].strip()
        match = RESULT.match(line)
        if match:
            skipped = match[1] == "SKIPPED"
            results.append((words[match[1]], match[2], int(match[3]) / 1000, reason if skipped else ""))
            reason = ""
    return results


def script_result(name, code, lines, seconds):
    """The result of a command that is one test."""
    if code != SKIPPED_EXIT:
        return ("failed" if code else "passed", name, seconds, f"exit code {code}" if code else "")
    reasons = [line[len("skipped:"):].strip() for line in lines if line.startswith("skipped:")]
    return ("skipped", name, seconds, reasons[-1] if reasons else "")


def results_of(name, code, lines, seconds):
    """All results of a run; an exit code that no single test explains is a failure of its own."""
    if not any(line.startswith("[==========]") for line in lines):
        return [script_result(name, code, lines, seconds)]
    results = unit_results(lines)
    if code and not has_failure(results):
        results.append(("failed", name, seconds, f"exit code {code}"))
    return results


def has_failure(results):
    return any(result == "failed" for result, *_ in results)


def write(path, results):
    with open(path, "w", encoding="utf-8") as report:
        report.writelines(f"{result}\t{name}\t{seconds:.3f}\t{reason}\n" for result, name, seconds, reason in results)


def main():
    path, command = sys.argv[1], sys.argv[2:]
    name = os.path.basename(path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    write(path, [("failed", name, 0, "did not finish")])
    start = time.monotonic()
    code, lines = run(command)
    results = results_of(name, code, lines, time.monotonic() - start)
    write(path, results)
    return 1 if has_failure(results) else 0


if __name__ == "__main__":
    sys.exit(main())
