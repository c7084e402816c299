#include "init_file.h"

#include <algorithm>

#include <tessera/core/base/busy_scope.h>
#include <tessera/dist/comm/collectives.h>
#include <tessera/dist/comm/share_text.h>
#include <tessera/nn/io/weights.h>

namespace nn = tessera::nn;
namespace dist = tessera::dist;
using tessera::Tensor;

namespace {

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

/// Whether the file's matrices are (in, out), as in Hugging Face's GPT-2; nanoGPT's are (out, in).
/// Only the wide ones tell.
bool holds_gpt2(const std::string& path, nn::Format format) {
  const auto reader = nn::open_weights(path, format);
  return std::ranges::any_of(reader->arrays(), [](const nn::ArrayInfo& array) {
    const bool wide =
        array.path.ends_with("mlp.c_fc.weight") || array.path.ends_with("mlp/c_fc/weight");
    return wide && array.shape.size() == 2 && array.shape[0] < array.shape[1];
  });
}

std::string load_here(nn::Module& model, const std::string& path) {
  try {
    const nn::Format format = nn::format_of(path);
    const bool gpt2 = holds_gpt2(path, format);
    nn::import_weights(model, path, format, gpt2 ? nn::name_maps::from_gpt2() : nn::NameMap{});
    return "";
  } catch (const tessera::Error& error) {
    return "--init " + path + ": " + first_problem(error.what());
  }
}

}  // namespace

void load_init(nn::Module& model, const std::string& path, dist::Communicator& comm) {
  std::string error;
  if (comm.rank() == 0) {
    const tessera::BusyScope busy("reads --init");
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
