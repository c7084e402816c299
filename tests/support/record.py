#!/usr/bin/env python3
"""record.py REPORT COMMAND...: runs a test command and writes one line a test into REPORT.

Lines are "passed|failed|skipped<TAB>name<TAB>reason". A GoogleTest program gives a line for each of
its tests, any other command one line: 0 is passed, 77 is skipped (its last line of the form
"skipped: reason" says why), all else failed. Until the command ends REPORT says that it did not
finish, so a test that was killed counts as failed. The exit code is 0 unless something failed.
"""

import os
import re
import subprocess
import sys

RESULT = re.compile(r"\[ +(OK|FAILED|SKIPPED) +\] (\S+?),? .*\(\d+ ms\)")
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
            results.append((words[match[1]], match[2], reason if skipped else ""))
            reason = ""
    return results


def script_result(name, code, lines):
    """The result of a command that is one test."""
    if code != SKIPPED_EXIT:
        return ("failed" if code else "passed", name, f"exit code {code}" if code else "")
    reasons = [line[len("skipped:"):].strip() for line in lines if line.startswith("skipped:")]
    return ("skipped", name, reasons[-1] if reasons else "")


def results_of(name, code, lines):
    """All results of a run; an exit code that no single test explains is a failure of its own."""
    if not any(line.startswith("[==========]") for line in lines):
        return [script_result(name, code, lines)]
    results = unit_results(lines)
    if code and not any(result == "failed" for result, _, _ in results):
        results.append(("failed", name, f"exit code {code}"))
    return results


def write(path, results):
    with open(path, "w", encoding="utf-8") as report:
        report.writelines("\t".join(result) + "\n" for result in results)


def main():
    path, command = sys.argv[1], sys.argv[2:]
    name = os.path.basename(path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    write(path, [("failed", name, "did not finish")])
    code, lines = run(command)
    results = results_of(name, code, lines)
    write(path, results)
    return 1 if any(result == "failed" for result, _, _ in results) else 0


if __name__ == "__main__":
    sys.exit(main())
