#include <tessera/dist/common_numerics.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include <tessera/core/base/error.h>
#include <tessera/core/base/log.h>
#include <tessera/core/base/numerics_fingerprint.h>
#include <tessera/dist/comm/collectives.h>

namespace tessera::dist {
namespace {

/// The place of `value` among the options; their number if it is none of them.
std::int64_t place_of(const std::vector<std::string>& options, const std::string& value) {
  return std::ranges::find(options, value) - options.begin();
}

std::vector<std::int64_t> of_all_ranks(Communicator& comm, std::int64_t mine) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(comm.size()));
  all_gather<std::int64_t>(comm, std::span(&mine, 1), std::span(all), "facts of bits").wait();
  return all;
}

}  // namespace

std::optional<int> first_rank_where(Communicator& comm, bool holds) {
  const std::vector<std::int64_t> all = of_all_ranks(comm, holds ? 1 : 0);
  const auto first = std::ranges::find(all, 1);
  return first == all.end() ? std::nullopt : std::optional(static_cast<int>(first - all.begin()));
}

void choose_common_numerics(Communicator& comm) {
  for (const NumericsFact* fact : chosen_numerics_facts()) {
    const std::vector<std::string> options = fact->choice().options();
    const std::int64_t mine = place_of(options, fact->value());
    const auto [least, most] = std::ranges::minmax(of_all_ranks(comm, mine));
    if (least == most) {
      continue;
    }
    const std::string& common = options[static_cast<std::size_t>(least)];
    if (mine > least) {
      fact->choice().choose(common);
    }
    if (comm.rank() == 0) {
      log_info(fact->name(), ": all ranks use ", common, ", the best that they have in common");
    }
  }
}

std::function<void()> numerics_of_run(Communicator& comm, const std::string& name,
                                      const std::string& value) {
  const std::vector<const NumericsFact*> facts = chosen_numerics_facts();
  const auto found =
      std::ranges::find_if(facts, [&](const NumericsFact* fact) { return fact->name() == name; });
  const bool open = found != facts.end() && !(*found)->choice().setting->is_given();
  if (first_rank_where(comm, !open)) {
    return nullptr;
  }
  const std::vector<std::string> options = (*found)->choice().options();
  const bool lacks = place_of(options, value) == std::ssize(options);
  if (const std::optional<int> rank = first_rank_where(comm, lacks)) {
    fail<Unsupported>(name, ": the run began with ", value, ", which the CPU of rank ",
                      comm.world_rank(*rank), " lacks; ", (*found)->choice().setting->name(), "=",
                      options.back(), " goes on with other bits");
  }
  return [fact = *found, value] { fact->choice().choose(value); };
}

}  // namespace tessera::dist
