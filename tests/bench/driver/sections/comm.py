"""All-reduce between ranks of this host, beside Open MPI and gloo, and what fixed order costs."""

import functools

from driver import programs, repeat, roofs
from driver.figures import Figure, geometric_mean, ratio, versus

SIZES = [8, 64, 512, 4096, 32 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20, 64 << 20, 256 << 20]
LARGE = 16 << 20
SHOWN = [8, 32 << 10, 1 << 20, 256 << 20]  # in details; the record has all
BUFFERS = {"tessera": "communicator's buffers", "tessera_private": "private buffers"}
BARS = {"mpi": (2, 4), "gloo": (10, 30)}


def times(found, backend):
    """{bytes: seconds}"""
    rows = found.all(name="all_reduce", backend=backend)
    return {labels["bytes"]: seconds for labels, seconds in rows}


def text_of(size):
    for unit, step in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= step:
            return f"{size // step} {unit}"
    return f"{size} B"


def share_of_copy(found, roof):
    """The least, over large buffers, of the time that a copy of 4 S bytes takes by the time taken."""
    copy = roof.median("dram_copy", 2)
    speeds = {size: 4 * size / seconds / 1e9
              for size, seconds in times(found, "tessera").items() if size >= LARGE}
    shares = [speed / copy for speed in speeds.values()]
    parts = [f"{text_of(size)} {speed:.1f}" for size, speed in speeds.items()]
    detail = f"{', '.join(parts)} by a copy at {copy:.1f} GB/s" if parts else ""
    return Figure("all-reduce >= 16 MiB, 2 ranks: share of the copy bandwidth",
                  min(shares, default=None), 0.70, 0.85, "%", detail, found.lost)


def against(found, ranks, mine, rival):
    """The geometric mean of their time by ours over all sizes."""
    ours, theirs = times(found, mine), times(found, rival)
    both = [size for size in SIZES if size in ours and size in theirs]
    parts = [f"{text_of(size)}: {versus(theirs[size] * 1e6, ours[size] * 1e6, 'us')}"
             for size in SHOWN if size in both]
    return Figure(f"all-reduce, {ranks} ranks, {BUFFERS[mine]}: speed by {rival}",
                  geometric_mean(theirs[size] / ours[size] for size in both), *BARS[rival], "x",
                  ", ".join(parts), found.lost)


def order(found):
    """bench_allreduce's rank 0 alone adds blocks that are all in memory."""
    fixed, arrival = (found.value(program="tessera", name=name)
                      for name in ("reduce_fixed_order", "reduce_arrival_order"))
    milliseconds = versus(*(x and x * 1e3 for x in (fixed, arrival)), "ms")
    return Figure("fixed-order reduction by order of arrival, W = 4, G = 8", ratio(fixed, arrival),
                  1.05, 1.00, "x", f"{milliseconds}: the same code over 4 blocks of 16 MiB, all there, in"
                  " one process: by the tree, and one after another in every order", found.lost)


def run(ranks, options):
    gloo = ["--ranks", ranks, "--bytes", *SIZES]
    commands = {"tessera": programs.under_mpi(ranks, programs.ours("bench_allreduce")),
                "gloo": programs.rival("gloo_allreduce.py", *gloo)}
    with roofs.running(("dram_copy", 2), ("shared_copy", 2), ("l3_copy", 2)) as roof:
        # Twice, so that few repeats give enough samples too.
        found = repeat.in_turns(commands, options, lambda: (roof.sample(), roof.sample()))
    figures = [against(found, ranks, mine, rival) for mine in BUFFERS for rival in BARS]
    figures += [share_of_copy(found, roof)] if ranks == 2 else [order(found)]
    return figures, {"rows": found.record(), "roofs": roof.record()}


PARTS = {"2-ranks": functools.partial(run, 2), "4-ranks": functools.partial(run, 4)}
