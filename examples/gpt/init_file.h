// Starting from weights in a file.
#pragma once

#include <string>

#include <tessera/dist/comm/communicator.h>
#include <tessera/nn/module.h>

/// Copies the weights of an HDF5 or safetensors file, with nanoGPT's names (or model/NAME) or those
/// of OpenAI's GPT-2 as Hugging Face publishes it, into `model` on all ranks. Only rank 0 reads.
/// `lm_head.weight` may be absent when it is tied.
/// Throws InvalidArgument naming file and tensor when they do not fit.
void load_init(tessera::nn::Module& model, const std::string& path,
               tessera::dist::Communicator& comm);
