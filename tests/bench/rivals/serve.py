"""The line protocol of step servers: see tests/bench/README.md."""

import json
import sys


def say(**record):
    print(json.dumps(record), flush=True)


def serve(name, commands, **facts):
    """Answers each line of standard input, the name of one of `commands`, with what that command
    returns, until a line says quit or the input ends."""
    say(ready=True, name=name, **facts)
    for line in sys.stdin:
        command = line.strip() or "step"
        if command == "quit":
            break
        if command not in commands:
            raise SystemExit(f"{name}: unknown command; got {command}, expected {list(commands)}")
        say(**commands[command]())
