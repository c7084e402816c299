"""What sweep.h is to programs, to scripts: how much of a long sweep this run takes."""

import os
import random

WHOLE = os.environ.get("TESSERA_TEST_FULL") == "1"
SEED = int(os.environ.get("TESSERA_TEST_SEED", "0"))


def drawn(cases, few, salt=""):
    """So many of the cases, in their order; another salt gives others."""
    cases = list(cases)
    numbers = random.Random(f"{SEED} {salt}").sample(range(len(cases)), few)
    return [cases[number] for number in sorted(numbers)]


def sampled(cases, few, salt=""):
    """All cases where sweeps are whole, or `few` of them."""
    return list(cases) if WHOLE else drawn(cases, few, salt)
