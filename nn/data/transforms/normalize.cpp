#include <tessera/nn/data/transforms/normalize.h>

#include <algorithm>
#include <span>
#include <utility>

#include <tessera/core/base/error.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/support/arithmetic.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/core/tensor/transfer.h>
#include <tessera/nn/data/transforms/picture.h>

namespace tessera::data {

Normalize::Normalize(std::vector<double> mean, std::vector<double> std)
    : mean_(std::move(mean)), std_(std::move(std)) {
  check<ValueError>(!mean_.empty() && mean_.size() == std_.size(),
                    "Normalize: mean and std need a number each for every channel; got ",
                    mean_.size(), " and ", std_.size());
  check<ValueError>(std::ranges::all_of(std_, [](double x) { return x > 0; }),
                    "Normalize: a std is not positive");
}

Tensor Normalize::operator()(const Tensor& x) const {
  check_picture("Normalize", x);
  check<TypeError>(is_floating(x.dtype()), "Normalize: got ", x.dtype(),
                   ", expected a floating dtype (ToFloat makes one of u8)");
  const auto channels = std::ssize(mean_);
  check(channels == 1 || channels == x.size(0), "Normalize: another number of channels; got ",
        x.size(0), ", expected ", channels);
  const auto by_channel = [&](const std::vector<double>& values) {
    const Tensor all = from_values(std::span<const double>(values), {channels, 1, 1});
    return on_device(cast(all, x.dtype()), x.device());
  };
  return (x - by_channel(mean_)) / by_channel(std_);
}

}  // namespace tessera::data
