"""Initial weights on disk, in the two forms that `--init` reads."""

import h5py
import safetensors.torch
import torch


def save_hdf5(path, weights):
    with h5py.File(path, "w") as file:
        for name, weight in weights.items():
            file.create_dataset("model/" + name, data=weight.detach().numpy())


def save_safetensors(path, weights):
    whole = {name: weight.detach().contiguous() for name, weight in weights.items()}
    safetensors.torch.save_file(whole, path)


@torch.no_grad()
def load_hdf5(path, model):
    with h5py.File(path, "r") as file:
        for name, parameter in model.named_parameters():
            parameter.copy_(torch.from_numpy(file["model/" + name][...]))
