"""Kernels that move memory, by the copy bandwidth that the program measures after each call."""

from driver import programs, repeat
from driver.figures import Figure

KERNELS = ("layer_norm", "softmax", "adamw", "cross_entropy")


def figure(kernel, threads, found):
    speed = found.value(name=kernel, threads=threads)
    share = found.value(name=f"{kernel}_share", threads=threads)
    where = "1 thread" if threads == 1 else f"{threads} threads"
    return Figure(f"{kernel}, {where}: share of the copy bandwidth", share, 0.80, 0.92, "%",
                  f"{speed:.1f} GB/s" if speed else "")


def run(options):
    program = programs.bench("bench_kernels")
    found = repeat.in_turns([program and [program, *KERNELS]], options)
    figures = [figure(kernel, threads, found) for kernel in KERNELS for threads in (1, 2)]
    return figures, {"rows": found.record()}
