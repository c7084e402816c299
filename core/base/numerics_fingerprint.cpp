#include <tessera/core/base/numerics_fingerprint.h>

#include <algorithm>
#include <iterator>
#include <mutex>

namespace tessera {
namespace {

struct BitFactTable {
  std::mutex mutex;
  std::vector<const NumericsFact*> facts;
};

// Never destroyed: facts of other files may outlive any static of this one.
BitFactTable& fact_table() {
  static auto* const instance = new BitFactTable;
  return *instance;
}

}  // namespace

NumericsFact::NumericsFact(const char* name, std::string (*ask)(), const NumericsChoice& choice)
    : name_(name), value_(ask), choice_(choice) {
  const std::lock_guard lock(fact_table().mutex);
  fact_table().facts.push_back(this);
}

NumericsFact::~NumericsFact() {
  const std::lock_guard lock(fact_table().mutex);
  std::erase(fact_table().facts, this);
}

std::vector<const NumericsFact*> chosen_numerics_facts() {
  std::vector<const NumericsFact*> facts;
  const std::lock_guard lock(fact_table().mutex);
  std::ranges::copy_if(fact_table().facts, std::back_inserter(facts),
                       [](const NumericsFact* fact) { return fact->choice().options != nullptr; });
  std::ranges::sort(facts, {}, [](const NumericsFact* fact) { return std::string(fact->name()); });
  return facts;
}

std::vector<std::pair<std::string, std::string>> numerics_fingerprint() {
  std::vector<std::pair<std::string, std::string>> facts;
  const std::lock_guard lock(fact_table().mutex);
  for (const NumericsFact* fact : fact_table().facts) {
    facts.emplace_back(fact->name(), fact->value());
  }
  std::ranges::sort(facts);
  return facts;
}

}  // namespace tessera
