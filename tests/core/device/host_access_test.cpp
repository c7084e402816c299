// What touches tensors on the host, on devices of all kinds.
#include "support/host_access.h"

#include <sstream>

#include <tessera/core/base/context.h>
#include <tessera/core/ops/index.h>
#include <tessera/core/ops/multinomial.h>
#include <tessera/core/ops/one_hot.h>
#include <tessera/core/ops/reshape.h>
#include <tessera/core/ops/transpose.h>
#include <tessera/core/tensor/dlpack.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/core/tensor/transfer.h>

namespace tessera {
namespace {

using Numbers = std::vector<double>;
using test::HostAccess;

Tensor matrix_on(const Device& device) {
  return transpose(reshape(on_device(tensor({3.F, 0.F, 1.F, 0.F, 5.F, 2.F}), device), {2, 3}));
}

Tensor mask_on(const Device& device) {
  return on_device(from_values<bool>({true, false, false, true, true, false}, {3, 2}), device);
}

Numbers letters_of(const Tensor& x) {
  std::ostringstream text;
  text << to_host(x);
  std::ostringstream there;
  there << x;
  EXPECT_TRUE(there.str().starts_with(text.str().substr(0, text.str().size() - 1)));
  const std::string letters = text.str();
  return {letters.begin(), letters.end()};
}

Numbers all_of(const std::vector<Tensor>& lists) {
  Numbers all;
  for (const Tensor& list : lists) {
    const Numbers one = list.to_vector<double>();
    all.insert(all.end(), one.begin(), one.end());
  }
  return all;
}

Numbers assigned(const Device& device, const auto& value) {
  const Tensor x = on_device(matrix_on(Device{}), device);
  assign(x, {mask_on(device)}, value);
  return x.to_vector<double>();
}

Numbers handed_out(const Tensor& x) {
  dlpack::ManagedTensor* managed = to_dlpack(x);
  return from_dlpack(managed).to_vector<double>();
}

std::vector<HostAccess> readers() {
  return {
      {"to_vector", [](const Device& d) { return matrix_on(d).to_vector<double>(); }},
      {"item", [](const Device& d) { return Numbers{full({1}, 3, {.device = d}).item()}; }},
      {"item of a bool",
       [](const Device& d) { return Numbers{full({}, 1, {.device = d}).item<bool>() ? 1. : 0.}; }},
      {"printing", [](const Device& d) { return letters_of(matrix_on(d)); }},
      {"to_host", [](const Device& d) { return to_host(matrix_on(d)).to_vector<double>(); }},
      {"hash_elements",
       [](const Device& d) { return Numbers{static_cast<double>(hash_elements(matrix_on(d)))}; }},
      {"nonzero", [](const Device& d) { return all_of(nonzero(matrix_on(d))); }},
      {"data", [](const Device& d) { return Numbers{*matrix_on(d).data<float>()}; }, false, true},
      {"to_dlpack", [](const Device& d) { return handed_out(matrix_on(d)); }, true, true},
  };
}

std::vector<HostAccess> choosers() {
  return {
      {"index by a mask",
       [](const Device& d) { return index(matrix_on(d), {mask_on(d)}).to_vector<double>(); }, true},
      {"index by a mask that is one bool",
       [](const Device& d) {
         const Tensor yes = on_device(from_values<bool>({true}, {}), d);
         return index(matrix_on(d), {yes}).to_vector<double>();
       },
       true},
      {"index by positions",
       [](const Device& d) {
         const Tensor rows = on_device(tensor<std::int32_t>({2, 0}), d);
         return index(matrix_on(d), {rows}).to_vector<double>();
       },
       true},
      {"assign a number", [](const Device& d) { return assigned(d, 7); }, true},
      {"assign a tensor",
       [](const Device& d) {
         return assigned(d, on_device(tensor({7.F, 8.F, 9.F}), d));
       },
       true},
      {"one_hot",
       [](const Device& d) {
         return one_hot(on_device(tensor<std::int64_t>({1, 0}), d), 3).to_vector<double>();
       },
       true},
      {"multinomial",
       [](const Device& d) {
         set_seed(2);
         return multinomial(matrix_on(d), 1).to_vector<double>();
       },
       true},
  };
}

std::vector<HostAccess> makers() {
  const auto made = [](const auto& make) {
    return [make](const Device& d) {
      set_seed(3);
      return make(TensorOptions{.device = d}).template to_vector<double>();
    };
  };
  using Options = TensorOptions;
  return {
      {"zeros", made([](const Options& there) {
         return zeros({2, 3}, there);
       })},
      {"ones", made([](const Options& there) {
         return ones({2, 3}, there);
       })},
      {"full", made([](const Options& there) {
         return full({2, 3}, 4, there);
       })},
      {"arange", made([](const Options& there) { return arange(1, 5, 2, there); })},
      {"eye", made([](const Options& there) { return eye(3, there); })},
      {"rand", made([](const Options& there) { return rand({5}, there); })},
      {"randn", made([](const Options& there) { return randn({5}, there); })},
      {"zeros_like", made([](const Options& there) { return zeros_like(eye(3, there)); })},
      {"transfer", made([](const Options& there) {
         Tensor x = empty({3}, there);
         transfer(x, tensor({1.F, 2.F, 3.F}));
         return x;
       })},
      {"set_to_zero", made([](const Options& there) {
         Tensor x = ones({3}, there);
         set_to_zero(x);
         return x;
       })},
  };
}

TEST(HostAccess, works_on_any_device_or_is_refused) {
  test::GuardedRun run(1);
  for (const auto& accesses : {readers(), choosers(), makers()}) {
    for (const HostAccess& access : accesses) {
      test::expect_same_or_refused(access);
    }
  }
  EXPECT_EQ(run.reports(), std::vector<std::string>{});
}

TEST(HostAccess, needs_no_copy_where_the_host_reaches_the_memory) {
  const Tensor x = full({2}, 3, {.device = test::open_device()});
  x.data<float>()[0] = 4;
  EXPECT_TRUE(to_host(x).shares_storage(x));
  EXPECT_EQ(to_host(x).device(), Device{});
  EXPECT_FALSE(on_device(x, Device{}).shares_storage(x));
  EXPECT_EQ(x.to_vector<float>(), (std::vector<float>{4, 3}));
}

}  // namespace
}  // namespace tessera
