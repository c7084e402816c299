"""What all programs of a comparison start from: the same weights and the same tokens."""

import array
import functools
import random
import subprocess

from driver import programs

FOLDER = programs.BUILD / "bench"
GPT2 = dict(layers=12, heads=12, width=768, vocab=50257, positions=1024)
GPT2_PARAMETERS = 124.4e6
TOKENS = 64 * 1024


def flags(options):
    """{"batch": 4} as ["--batch", "4"]; True is the flag alone."""
    found = []
    for name, value in options.items():
        option = "--" + name.replace("_", "-")
        found += [option] if value is True else [option, str(value)]
    return found


def tokens(vocab):
    """A file of random tokens, made once."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    path = FOLDER / f"tokens-{vocab}.bin"
    if not path.exists():
        draw = random.Random(1)
        words = array.array("H", (draw.randrange(vocab) for _ in range(TOKENS)))
        path.write_bytes(words.tobytes())
    return str(path)


@functools.cache
def weights():
    """A file of initial weights for GPT-2 124M, made once by PyTorch; None without it."""
    path = FOLDER / "gpt2.h5"
    if not path.exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        beside = path.with_suffix(".part")
        try:
            process = programs.rival("make_init.py", beside).started(stderr=subprocess.PIPE)
            errors = process.communicate()[1]
            if process.returncode != 0:
                raise programs.Ended(programs.why_ended(process.returncode, errors))
        except programs.Ended as reason:
            programs.note(f"no common weights: {reason}")
            return None
        beside.rename(path)
    return str(path)


def gpt2(**options):
    """Flags of a step server for GPT-2 124M."""
    common = {"data": tokens(GPT2["vocab"])}
    start = weights()
    return flags(common | ({"init": start} if start else {}) | options)
