#!/usr/bin/env python3
"""safetensors_write.py FILE linear|gpt2|gpt2_head [package]: weights of a linear layer (2 to 3), or of a
GPT-2 of one block, width 4, under the names of Hugging Face's GPT2Model or GPT2LMHeadModel; written by the
format's description or with the safetensors package, and ends with 77 where that is not installed."""

import json
import struct
import sys

import numpy as np


def counted(*shape):
    """Element (i, j) is 100 i + j."""
    index = np.indices(shape)
    return sum(100 ** (len(shape) - 1 - k) * index[k] for k in range(len(shape))).astype("<f4")


def linear():
    return {"weight": np.arange(6, dtype="<f4").reshape(3, 2), "bias": np.array([7, 8, 9], "<f4")}


def gpt2():
    tensors = {"wte.weight": counted(7, 4), "wpe.weight": counted(5, 4)}
    tensors["h.0.attn.bias"] = np.tril(np.ones((1, 1, 5, 5), "<f4"))
    for name, inputs, outputs in (("attn.c_attn", 4, 12), ("attn.c_proj", 4, 4),
                                  ("mlp.c_fc", 4, 16), ("mlp.c_proj", 16, 4)):
        tensors[f"h.0.{name}.weight"] = counted(inputs, outputs)
        tensors[f"h.0.{name}.bias"] = counted(outputs)
    for name in ("h.0.ln_1", "h.0.ln_2", "ln_f"):
        tensors[name + ".weight"] = counted(4)
        tensors[name + ".bias"] = counted(4)
    return tensors


def gpt2_head():
    tensors = {"transformer." + name: array for name, array in gpt2().items()}
    tensors["transformer.h.0.attn.masked_bias"] = np.array(-1e4, "<f4")
    tensors["lm_head.weight"] = counted(7, 4)
    return tensors


def save(path, tensors):
    header, at = {"__metadata__": {"format": "pt"}}, 0
    for name, array in tensors.items():
        header[name] = {"dtype": "F32", "shape": list(array.shape),
                        "data_offsets": [at, at + array.nbytes]}
        at += array.nbytes
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for array in tensors.values():
            file.write(array.tobytes())


def save_with_package(path, tensors):
    try:
        import safetensors.numpy
    except ImportError:
        sys.exit(77)
    safetensors.numpy.save_file(tensors, path)


made = {"linear": linear, "gpt2": gpt2, "gpt2_head": gpt2_head}[sys.argv[2]]()
(save_with_package if sys.argv[3:] == ["package"] else save)(sys.argv[1], made)
