"""What a batch cut into microbatches costs beside the same batch in one piece."""

from driver import programs, repeat
from driver.figures import Figure, show


def run(options):
    found = repeat.in_turns({"tessera": programs.ours("bench_microbatches")}, options)
    whole = show(found.value(program="tessera", name="siamese_one_microbatch"), "ms")
    cut = show(found.value(program="tessera", name="siamese_by_default"), "ms")
    ratio = found.value(program="tessera", name="siamese_ratio")
    figure = Figure("siamese step: default microbatches by one", ratio, 1.1, 1.0, "",
                    f"{cut} by {whole}", found.lost)
    return [figure], {"rows": found.record()}


PARTS = {"": run}
