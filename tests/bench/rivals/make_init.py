"""Writes random GPT-2 weights as HDF5, for every program of one comparison to start from."""

import argparse

import gpt_step


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path")
    for name, default in dict(layers=12, heads=12, width=768, vocab=50257, positions=1024).items():
        parser.add_argument("--" + name, type=int, default=default)
    parser.add_argument("--untied", action="store_true")
    options = parser.parse_args()
    options.init = None
    gpt_step.weights.save_hdf5(options.path, gpt_step.gpt.weights_of(gpt_step.make_model(options)))


if __name__ == "__main__":
    main()
