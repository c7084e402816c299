// Rows A3, A4, B4, J1, J3, J4, J6 to J8, J10, T-4, X5 and X29: casts and moves of whole trees, and
// devices that no build has.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <complex>
#include <functional>

#include <tessera/core/base/context.h>
#include <tessera/core/base/log.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/sum.h>
#include <tessera/nn/layers/lazy.h>

#include "models.h"
#include "support/error_of.h"
#include "support/meta.h"

namespace tessera::nn::contract {
namespace {

using testing_support::error_of;
using testing_support::expect_begins;
using testing_support::kMeta;

/// A child's slot under a second name, and tensors of several dtypes.
struct TiedWithCount : TiedOuter {
  Buffer count{this, "count", zeros({}, {.dtype = DType::i64})};
};

TEST(T_4, a_conversion_reaches_the_whole_tree_of_members) {
  const auto model = make<TiedWithCount>();
  model->to(DType::f64);
  for (const auto& [name, slot] : model->named_slots()) {
    EXPECT_EQ(slot->value.dtype(), name == "count" ? DType::i64 : DType::f64) << name;
  }
}

TEST(J1, complex_targets_are_warned_of_once_and_can_be_computed_with) {
  const ContextScope context(std::make_shared<Context>());
  std::string logged;
  const LogSinkScope sink([&](LogLevel, std::string_view line) { logged += line; });
  const auto model = make<Linear>(2, 2);
  model->to(DType::c128);
  model->to(DType::c64).to(DType::c128);
  EXPECT_NE(logged.find("complex"), std::string::npos);
  EXPECT_EQ(logged.find("complex"), logged.rfind("complex"));
  const Tensor y = model(full({1, 2}, 1, {.dtype = DType::c128}));
  EXPECT_EQ(y.dtype(), DType::c128);
}

TEST(J1, the_dtype_of_a_tensor_of_integers_is_refused) {
  const auto model = make<TiedWithCount>();
  EXPECT_EQ(error_of<TypeError>([&] { model->to(zeros({1}, {.dtype = DType::i64})); }),
            "to(): floating or complex dtype required, got i64");
}

TEST(J1, a_move_that_fails_changes_nothing) {
  const auto model = make<Outer>();
  model->last->to(kMeta);
  const Tensor before = model->inner->scale->factor;
  EXPECT_THROW(model->to(Device{}, DType::f64), NotImplementedError);
  EXPECT_TRUE(before.is(model->inner->scale->factor));
  EXPECT_EQ(model->last->factor.value().dtype(), DType::f32);
  EXPECT_EQ(model->last->factor.slot()->dtype, DType::f32);
}

TEST(J1, non_blocking_is_taken_by_every_form) {
  const auto model = make<Outer>();
  model->to(DType::f64, true).to(Device{}, DType::f32, true).to(zeros({1}), true);
  EXPECT_EQ(model->last->factor.value().dtype(), DType::f32);
}

TEST(J3, type_takes_a_dtype_or_its_name_and_reaches_integers) {
  const auto model = make<TiedWithCount>();
  EXPECT_EQ(&model->type(DType::f64), model.get());
  EXPECT_EQ(model->count.value().dtype(), DType::f64);
  EXPECT_EQ(model->type("bf16").get_buffer("count")->dtype(), DType::bf16);
  EXPECT_EQ(model->last->factor.slot(), model->inner->scale->factor.slot());
  EXPECT_THROW(model->type("float8"), InvalidArgument);
}

/// That `move` is refused for a device called `name`, and changes nothing.
template <class Move>
void expect_absent(const std::string& name, const Move& move) {
  const auto model = make<TiedWithCount>();
  const Tensor before = model->last->factor;
  expect_begins(error_of<NotImplementedError>([&] { move(*model); }),
                "device: not available in this build; got " + name + ", expected cpu");
  EXPECT_TRUE(before.is(model->last->factor));
  EXPECT_EQ(Device::parse(name + ":1").index, 1);
}

TEST(J6, xpu) {
  expect_absent("xpu", [](Module& m) { m.xpu(); });
  expect_absent("xpu", [](Module& m) { m.xpu(1); });
}

TEST(J7, ipu) {
  expect_absent("ipu", [](Module& m) { m.ipu(); });
  expect_absent("ipu", [](Module& m) { m.to_empty(Device::parse("ipu")); });
}

TEST(J8, mtia) {
  expect_absent("mtia", [](Module& m) { m.mtia(); });
  expect_absent("mtia", [](Module& m) { m.to(Device::parse("mtia:1"), DType::f64); });
}

TEST(A3, devices_that_no_build_has_are_refused) {
  const ModuleOptions options{.devices = {Device::parse("xpu:0")}};
  expect_begins(error_of<NotImplementedError>([&] { make<Linear>(options, 2, 2); }),
                "device: not available in this build; got xpu, expected cpu");
}

TEST(A3, device_reaches_all_below) {
  const auto model = make<Outer>(ModuleOptions{.device = Device::parse("meta")});
  EXPECT_EQ(model->inner->scale->factor.value().device(), Device::parse("meta"));
  EXPECT_EQ(model->inner->device(), Device::parse("meta"));
  EXPECT_EQ(make<Outer>()->device(), Device());
}

TEST(A4, devices_reach_all_below_and_the_first_is_that_of_new_state) {
  const std::vector<Device> devices{Device::parse("meta"), Device::parse("cpu")};
  const auto model = make<Outer>(ModuleOptions{.devices = devices});
  EXPECT_EQ(model->inner->scale->devices(), devices);
  EXPECT_EQ(model->inner->scale->factor.value().device(), devices[0]);
}

TEST(X29, devices_are_kept_and_hold_the_device) {
  const std::vector<Device> devices{Device::parse("meta"), Device::parse("cpu")};
  const auto model = make<Linear>(ModuleOptions{.devices = devices}, 3, 4);
  EXPECT_EQ(model->devices(), devices);
  EXPECT_EQ(model->device(), devices[0]);
  EXPECT_EQ(make<Linear>(3, 4)->devices(), std::vector<Device>{Device()});
  EXPECT_EQ(error_of<ValueError>([&] {
              make<Linear>(ModuleOptions{.device = Device::parse("cuda:1"), .devices = devices}, 3,
                           4);
            }),
            "ModuleOptions: the device is none of devices; got cuda:1");
}

TEST(J10, shared_memory_keeps_values_ties_and_gradients) {
  const auto model = make<TiedWithCount>();
  sum(model(ones({3}))).backward();
  const auto value = model->last->factor.value().to_vector<float>();
  const void* before = model->last->factor.value().raw_data();
  EXPECT_EQ(&model->share_memory(), model.get());
  EXPECT_NE(model->last->factor.value().raw_data(), before);
  EXPECT_EQ(model->last->factor.value().to_vector<float>(), value);
  EXPECT_EQ(model->last->factor.slot(), model->inner->scale->factor.slot());
  EXPECT_EQ(model->last->factor.grad().to_vector<float>(), (std::vector<float>{5, 5, 5}));
  EXPECT_TRUE(model->last->factor.value().requires_grad());
  EXPECT_EQ(error_of<RuntimeError>([] { make<LazyLinear>(2)->share_memory(); }),
            "share_memory: \"weight\" is uninitialised");
}

TEST(X5, to_empty_reaches_children_unless_told_otherwise) {
  const auto model = make<Outer>();
  model->to_empty(kMeta);
  EXPECT_EQ(model->inner->scale->factor.value().device(), kMeta);
  model->to_empty(Device{}, false);
  EXPECT_EQ(model->inner->scale->factor.value().device(), kMeta);
}

/// Beside what has values, layers that do not yet, or keep none.
struct Waiting : Module {
  Child<Scale> known{this, "known"};
  Child<LazyLinear> lazy{this, "lazy", 2};
  Child<Linear> given{this, "given", ModuleOptions{.store_vars = false}, 2, 2};
};

TEST(B4, moves_reach_what_has_no_value_yet) {
  const std::vector<std::function<void(Module&)>> moves{
      [](Module& m) { m.to(Device{}, DType::f64); },
      [](Module& m) { m.to(zeros({1}, {.dtype = DType::f64})); },
      [](Module& m) { m.to(kMeta, DType::f64).to_empty(Device{}).cpu(); }};
  for (const auto& move : moves) {
    const auto model = make<Waiting>();
    move(*model);
    for (const auto& [name, slot] : model->named_slots()) {
      EXPECT_EQ(slot->dtype, DType::f64) << name;
    }
    model->lazy(ones({1, 3}, {.dtype = DType::f64}));
    EXPECT_EQ(model->lazy->weight.value().dtype(), DType::f64);
    EXPECT_EQ(model->given->build().variables.at("weight").dtype(), DType::f64);
  }
}

TEST(J4, cpu_of_what_is_not_built) {
  const auto model = make<Linear>(ModuleOptions{.build_mode = BuildMode::explicitly}, 2, 2);
  model->cpu().build();
  EXPECT_EQ(model->weight.value().device(), Device{});
}

TEST(J1, a_conversion_that_fails_where_there_is_no_value_changes_nothing) {
  const auto model = make<Waiting>();
  const Tensor before = model->known->factor;
  EXPECT_THROW(detail::for_each_slot_storage(*model,
                                             [](const Tensor& x) {
                                               check(x.ndim() > 0, "no shape");
                                               return cast(x, DType::f64);
                                             }),
               InvalidArgument);
  EXPECT_TRUE(before.is(model->known->factor));
  EXPECT_EQ(model->known->factor.slot()->dtype, DType::f32);
}

}  // namespace
}  // namespace tessera::nn::contract
