#include "init_file.h"

#include <algorithm>

#include <tessera/core/tensor/factories.h>
#include <tessera/dist/comm/collectives.h>
#include <tessera/dist/comm/share_text.h>
#include <tessera/dist/comm/status_board.h>
#include <tessera/nn/io/array_file.h>
#include <tessera/nn/io/safetensors.h>

namespace nn = tessera::nn;
namespace dist = tessera::dist;
using tessera::Tensor;

namespace {

nn::StateDict read_hdf5(const std::string& path) {
  const auto reader = nn::open_array_file(path);
  nn::StateDict state;
  for (const nn::ArrayInfo& array : reader->arrays()) {
    const std::string prefix = "model/";
    const bool prefixed = array.path.starts_with(prefix);
    if (!prefixed && array.path.find('/') != std::string::npos) {
      continue;  // optimizer state and the like
    }
    Tensor value = tessera::empty(array.shape, {.dtype = array.dtype});
    reader->read(array.path, {static_cast<std::byte*>(value.raw_data()), value.nbytes()});
    state.set(prefixed ? array.path.substr(prefix.size()) : array.path, value);
  }
  return state;
}

nn::StateDict read_safetensors(const std::string& path) {
  const auto reader = nn::open_safetensors(path);
  nn::StateDict state;
  for (const nn::ArrayInfo& array : reader->arrays()) {
    Tensor value = tessera::empty(array.shape, {.dtype = array.dtype});
    reader->read(array.path, {static_cast<std::byte*>(value.raw_data()), value.nbytes()});
    state.set(array.path, value);
  }
  return state;
}

/// A tied head may be named or not; it has no weights of its own.
void add_tied(nn::Module& model, nn::StateDict& state) {
  for (const auto& [name, slot] : model.named_slots()) {
    if (!state.contains(name) && state.contains(slot->name)) {
      state.set(name, state.at(slot->name));
    }
  }
}

/// The first of the problems that load_state_dict lists, a line each, and how many there are.
std::string first_problem(const std::string& text) {
  constexpr std::size_t kLongest = 160;
  const std::size_t begin = text.find("\n\t");
  if (begin == std::string::npos) {
    return text;
  }
  std::string problem = text.substr(begin + 2, text.find('\n', begin + 1) - begin - 2);
  if (problem.size() > kLongest) {
    problem = problem.substr(0, kLongest) + "...";
  }
  const auto problems = std::ranges::count(text, '\n');
  return "does not fit the model: " + problem +
         (problems > 1 ? ", and " + std::to_string(problems - 1) + " more" : "");
}

std::string load_here(nn::Module& model, const std::string& path) {
  try {
    nn::StateDict state = path.ends_with(".safetensors") ? read_safetensors(path) : read_hdf5(path);
    add_tied(model, state);
    model.load_state_dict(state);
    return "";
  } catch (const tessera::Error& error) {
    return "--init " + path + ": " + first_problem(error.what());
  }
}

}  // namespace

void load_init(nn::Module& model, const std::string& path, dist::Communicator& comm) {
  std::string error;
  if (comm.rank() == 0) {
    const dist::BusyScope busy(comm, "reads --init");
    error = load_here(model, path);
  }
  error = dist::share_text(comm, error, 0, "--init");
  tessera::check(error.empty(), error);
  for (const nn::Parameter& parameter : model.parameters()) {
    const Tensor value = parameter;
    dist::broadcast(comm, std::span(value.data<float>(), static_cast<std::size_t>(value.numel())),
                    0, parameter.name())
        .wait();
  }
}
