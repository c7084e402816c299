"""What the command lines have in common."""

import argparse


def chosen(names, parts, parser):
    """The parts that a command line names; all if it names none."""
    found = {}
    for name in names or parts:
        inside = {p: m for p, m in parts.items() if p == name or p.startswith(name + "/")}
        if not inside:
            parser.error(f"no such section or part: {name}; there are {', '.join(parts)}")
        found |= inside
    return found


def at_least(least):
    def number(text):
        if int(text) < least:
            raise argparse.ArgumentTypeError(f"got {text}, expected at least {least}")
        return int(text)
    return number
