#include "data.h"

#include <utility>

#include <tessera/nn/data/bytes.h>

namespace data = tessera::data;

bool holds_tokens(const std::string& path) {
  return path.ends_with(".bin");
}

data::TokenSequence load_tokens(const std::string& path) {
  if (holds_tokens(path)) {
    return data::TokenSequence(tessera::nn::read_tokens(path));
  }
  const std::string text = tessera::nn::read_text(path);
  return data::TokenSequence(std::vector<std::uint8_t>(text.begin(), text.end()));
}

data::TokenWindows cut_windows(data::TokenSequence tokens, const Options& o) {
  return data::TokenWindows(std::move(tokens), {.context = o.context, .vocab = o.vocab});
}

data::LoaderOptions loader_options(const Options& o) {
  return {.batch_size = o.batch,
          .shuffle = o.order == "shuffled",
          .join_epochs = true,
          .steps = o.steps,
          .grain = o.grain,
          .at_once = o.at_once};
}
