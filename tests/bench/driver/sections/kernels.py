"""Kernels that move memory, by the copy bandwidth with the same number of threads."""

from driver import programs, repeat, roofs
from driver.figures import Figure, ratio, versus

KERNELS = ("layer_norm", "softmax", "adamw", "cross_entropy")


def figure(kernel, threads, found, roof):
    value = found.value(name=kernel, threads=threads)
    copy = roof.median("dram_copy", threads)
    where = "1 thread" if threads == 1 else f"{threads} threads"
    return Figure(f"{kernel}, {where}: share of the copy bandwidth", ratio(value, copy),
                  0.80, 0.92, "%", versus(value, copy, "GB/s"))


def run(options):
    program = programs.bench("bench_kernels")
    with roofs.running(("dram_copy", 1), ("dram_copy", 2)) as roof:
        found = repeat.in_turns([program and [program]], options, roof.sample)
        figures = [figure(kernel, threads, found, roof) for kernel in KERNELS for threads in (1, 2)]
        return figures, {"rows": found.record(), "roofs": roof.record()}
