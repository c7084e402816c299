#include <gtest/gtest.h>

#include <sstream>

#include <tessera/core/base/context.h>
#include <tessera/core/ops/add.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/nn/functional/frame.h>
#include <tessera/nn/layers/module_list.h>
#include <tessera/nn/module.h>

namespace tessera::nn {
namespace {

void fill_words(const Tensor& value, const Box&, const RandomStream& stream) {
  float* data = value.data<float>();
  for (std::int64_t i = 0; i < value.numel(); ++i) {
    data[i] = to_uniform(stream.word(static_cast<std::uint64_t>(i)));
  }
}

struct Scale : Module {
  explicit Scale(std::int64_t n) : factor(this, "factor", {n}, fill_words) {}
  Parameter factor;
  Tensor forward(const Tensor& x) const { return x * factor; }
  std::string extra_repr() const override { return "3"; }
};

struct Pair : Module {
  Child<Scale> a{this, "a", 3};
  Child<Scale> b{this, "b", 3};
  Buffer offset{this, "offset", ones({3})};
  Tensor forward(const Tensor& x) const { return b(a(x)) + offset; }
};

struct Tower : Module {
  Child<ModuleList<Scale>> h{this, "h"};
  explicit Tower(int n) {
    for (int i = 0; i < n; ++i) {
      h->add(3);
    }
  }
  Tensor forward(Tensor x) const {
    for (const auto& layer : *h) {
      x = layer(x);
    }
    return x;
  }
};

TEST(Module, names_parameters_in_registration_order) {
  const auto model = make<Pair>();
  std::string names;
  for (const auto& [name, parameter] : model->named_parameters()) {
    names += name + " ";
  }
  EXPECT_EQ(names, "a.factor b.factor ");
  EXPECT_EQ(model->parameter_count(), 6);
}

TEST(Module, values_follow_from_seed_and_name) {
  set_seed(7);
  const auto first = make<Pair>();
  set_seed(7);
  const auto again = make<Pair>();
  const auto other = make<Pair>();
  EXPECT_EQ(first->a->factor.value().to_vector<float>(),
            again->a->factor.value().to_vector<float>());
  EXPECT_NE(first->a->factor.value().to_vector<float>(),
            other->a->factor.value().to_vector<float>());
  EXPECT_NE(first->a->factor.value().to_vector<float>(),
            first->b->factor.value().to_vector<float>());
}

TEST(Module, calls_run_hooks_and_collect_gradients) {
  const auto model = make<Pair>();
  int calls = 0;
  const auto handle =
      model->a->register_forward_hook([&](const Module& m, const Args&, const Value& y) {
        ++calls;
        EXPECT_EQ(detail::key(m), "a");
        return y.tensor() * 2.0;
      });
  const Tensor y = model(ones({3}));
  y.backward(ones({3}));
  EXPECT_EQ(calls, 1);
  const auto a = model->a->factor.value().to_vector<float>();
  const auto gradient = model->b->factor.grad().to_vector<float>();
  EXPECT_EQ(gradient[1], 2 * a[1]);
}

TEST(Module, lists_name_their_items_by_number) {
  const auto model = make<Tower>(2);
  EXPECT_EQ(model->named_parameters()[1].first, "h.1.factor");
  EXPECT_EQ(&model->get_submodule("h.1"), &*(*model->h)[1]);
  EXPECT_THROW(static_cast<void>(model->get_submodule("h.2")), InvalidArgument);
}

TEST(Module, prints_as_a_tree_whatever_holds_it) {
  const auto model = make<Pair>();
  std::ostringstream text;
  text << *model;
  EXPECT_EQ(text.str(), "Pair(\n  (a): Scale(3)\n  (b): Scale(3)\n)");
  std::ostringstream held;
  held << model << model->a << *model->a << model->a.ptr();
  EXPECT_EQ(held.str(), text.str() + "Scale(3)Scale(3)Scale(3)");
  model->set("a", nullptr);
  std::ostringstream none;
  none << model->a << Ptr<Pair>();
  EXPECT_EQ(none.str(), "NoneNone");
}

TEST(StateDict, loads_into_the_same_tensors) {
  const auto source = make<Pair>();
  const auto target = make<Pair>();
  const Tensor before = target->a->factor;
  target->load_state_dict(source->state_dict());
  EXPECT_TRUE(before.is(target->a->factor));
  EXPECT_EQ(before.to_vector<float>(), source->a->factor.value().to_vector<float>());
}

TEST(StateDict, reports_every_problem_and_changes_nothing) {
  const auto model = make<Pair>();
  const auto before = model->b->factor.value().to_vector<float>();
  const StateDict state{{"a.factor", ones({2})}, {"b.factor", ones({3})}, {"c", ones({1})}};
  try {
    model->load_state_dict(state);
    FAIL();
  } catch (const RuntimeError& error) {
    EXPECT_STREQ(error.what(),
                 "load_state_dict(Pair): 3 problems\n\tmissing: \"offset\"\n\tunexpected: \"c\""
                 "\n\tshape of \"a.factor\": file (2,), module (3,)");
  }
  EXPECT_EQ(model->b->factor.value().to_vector<float>(), before);
}

TEST(Frame, answers_reads_until_its_scope_ends) {
  struct Zeros : Frame {
    std::optional<Tensor> read(const Slot& slot) override { return zeros(slot.shape); }
    bool write(const SlotPtr&, const Tensor&) override { return true; }
  } frame;
  const auto model = make<Pair>();
  {
    const FrameScope scope(frame);
    model->offset.assign(full({3}, 9));
    EXPECT_EQ(model(ones({3})).to_vector<float>(), (std::vector<float>{0, 0, 0}));
  }
  EXPECT_EQ(model->offset.slot()->value.to_vector<float>(), (std::vector<float>{1, 1, 1}));
}

TEST(Registration, refuses_bad_names) {
  struct Twice : Module {
    Child<Scale> a{this, "a", 1};
    Child<Scale> b{this, "a", 1};
  };
  EXPECT_THROW(make<Twice>(), InvalidArgument);
}

}  // namespace
}  // namespace tessera::nn
