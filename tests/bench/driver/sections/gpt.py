"""The whole step of GPT-2 124M, batch 4 x context 256, 2 threads, beside PyTorch and the roof."""

import dataclasses
import functools
import operator

from driver import inputs, programs, roofs, server
from driver.figures import Figure, median, paired, ratio, versus
from driver.lost import Lost

SHAPE = dict(batch=4, context=256, threads=2)
FLOPS = 6 * inputs.GPT2_PARAMETERS * SHAPE["batch"] * SHAPE["context"]
BARS = {  # dtype: share of the roof; speed by PyTorch as installed; tuned: (must, goal) each
    "f32": ((0.70, 0.82), (2.0, 2.4), (1.8, 2.1)),
    "bf16": ((0.55, 0.72), (1.3, 1.7), (1.1, 1.35)),
}
KINDS = {"installed": {}, "tuned": programs.TUNED}  # of PyTorch


@dataclasses.dataclass
class Comparison:
    """Programs that took turns: what was measured of each, and the roof just before each round."""

    measured: dict
    peaks: list
    lost: Lost

    def own(self, key):
        return self.measured.get("tessera", {}).get(key)

    def rivals(self, key):
        return [found[key] for name, found in self.measured.items() if name != "tessera"]


def commands(dtype, extra):
    arguments = inputs.gpt2(**SHAPE, dtype=dtype)
    return {
        "tessera": programs.ours("bench_gpt", *arguments),
        "eager": programs.rival("torch_gpt.py", *arguments, extra=extra),
        "compiled": programs.rival("torch_gpt.py", *arguments, "--compile", extra=extra),
    }


def compare(dtype, extra, options):
    """One comparison; the memory of more would not fit at once."""
    roof = (f"fma_{dtype}", 2)
    with server.Group(commands(dtype, extra)) as group, roofs.running(roof) as found:
        group.take_turns(options, found.sample)
        ms = group.milliseconds()
        measured = {
            name: {
                "ms": ms[name],
                "peak_bytes": one.peak_bytes(),
                "losses": [record["loss"] for record in one.records],
            }
            for name, one in group.servers.items()
        }
        return Comparison(measured, found.samples[roof], group.lost)


def apart(comparison):
    """The largest difference between our losses and a rival's, step by step."""
    losses, others = comparison.own("losses") or [], comparison.rivals("losses")
    differences = [abs(a - b) for other in others for a, b in zip(losses, other)]
    return max(differences, default=None)


def share_of_roof(dtype, found, lost):
    """Each step by the roof just before it."""
    own = [part for part in found.values() if part.own("ms")]
    reached = [FLOPS / ms / 1e6 for part in own for ms in part.own("ms")]
    peaks = [peak for part in own for peak in part.peaks]
    return Figure(f"124M step {dtype}: share of the roof", paired(operator.truediv, reached, peaks),
                  *BARS[dtype][0], "%", versus(median(reached), median(peaks), "GFLOP/s"), lost)


def speed(dtype, kind, part):
    bars = BARS[dtype][1 if kind == "installed" else 2]
    fastest = min(part.rivals("ms"), key=median, default=None)
    detail = ", ".join(f"{name} {median(one['ms']):.0f} ms" for name, one in part.measured.items())
    return Figure(f"124M step {dtype}: speed by PyTorch, {kind}",
                  paired(operator.truediv, fastest, part.own("ms")), *bars, "x", detail, part.lost)


def memory(dtype, found, lost):
    """Our highest peak by their lowest: one number a program, which hardly varies."""
    theirs = min((p for part in found.values() for p in part.rivals("peak_bytes")), default=None)
    ours = max((part.own("peak_bytes") or 0 for part in found.values()), default=0) or None
    detail = versus(ours and ours / 1e9, theirs and theirs / 1e9, "GB")
    return Figure(f"124M step {dtype}: peak memory by PyTorch's", ratio(ours, theirs), 0.75, 0.6,
                  "x", f"{detail}: our highest peak by their lowest", lost)


def losses(found, lost):
    """Of programs that started from the same weights."""
    parts = found.values() if inputs.weights() else ()
    differences = [d for d in map(apart, parts) if d is not None]
    return Figure("124M step f32: losses apart from PyTorch's", max(differences, default=None),
                  1e-3, 1e-3, "", "the largest of all steps", lost)


def figures_of(dtype, found):
    lost = functools.reduce(operator.or_, (part.lost for part in found.values()))
    yield share_of_roof(dtype, found, lost)
    for kind, part in found.items():
        yield speed(dtype, kind, part)
    yield memory(dtype, found, lost)
    if dtype == "f32":
        yield losses(found, lost)


def whole_step(dtype, options):
    found = {kind: compare(dtype, extra, options) for kind, extra in KINDS.items()}
    record = {kind: dataclasses.asdict(part) for kind, part in found.items()}
    roof = dict(name=f"fma_{dtype}", threads=2, unit=roofs.unit("fma"))
    peaks = [peak for part in found.values() for peak in part.peaks]
    return list(figures_of(dtype, found)), record | {"roofs": [roof | {"samples": peaks}]}


def grained(dtype, grain):
    """One rank, batch 8, in so many microbatches."""
    shape = SHAPE | dict(batch=8, dtype=dtype, grain=grain)
    return programs.ours("bench_gpt", *inputs.gpt2(**shape))


def grain(dtype, options):
    """Eight microbatches against one."""
    with server.Group({n: grained(dtype, n) for n in (1, 8)}) as group:
        group.take_turns(options)
        ms = group.milliseconds()
    fine, whole = ms.get(8), ms.get(1)
    figure = Figure(f"grain 8 by grain 1, batch 8, {dtype}", paired(operator.truediv, fine, whole),
                    1.12, 1.03, detail=versus(median(fine), median(whole), "ms"), lost=group.lost)
    return [figure], ms


def padded(options):
    """Windows of which the last quarter of the targets counts nothing, against whole ones."""
    commands = {kind: programs.ours("bench_gpt", *inputs.gpt2(**SHAPE, dtype="f32", padding=targets))
                for kind, targets in (("padded", SHAPE["context"] // 4), ("whole", 0))}
    with server.Group(commands) as group:
        group.take_turns(options)
        ms = group.milliseconds()
    some, none = ms.get("padded"), ms.get("whole")
    figure = Figure("124M step f32: padded by unpadded", paired(operator.truediv, some, none),
                    1.02, 1.0, "x", versus(median(some), median(none), "ms"), group.lost)
    return [figure], ms


PARTS = {dtype: functools.partial(whole_step, dtype) for dtype in BARS}
PARTS["padded"] = padded
PARTS |= {f"grain-{dtype}": functools.partial(grain, dtype) for dtype in BARS}
