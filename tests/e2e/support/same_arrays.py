#!/usr/bin/python3
"""same_arrays.py STEP STEP: two steps of checkpoints hold the same arrays, bit for bit."""

import pathlib
import sys

import gpt_runs as gpt

expected, found = (gpt.arrays(pathlib.Path(step)) for step in sys.argv[1:3])
differ = [name for name in expected.keys() | found.keys() if expected.get(name) != found.get(name)]
gpt.expect(not differ, f"{sys.argv[2]}: {len(differ)} of {len(expected)} arrays differ: {differ[:3]}")
print(f"{sys.argv[2]}: the same {len(expected)} arrays")
