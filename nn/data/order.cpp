#include <tessera/nn/data/order.h>

#include <tessera/core/base/error.h>
#include <tessera/core/base/philox.h>
#include <tessera/nn/data/permutation.h>

namespace tessera::data {

std::string_view to_string(Order order) noexcept {
  return order == Order::sequential ? "sequential" : "shuffled";
}

Order parse_order(std::string_view text) {
  for (const Order order : {Order::sequential, Order::shuffled}) {
    if (text == to_string(order)) {
      return order;
    }
  }
  fail<InvalidArgument>("order: unknown; got \"", text, "\", expected sequential or shuffled");
}

std::int64_t window_of(Order order, std::uint64_t seed, std::int64_t windows, std::int64_t sample) {
  const std::int64_t place = sample % windows;
  if (order == Order::sequential) {
    return place;
  }
  const auto epoch = static_cast<std::uint64_t>(sample / windows);
  return Permutation(windows, mix(mix(seed, hash_name("data order")), epoch))[place];
}

}  // namespace tessera::data
