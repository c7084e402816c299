"""Programs of two builds in turns: how much slower than before each row and each step is."""

import collections
import dataclasses
import functools
import statistics

from driver import hosts, programs, server
from driver.change import Change
from driver.sections import comm, gpt, kernels, links, models, weak

# What programs print beside our own speed: roofs and shares of them, and other transports.
BESIDE = ("_roof", "_share")
OTHERS = ("mpi", "gloo")


def both(program, old):
    """{build: the same program of it}"""
    mine = f"{programs.BUILD}/bin/"
    moved = [f"{old}/bin/{word[len(mine):]}" if word.startswith(mine) else word
             for word in program.command]
    return {"before": dataclasses.replace(program, command=moved), "now": program}


def there_and_back(number, names):
    """The other order in every second turn: who comes first finds other caches and clocks."""
    return names if number % 2 == 0 else names[::-1]


def rows_of(program):
    """{labels: (median of a run's rows, unit)}"""
    values, units = collections.defaultdict(list), {}
    for row in programs.rows(program):
        labels = [str(v) if k == "name" else f"{k} {v}" for k, v in row.items()
                  if k not in ("value", "unit")]
        if not row["name"].endswith(BESIDE) and row.get("backend") not in OTHERS:
            key = ", ".join(labels)
            values[key].append(row["value"])
            units[key] = row["unit"]
    return {key: (statistics.median(found), units[key]) for key, found in values.items()}


def rows(program, label, old, options):
    """Of a program that prints rows, which `program()` gives."""
    runs = {"before": [], "now": []}
    pair = both(program(), old)
    for number in range(options.pairs):
        programs.note(f"pair {number + 1} of {options.pairs}")
        for build in there_and_back(number, list(pair)):
            runs[build].append(rows_of(pair[build]))
    every = [run for build in pair for run in runs[build]]
    for key, (_, unit) in (every[0] | every[-1]).items():
        if not all(key in run and run[key][0] > 0 and run[key][1] == unit for run in every):
            raise programs.Ended(f"{key}: not in all runs of both builds, in {unit} and above 0")
        series = ([run[key][0] for run in runs[build]] for build in ("before", "now"))
        yield Change(f"{label}: {key}", *series, unit)


def require_all(group):
    """Raises Ended where a server of the group has failed."""
    if group.lost.failed:
        raise programs.Ended("; ".join(group.lost.texts()))


def steps(program, label, old, options, turn=1):
    """Of a step server, which `program()` gives; `turn` is the number of steps of a turn."""
    with server.Group(both(program(), old)) as group:
        for number in range(options.warmup + options.pairs):
            if number == options.warmup:
                for one in group.servers.values():
                    one.end_warm_up()
            for build in there_and_back(number, list(group.servers)):
                group.turn(build, turn)
        require_all(group)
        ms = {build: weak.steady(found, turn) for build, found in group.milliseconds().items()}
    yield Change(label, ms["before"], ms["now"])


def over_links(kind, label, old, options):
    """The step over slow links, and its communication alone."""
    if reason := hosts.why_not():
        raise programs.Ended(f"no network namespaces: {reason}")
    with hosts.Hosts(links.HOSTS) as network:
        commands = links.commands(network, kind == "untied")
        with server.Group(commands) as group:
            require_all(group)
            network.shape(links.first_rate(network, group.servers, kind == "untied"))
        for part in ("step", links.COMMUNICATION):
            yield from steps(lambda part=part: commands[part], f"{label}, {part}", old, options)


def printing(name, *arguments):
    return functools.partial(rows, lambda: programs.ours(name, *arguments))


def all_reduce(ranks):
    return programs.under_mpi(ranks, programs.ours("bench_allreduce"))


def step_of(model, dtype):
    return models.commands(model, dtype)["tessera"]


def of_dtype(dtype):
    """Parts of the 124M model."""
    yield f"gpt/{dtype}", functools.partial(steps, lambda: gpt.commands(dtype, {})["tessera"])
    for n in (1, 8):
        yield (f"gpt/grain-{dtype}-{n}",
               functools.partial(steps, lambda n=n: gpt.grained(dtype, n)))
    yield f"weak/ddp-{dtype}", functools.partial(
        steps, lambda: weak.two_ranks(batch=8, context=64, dtype=dtype))


def parts():
    """{SECTION/PART: what measures it, as (label, old build, options) -> changes}"""
    found = {name: printing(f"bench_{name}")
             for name in ("overhead", "calls", "microbatches", "checkpoint")}
    found |= {f"kernels/{kernel}": printing("bench_kernels", kernel) for kernel in kernels.PARTS}
    for ranks in (2, 4):
        found[f"comm/{ranks}-ranks"] = functools.partial(rows, functools.partial(all_reduce, ranks))
    for model, dtypes in models.BARS.items():
        for dtype in dtypes:
            found[f"models/{model}-{dtype}"] = functools.partial(
                steps, functools.partial(step_of, model, dtype))
    for dtype in gpt.BARS:
        found |= of_dtype(dtype)
    found["weak/scaling"] = functools.partial(
        steps, lambda: weak.two_ranks(batch=8, context=256), turn=weak.STEPS_OF_A_TURN)
    return found | {f"links/{kind}": functools.partial(over_links, kind) for kind in links.BARS}
