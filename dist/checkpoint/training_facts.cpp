#include <tessera/dist/checkpoint/training_facts.h>

#include <nlohmann/json.hpp>

#include <tessera/core/base/error.h>

namespace tessera::dist {
namespace {

using Json = nlohmann::json;

Json json_of(const data::LoaderState& loader) {
  return {{"position", loader.position},
          {"batch", loader.batch},
          {"context", loader.context},
          {"grain", loader.grain},
          {"order", static_cast<int>(loader.order)},
          {"seed", loader.seed},
          {"tokens", loader.tokens},
          {"hash", loader.hash}};
}

data::LoaderState loader_from(const Json& json) {
  return {.position = json.at("position"),
          .batch = json.at("batch"),
          .context = json.at("context"),
          .grain = json.at("grain"),
          .order = static_cast<data::Order>(json.at("order").get<int>()),
          .seed = json.at("seed"),
          .tokens = json.at("tokens"),
          .hash = json.at("hash")};
}

}  // namespace

std::string to_json(const TrainingFacts& facts) {
  const Json json{{"step", facts.step},
                  {"options", facts.options},
                  {"loader", json_of(facts.loader)},
                  {"optimizer", facts.optimizer},
                  {"optimizer_tensors", facts.optimizer_tensors},
                  {"seed", facts.seed},
                  {"batches", facts.batches}};
  return json.dump();
}

TrainingFacts facts_from_json(const std::string& text, const std::string& file) {
  try {
    const Json json = Json::parse(text);
    return {.step = json.at("step"),
            .options = json.at("options").get<FixedOptions>(),
            .loader = loader_from(json.at("loader")),
            .optimizer = json.at("optimizer").get<std::vector<std::pair<std::string, double>>>(),
            .optimizer_tensors = json.at("optimizer_tensors").get<std::vector<std::string>>(),
            .seed = json.at("seed"),
            .batches = json.at("batches")};
  } catch (const Json::exception& error) {
    fail<IoError>(file, ": the attribute \"training\" cannot be read: ", error.what());
  }
}

}  // namespace tessera::dist
