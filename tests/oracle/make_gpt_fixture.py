"""Makes tests/fixtures/gpt: initial weights, and what 20 steps from them give in PyTorch.

    python3 -m venv venv && venv/bin/pip install torch numpy h5py safetensors
    venv/bin/python tests/oracle/make_gpt_fixture.py

The text beside them, text.txt, is input: 4000 bytes of public-domain English. That is one byte too
few for a 125th window of context 32, so that the order of data wraps round inside a step.
"""

import json
import pathlib

import torch

import gpt
import training
import weights

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "fixtures" / "gpt"
SHAPE = dict(layers=2, heads=2, width=32, context=32, vocab=256)


def model_options(config):
    sizes = {"--" + key: getattr(config, key) for key in SHAPE}
    return sizes if config.tied else sizes | {"--untied": True}


def recipe_options(recipe):
    return {"--" + key.replace("_", "-"): value for key, value in vars(recipe).items()}


def make_run(name, tied, tokens):
    config = gpt.Config(**SHAPE, tied=tied)
    recipe = training.Recipe()
    model = gpt.GPT(config)
    gpt.initialise(model, seed=1234, std=0.1, spread=0.1)
    weights.save_hdf5(FOLDER / f"init_{name}.h5", gpt.weights_of(model))
    if tied:
        weights.save_safetensors(FOLDER / f"init_{name}.safetensors", gpt.weights_of(model))
    options = model_options(config) | recipe_options(recipe) | {"--order": "sequential"}
    return {"options": options, "steps": training.train(model, tokens, recipe)}


def main():
    torch.set_num_threads(1)
    tokens = training.read_tokens(FOLDER / "text.txt")
    runs = {name: make_run(name, name == "tied", tokens) for name in ("tied", "untied")}
    (FOLDER / "steps.json").write_text(json.dumps(runs, indent=1) + "\n")
    for name, run in runs.items():
        print(name, *(f"{r['loss']:.4f}/{r['grad_norm']:.3f}" for r in run["steps"]))


if __name__ == "__main__":
    main()
