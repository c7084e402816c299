"""The whole step of small models beside PyTorch's tuned by its environment, 2 threads."""

import functools
import operator

from driver import inputs, programs, server
from driver.figures import Figure, median, paired

CHAR_GPT = dict(layers=6, heads=6, width=384, vocab=256, positions=256, context=256, batch=8)
# Steps of a turn: most of a second, as the first after another program's turn is slower.
STEPS = {"resnet18": 4, "lstm": 8, "mlp": 400, "chain": 600, "mini_lm": 1, "linear": 20,
         "convolution": 2}
BARS = {  # model: dtype: speed by PyTorch (must, goal)
    "resnet18": {"f32": (1.0, 1.25), "bf16": (1.0, 1.4), "f64": (1.0, 1.3)},
    "lstm": {"f32": (1.0, 1.2), "bf16": (1.0, 1.3), "f64": (1.0, 1.3)},
    "mini_lm": {"f64": (1.0, 1.3)},
    "linear": {"f64": (1.0, 1.3)},
    "convolution": {"f64": (1.0, 1.3)},
    "mlp": {"f32": (1.3, 1.9), "bf16": (1.1, 1.4)},
    "char_gpt": {"f32": (1.6, 2.0), "bf16": (1.05, 1.3)},
    "chain": {"f32": (8, 15)},
}


def commands(model, dtype):
    if model == "char_gpt":
        shape = CHAR_GPT | dict(data=inputs.tokens(CHAR_GPT["vocab"]))
        mine, script = "bench_gpt", "torch_gpt.py"
    else:
        steps = STEPS[model]  # of f64, some four times as long
        shape = dict(model=model, steps=max(1, steps // 4) if dtype == "f64" else steps)
        mine, script = "bench_models", "torch_models.py"
    arguments = inputs.flags(shape | dict(dtype=dtype, threads=2))
    return {
        "tessera": programs.ours(mine, *arguments),
        "eager": programs.rival(script, *arguments, extra=programs.TUNED),
        "compiled": programs.rival(script, *arguments, "--compile", extra=programs.TUNED),
    }


def compared(model, dtype):
    """The programs of a figure: nobody compiles for f64."""
    programs_of = commands(model, dtype)
    if dtype == "f64":
        del programs_of["compiled"]
    return programs_of


def run(model, dtype, options):
    with server.Group(compared(model, dtype)) as group:
        group.take_turns(options)
        record = {name: one.of_rounds() for name, one in group.servers.items()}
        ms = group.milliseconds()
    rivals = [series for name, series in ms.items() if name != "tessera"]
    detail = ", ".join(f"{name} {median(series):.3g} ms" for name, series in ms.items())
    figure = Figure(
        f"{model} {dtype}: speed by PyTorch",
        paired(operator.truediv, min(rivals, key=median, default=None), ms.get("tessera")),
        *BARS[model][dtype],
        detail=detail,
        lost=group.lost,
    )
    return [figure], record


PARTS = {f"{model}-{dtype}": functools.partial(run, model, dtype)
         for model, dtypes in BARS.items() for dtype in dtypes}
