"""All-reduce between ranks of this host, beside Open MPI and gloo, and what fixed order costs."""

from driver import programs, repeat, roofs
from driver.figures import Figure, geometric_mean, ratio

SIZES = [8, 64, 512, 4096, 32 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20, 64 << 20, 256 << 20]
LARGE = 16 << 20


def times(found, ranks, backend):
    """{bytes: seconds}"""
    rows = found.all(name="all_reduce", backend=backend, ranks=ranks)
    return {labels["bytes"]: seconds for labels, seconds in rows}


def share_of_copy(found, roof):
    """The least, over large buffers, of the time that a copy of 4 S bytes takes by the time taken."""
    copy = roof.median("dram_copy", 2)
    shares = [
        4 * size / (copy * 1e9) / seconds
        for size, seconds in times(found, 2, "tessera").items()
        if size >= LARGE and copy
    ]
    return min(shares, default=None)


def against(found, ranks, mine, rival):
    """Geometric mean of their time by ours over the sizes that both have."""
    ours, theirs = times(found, ranks, mine), times(found, ranks, rival)
    return geometric_mean(theirs[size] / ours[size] for size in ours if size in theirs)


def comparisons(found):
    names = {"tessera": "communicator's buffers", "tessera_private": "private buffers"}
    for ranks in (2, 4):
        for mine, name in names.items():
            for rival, bars in (("mpi", (2, 4)), ("gloo", (10, 30))):
                yield Figure(f"all-reduce, {ranks} ranks, {name}: speed by {rival}",
                             against(found, ranks, mine, rival), *bars)


def run(options):
    program = programs.bench("bench_allreduce")
    gloo = programs.rival("gloo_allreduce.py")
    commands = []
    for ranks in (2, 4):
        commands.append(programs.under_mpi(ranks, program and [program]))
        commands.append(gloo and [*gloo, "--ranks", str(ranks), "--bytes", *map(str, SIZES)])
    with roofs.running(("dram_copy", 2), ("shared_copy", 2), ("l3_copy", 2)) as roof:
        found = repeat.in_turns(commands, options, roof.sample)
        share = Figure("all-reduce >= 16 MiB, 2 ranks: share of the copy bandwidth",
                       share_of_copy(found, roof), 0.70, 0.85, "%")
        order = ratio(found.value(name="reduce_fixed_order"),
                      found.value(name="reduce_arrival_order"))
        figures = [share, *comparisons(found),
                   Figure("fixed-order reduction by order of arrival", order, 1.05, 1.00)]
        return figures, {"rows": found.record(), "roofs": roof.record()}
