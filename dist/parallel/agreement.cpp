#include <tessera/dist/parallel/agreement.h>

#include <algorithm>

#include <tessera/core/autograd/hooks.h>
#include <tessera/core/autograd/meta.h>
#include <tessera/core/base/error.h>
#include <tessera/core/base/hash.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/tensor/transfer.h>
#include <tessera/dist/comm/collectives.h>

namespace tessera::dist {
namespace {

std::string serialize(const Facts& facts) {
  std::string text;
  for (const auto& [name, value] : facts) {
    text += name + '\0' + value + '\0';
  }
  return text;
}

Facts parse(std::string_view text) {
  Facts facts;
  const auto next = [&text] {
    const std::size_t end = text.find('\0');
    std::string field(text.substr(0, end));
    text.remove_prefix(std::min(text.size(), end + 1));
    return field;
  };
  while (!text.empty()) {
    std::string name = next();
    facts.emplace_back(std::move(name), next());
  }
  return facts;
}

/// Every rank's text. Lengths first, so that ranks that differ in number of facts still meet.
std::vector<std::string> gather(Communicator& comm, const std::string& mine) {
  const auto ranks = static_cast<std::size_t>(comm.size());
  const std::vector<std::int64_t> length{static_cast<std::int64_t>(mine.size())};
  std::vector<std::int64_t> lengths(ranks);
  all_gather<std::int64_t>(comm, length, lengths, "agreement").wait();
  const auto width = static_cast<std::size_t>(std::ranges::max(lengths));
  std::vector<std::uint8_t> padded(width);
  std::ranges::copy(mine, padded.begin());
  std::vector<std::uint8_t> all(width * ranks);
  all_gather<std::uint8_t>(comm, padded, all, "agreement").wait();
  std::vector<std::string> texts;
  for (std::size_t r = 0; r < ranks; ++r) {
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(r * width);
    texts.emplace_back(begin, begin + lengths[r]);
  }
  return texts;
}

std::string describe(const Facts& facts, std::size_t i) {
  return i < facts.size() ? facts[i].first + " = " + facts[i].second : "nothing";
}

std::uint64_t hash_of(const Tensor& value) {
  return value.defined() ? hash_elements(value) : 0;  // a first call still has to make it
}

}  // namespace

void require_agreement(Communicator& comm, const std::string& what, const Facts& facts) {
  const std::vector<std::string> texts = gather(comm, serialize(facts));
  const auto other = std::ranges::find_if(texts, [&](const auto& t) { return t != texts[0]; });
  if (other == texts.end()) {
    return;
  }
  const Facts first = parse(texts[0]);
  const Facts second = parse(*other);
  std::size_t i = 0;
  while (i < first.size() && i < second.size() && first[i] == second[i]) {
    ++i;
  }
  fail<Disagreement>(what, ": ranks differ; rank ", comm.world_rank(0), " has ", describe(first, i),
                     ", rank ", comm.world_rank(static_cast<int>(other - texts.begin())), " has ",
                     describe(second, i));
}

std::uint64_t fingerprint_of(const Facts& facts) {
  const std::string text = serialize(facts);
  return hash_bytes(std::as_bytes(std::span(text)));
}

Facts facts_of(const nn::Module& model) {
  Facts facts;
  for (const auto& [name, slot] : model.named_slots()) {
    const bool trained = slot->value.defined() && slot->value.requires_grad();
    const char* kind = trained ? ", trained" : ", frozen";
    kind = slot->kind == nn::Slot::Kind::parameter ? kind : "";
    const LeafNode* leaf = known_leaf_of(slot->value);
    const bool hooked = leaf != nullptr && leaf->hooks != nullptr && !leaf->hooks->empty();
    facts.emplace_back(name, tessera::detail::concat(slot->shape, ' ', slot->dtype, kind,
                                                     hooked ? ", with gradient hooks" : "",
                                                     ", value hash ", hash_of(slot->value)));
  }
  return facts;
}

}  // namespace tessera::dist
