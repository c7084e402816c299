"""Kernels that move memory, by the copy bandwidth that the program measures in turn with them."""

from driver import programs, repeat
from driver.figures import Figure, ratio, versus

KERNELS = ("layer_norm", "softmax", "adamw", "cross_entropy")


def figure(kernel, threads, found):
    value = found.value(name=kernel, threads=threads)
    copy = found.value(name=f"{kernel}_roof", threads=threads)
    where = "1 thread" if threads == 1 else f"{threads} threads"
    return Figure(f"{kernel}, {where}: share of the copy bandwidth", ratio(value, copy),
                  0.80, 0.92, "%", versus(value, copy, "GB/s"))


def run(options):
    program = programs.bench("bench_kernels")
    found = repeat.in_turns([program and [program]], options)
    figures = [figure(kernel, threads, found) for kernel in KERNELS for threads in (1, 2)]
    return figures, {"rows": found.record()}
