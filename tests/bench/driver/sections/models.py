"""The whole step of small models beside PyTorch's, 2 threads."""

import operator

from driver import inputs, programs, server
from driver.figures import Figure, median, paired

CHAR_GPT = dict(layers=6, heads=6, width=384, vocab=256, positions=256, context=256, batch=8)
# Steps of a turn: most of a second, as the first after another program's turn is slower.
STEPS = {"resnet18": 4, "lstm": 8, "mlp": 400, "chain": 600}
BARS = {  # model: dtype: speed by PyTorch (must, goal)
    "resnet18": {"f32": (1.0, 1.25), "bf16": (1.0, 1.4)},
    "lstm": {"f32": (1.0, 1.2), "bf16": (1.0, 1.3)},
    "mlp": {"f32": (1.3, 1.9), "bf16": (1.1, 1.4)},
    "char_gpt": {"f32": (1.6, 2.0), "bf16": (1.05, 1.3)},
    "chain": {"f32": (8, 15)},
}


def programs_of(model, dtype):
    """(our command, theirs)"""
    if model == "char_gpt":
        arguments = inputs.flags(
            CHAR_GPT | dict(data=inputs.tokens(CHAR_GPT["vocab"]), dtype=dtype, threads=2)
        )
        return inputs.ours(*arguments), inputs.theirs("torch_gpt.py", *arguments)
    arguments = inputs.flags(dict(model=model, dtype=dtype, threads=2, steps=STEPS[model]))
    program = programs.bench("bench_models")
    return program and [program, *arguments], inputs.theirs("torch_models.py", *arguments)


def compare(model, dtype, options):
    """{program: records of its turns}"""
    ours, theirs = programs_of(model, dtype)
    servers = server.start(
        {
            "tessera": (ours, None),
            "eager": (theirs, programs.TUNED),
            "compiled": (theirs and [*theirs, "--compile"], programs.TUNED),
        }
    )
    try:
        server.take_turns(servers, options)
        return {name: one.records[options.warmup :] for name, one in servers.items()}
    finally:
        server.stop(servers)


def milliseconds(measured):
    return {name: [record["ms"] for record in records] for name, records in measured.items()}


def figure(model, dtype, measured):
    ms = milliseconds(measured)
    rivals = [series for name, series in ms.items() if name != "tessera"]
    detail = ", ".join(f"{name} {median(series):.3g}" for name, series in ms.items())
    return Figure(
        f"{model} {dtype}: speed by PyTorch",
        paired(operator.truediv, min(rivals, key=median, default=None), ms.get("tessera")),
        *BARS[model][dtype],
        detail=detail + " ms",
    )


def run(options):
    figures, record = [], {}
    for model, dtypes in BARS.items():
        for dtype in dtypes:
            programs.note(f"{model} {dtype}")
            measured = compare(model, dtype, options)
            record[f"{model} {dtype}"] = measured
            figures.append(figure(model, dtype, measured))
    return figures, record
