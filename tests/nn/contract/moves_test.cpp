// Rows J1 to J11, P-8, P-9, T-1, T-4, X5, X22, X37 and X38: casts and moves.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tessera/core/autograd/hooks.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/sum.h>
#include <tessera/nn/optim/adamw.h>

#include "models.h"
#include "support/error_of.h"
#include "support/meta.h"

namespace tessera::nn::contract {
namespace {

using testing_support::error_of;
using testing_support::expect_begins;
using testing_support::kMeta;

/// One tensor of each sort.
struct Sorts : Module {
  Parameter weight{this, "weight", {2}, init::constant(1.5)};
  Buffer count{this, "count", zeros({}, {.dtype = DType::i64})};
  Buffer wave{this, "wave", zeros({1}, {.dtype = DType::c64})};
  Child<Scale> scale{this, "scale"};
};

std::string dtypes_of(const Module& module) {
  std::string text;
  for (const auto& [name, slot] : module.named_slots()) {
    text += std::string(to_string(slot->value.dtype())) + " ";
    EXPECT_EQ(slot->value.dtype(), slot->dtype);
  }
  return text;
}

TEST(J1, a_cast_reaches_the_whole_tree_but_not_integers) {
  const auto model = make<Sorts>();
  EXPECT_EQ(&model->to(DType::f64), model.get());
  EXPECT_EQ(dtypes_of(*model), "f64 i64 f64 f64 ");
  EXPECT_EQ(dtypes_of(model->to(DType::c128)), "c128 i64 c128 c128 ");
}

TEST(J1, integers_are_no_target) {
  const auto model = make<Sorts>();
  EXPECT_EQ(error_of<TypeError>([&] { model->to(DType::i32); }),
            "to(): floating or complex dtype required, got i32");
  EXPECT_EQ(error_of<TypeError>([&] { model->to(Device{}, DType::boolean); }),
            "to(): floating or complex dtype required, got bool");
}

TEST(J1, device_and_dtype_of_a_tensor) {
  const auto model = make<Sorts>();
  model->to(zeros({1}, {.dtype = DType::f64}));
  EXPECT_EQ(dtypes_of(*model), "f64 i64 f64 f64 ");
  model->to(Device{}, DType::f32);
  EXPECT_EQ(dtypes_of(*model), "f32 i64 f32 f32 ");
}

TEST(J1, gradients_follow) {
  const auto model = make<Scale>();
  sum(model(ones({3}))).backward();
  model->to(DType::f64);
  EXPECT_EQ(model->factor.grad().dtype(), DType::f64);
  EXPECT_EQ(model->factor.grad().to_vector<double>(), (std::vector<double>{1, 1, 1}));
}

TEST(J1, gradients_and_hooks_of_frozen_parameters_follow) {
  const auto model = make<Scale>();
  sum(model(ones({3}))).backward();
  int seen = 0;
  const ScopedHandle counting = register_gradient_hook(model->factor, [&](const Tensor& g) {
    ++seen;
    return g;
  });
  model->requires_grad_(false).to(DType::f64);
  EXPECT_EQ(model->factor.grad().to_vector<double>(), (std::vector<double>{1, 1, 1}));
  EXPECT_FALSE(model->factor.value().requires_grad());
  model->load_state_dict(model->clone()->state_dict(), {.assign = true});
  model->requires_grad_(true);
  sum(model(ones({3}, {.dtype = DType::f64}))).backward();
  EXPECT_EQ(seen, 1);
}

TEST(J1, ties_and_hooks_stay) {
  const auto model = make<TiedOuter>();
  int seen = 0;
  register_ready_hook(model->last->factor, [&](LeafNode&) { ++seen; });
  const RemovableHandle doubling =
      register_gradient_hook(model->last->factor, [](const Tensor& g) { return g * 2.0; });
  model->to(DType::f64);
  EXPECT_EQ(model->last->factor.slot(), model->inner->scale->factor.slot());
  const Tensor x = ones({3}, {.dtype = DType::f64});
  sum(model(x)).backward();
  EXPECT_EQ(seen, 1);
  const std::vector<double> doubled = model->last->factor.grad().to_vector<double>();
  EXPECT_EQ(doubled, (std::vector<double>{10, 10, 10}));  // d/df of (f + 1) f, twice
  doubling.remove();
  model->zero_grad();
  sum(model(x)).backward();
  EXPECT_EQ(model->last->factor.grad().to_vector<double>(), (std::vector<double>{5, 5, 5}));
}

TEST(J1, what_fits_already_stays) {
  const auto model = make<Scale>();
  const Tensor before = model->factor;
  model->to(DType::f32);
  EXPECT_TRUE(before.is(model->factor));
}

TEST(X37, channels_last_for_four_and_five_dims) {
  const auto model = make<Leaf>();
  model->register_parameter("image", arange(0, 24, 1).set_requires_grad(false));
  model->register_buffer("flat", ones({3}));
  model->set("image", nullptr);
  model->register_parameter("image", rand({2, 3, 2, 4}));
  model->register_parameter("volume", rand({2, 3, 2, 2, 2}));
  const auto before = model->get_parameter("image").value().to_vector<float>();
  model->to(MemoryFormat::channels_last);
  EXPECT_EQ(model->get_parameter("image").value().strides(), (Strides{24, 1, 12, 3}));
  EXPECT_EQ(model->get_parameter("volume").value().strides(), (Strides{24, 1, 12, 6, 3}));
  EXPECT_EQ(model->get_parameter("image").value().to_vector<float>(), before);
  EXPECT_TRUE(model->to(MemoryFormat::contiguous).get_parameter("image").value().is_contiguous());
}

TEST(J2, casts_of_floating_tensors_alone) {
  const auto model = make<Sorts>();
  EXPECT_EQ(dtypes_of(model->to_double()), "f64 i64 c64 f64 ");
  EXPECT_EQ(dtypes_of(model->to_half()), "f16 i64 c64 f16 ");
  EXPECT_EQ(dtypes_of(model->to_bfloat16()), "bf16 i64 c64 bf16 ");
  EXPECT_EQ(dtypes_of(model->to_float()), "f32 i64 c64 f32 ");
}

TEST(X38, type_casts_integers_too) {
  const auto model = make<Sorts>();
  EXPECT_EQ(dtypes_of(model->type("f64")), "f64 f64 f64 f64 ");
  EXPECT_EQ(error_of<TypeError>([&] { model->type(DType::i32); }),
            "type(): \"weight\" is trained and cannot be i32");
  EXPECT_THROW(model->type("float128"), InvalidArgument);
  model->requires_grad_(false);
  EXPECT_EQ(dtypes_of(model->type(DType::i32)), "i32 i32 i32 i32 ");
}

TEST(T_1, devices_that_no_build_has) {
  const auto model = make<Scale>();
  const Tensor before = model->factor;
  EXPECT_EQ(Device::parse("xpu:1").type, DeviceType::xpu);
  EXPECT_EQ(Device::parse("ipu").type, DeviceType::ipu);
  expect_begins(error_of<NotImplementedError>([&] { model->xpu(); }),
                "device: not available in this build; got xpu, expected cpu");
  expect_begins(error_of<NotImplementedError>([&] { model->ipu(0); }),
                "device: not available in this build; got ipu, expected cpu");
  expect_begins(error_of<NotImplementedError>([&] { model->mtia(); }),
                "device: not available in this build; got mtia, expected cpu");
  EXPECT_THROW(model->to(Device::parse("xpu")), NotImplementedError);
  EXPECT_TRUE(before.is(model->factor));
}

TEST(J4, cpu_of_what_is_there_changes_nothing) {
  const auto model = make<Scale>();
  const Tensor before = model->factor;
  EXPECT_EQ(&model->cpu(), model.get());
  EXPECT_TRUE(before.is(model->factor));
}

TEST(J9, to_empty_gives_memory_to_what_has_none) {
  const auto model = make<Outer>();
  model->to(kMeta);
  EXPECT_EQ(model->last->factor.value().device(), kMeta);
  EXPECT_TRUE(model->last->factor.value().requires_grad());
  EXPECT_EQ(model(zeros({3}, {.device = kMeta})).shape(), Shape{3});
  EXPECT_EQ(error_of<NotImplementedError>([&] { model->cpu(); }),
            "tensor has no data (meta); use to_empty()");
  model->to_empty(Device{});
  EXPECT_EQ(model->last->factor.value().device(), Device{});
  EXPECT_EQ(model->last->factor.value().shape(), Shape{3});
}

TEST(P_8, to_empty_may_leave_children_alone) {
  const auto model = make<Inner>();
  model->to_empty(kMeta, false);
  EXPECT_EQ(model->offset.value().device(), kMeta);
  EXPECT_EQ(model->scale->factor.value().device(), Device{});
}

TEST(P_9, a_forked_process_sees_a_write) {
  const auto model = make<Scale>();
  EXPECT_EQ(&model->share_memory(), model.get());
  float* values = model->factor.value().data<float>();
  EXPECT_EQ(values[0], 2);
  const pid_t child = fork();
  if (child == 0) {
    values[0] = 7;
    _exit(0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(values[0], 7);
}

TEST(J11, children_first_then_parameters_then_buffers) {
  const auto model = make<Inner>();
  model->register_parameter("late", ones({5}));
  std::string order;
  detail::for_each_slot_storage(*model, [&](const Tensor& x) {
    order +=
        std::to_string(x.numel()) + (x.numel() == 3 && x.to_vector<float>()[0] == 1 ? "b " : " ");
    return x;
  });
  EXPECT_EQ(order, "3 5 3b ");
}

/// Ten steps with an optimizer made before or after the cast.
std::vector<float> trained(DType dtype, bool before) {
  const auto model = make<Scale>();
  std::optional<optim::AdamW> optimizer;
  if (before) {
    optimizer.emplace(model->parameters(), optim::AdamWOptions{.lr = 0.1});
  }
  model->to(dtype);
  if (!before) {
    optimizer.emplace(model->parameters(), optim::AdamWOptions{.lr = 0.1});
  }
  for (int step = 0; step < 10; ++step) {
    model->zero_grad();
    const Tensor y = model(cast(tensor<float>({1, 2, 3}), dtype));
    sum(y * y).backward();
    optimizer->step();
  }
  return cast(model->factor.value().detach(), DType::f32).to_vector<float>();
}

TEST(X22, an_optimizer_made_before_a_cast_takes_the_same_steps) {
  for (const DType dtype : {DType::f64, DType::bf16}) {
    const auto after = trained(dtype, false);
    EXPECT_EQ(trained(dtype, true), after) << dtype;
    EXPECT_LT(after[0], 1.9F);
  }
}

}  // namespace
}  // namespace tessera::nn::contract
