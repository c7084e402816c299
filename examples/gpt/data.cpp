#include "data.h"

#include <tessera/nn/data/bytes.h>

namespace data = tessera::data;

data::TokenSequence load_tokens(const std::string& path) {
  if (path.ends_with(".bin")) {
    return data::TokenSequence(tessera::nn::read_tokens(path));
  }
  const std::string text = tessera::nn::read_text(path);
  return data::TokenSequence(std::vector<std::uint8_t>(text.begin(), text.end()));
}

data::LoaderOptions loader_options(const Options& o) {
  return {.batch = o.batch,
          .context = o.context,
          .grain = o.grain,
          .at_once = o.at_once,
          .vocab = o.vocab,
          .order = o.order == "shuffled" ? data::Order::shuffled : data::Order::sequential,
          .steps = o.steps};
}
