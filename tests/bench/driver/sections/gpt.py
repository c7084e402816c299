"""The whole step of GPT-2 124M, batch 4 x context 256, 2 threads, beside PyTorch and the roof."""

import operator

from driver import inputs, programs, roofs, server
from driver.figures import Figure, median, paired, ratio, versus

SHAPE = dict(batch=4, context=256, threads=2)
FLOPS = 6 * inputs.GPT2_PARAMETERS * SHAPE["batch"] * SHAPE["context"]
BARS = {  # dtype: share of the roof; speed by PyTorch as installed; tuned: (must, goal) each
    "f32": ((0.70, 0.82), (2.0, 2.4), (1.8, 2.1)),
    "bf16": ((0.55, 0.72), (1.3, 1.7), (1.1, 1.35)),
}


def commands(dtype, extra):
    arguments = inputs.gpt2(**SHAPE, dtype=dtype)
    return {
        "tessera": (inputs.ours(*arguments), None),
        "eager": (inputs.theirs("torch_gpt.py", *arguments), extra),
        "compiled": (inputs.theirs("torch_gpt.py", *arguments, "--compile"), extra),
    }


def compare(dtype, extra, roof, options):
    """{program: measured} of one comparison; the memory of more would not fit at once."""
    servers = server.start(commands(dtype, extra))
    try:
        server.take_turns(servers, options, roof.sample)
        return {
            name: {
                "ms": server.times(one, skip=options.warmup),
                "peak_bytes": one.peak_bytes(),
                "losses": [record["loss"] for record in one.records],
            }
            for name, one in servers.items()
        }
    finally:
        server.stop(servers)


def rivals(measured, key):
    return [found[key] for name, found in measured.items() if name != "tessera"]


def own(measured, key):
    return measured.get("tessera", {}).get(key)


def apart(measured):
    """The largest difference between our losses and a rival's, step by step."""
    losses = own(measured, "losses")
    if not losses or not rivals(measured, "losses"):
        return None
    pairs = [zip(losses, other) for other in rivals(measured, "losses")]
    return max(abs(a - b) for both in pairs for a, b in both)


def share_of_roof(dtype, found, roof):
    """Each step by the roof just before it."""
    peaks = roof.samples[f"fma_{dtype}", 2]
    reached = [FLOPS / ms / 1e6 for part in found.values() for ms in own(part, "ms") or ()]
    detail = versus(*(median(series) for series in (reached, peaks)), "GFLOP/s")
    return Figure(f"124M step {dtype}: share of the roof", paired(operator.truediv, reached, peaks),
                  *BARS[dtype][0], "%", detail)


def speed(dtype, kind, measured):
    bars = BARS[dtype][1 if kind == "installed" else 2]
    fastest = min(rivals(measured, "ms"), key=median, default=None)
    detail = ", ".join(f"{name} {median(part['ms']):.0f}" for name, part in measured.items())
    return Figure(f"124M step {dtype}: speed by PyTorch, {kind}",
                  paired(operator.truediv, fastest, own(measured, "ms")), *bars, "x", detail + " ms")


def memory(dtype, found):
    theirs = min((p for part in found.values() for p in rivals(part, "peak_bytes")), default=None)
    ours = max((own(part, "peak_bytes") or 0 for part in found.values()), default=0) or None
    in_gb = (ours and ours / 1e9, theirs and theirs / 1e9)
    return Figure(f"124M step {dtype}: peak memory by PyTorch's", ratio(ours, theirs), 0.75, 0.6,
                  detail=versus(*in_gb, "GB"))


def losses(found):
    differences = [d for d in map(apart, found.values()) if d is not None]
    return Figure("124M step f32: losses apart from PyTorch's", max(differences, default=None),
                  1e-3, 1e-3, "")


def figures_of(dtype, found, roof):
    yield share_of_roof(dtype, found, roof)
    for kind, measured in found.items():
        yield speed(dtype, kind, measured)
    yield memory(dtype, found)
    if dtype == "f32":
        yield losses(found)


def grain(dtype, options):
    """One rank, batch 8: eight microbatches against one."""
    shape = SHAPE | dict(batch=8, dtype=dtype)
    arguments = {n: inputs.ours(*inputs.gpt2(**shape, grain=n)) for n in (1, 8)}
    servers = server.start({n: (command, None) for n, command in arguments.items()})
    try:
        server.take_turns(servers, options)
        ms = {n: server.times(one, skip=options.warmup) for n, one in servers.items()}
    finally:
        server.stop(servers)
    fine, whole = ms.get(8), ms.get(1)
    return Figure(f"grain 8 by grain 1, batch 8, {dtype}", paired(operator.truediv, fine, whole),
                  1.12, 1.03, detail=versus(median(fine), median(whole), "ms"))


def run(options):
    figures, record = [], {}
    for dtype in BARS:
        with roofs.running((f"fma_{dtype}", 2)) as roof:
            kinds = {"installed": None, "tuned": programs.TUNED}
            found = {kind: compare(dtype, extra, roof, options) for kind, extra in kinds.items()}
            figures += figures_of(dtype, found, roof)
            record[dtype] = found | {"roofs": roof.record()}
        figures.append(grain(dtype, options))
    return figures, record
