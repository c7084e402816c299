// Layers that hold others, or parameters, or only change shapes.
#include <gtest/gtest.h>

#include <tessera/core/base/error.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/nn/functional/pure.h>
#include <tessera/nn/init/constant.h>
#include <tessera/nn/layers/activation/relu.h>
#include <tessera/nn/layers/batch_norm.h>
#include <tessera/nn/layers/flatten.h>
#include <tessera/nn/layers/identity.h>
#include <tessera/nn/layers/linear.h>
#include <tessera/nn/layers/lstm.h>
#include <tessera/nn/layers/module_dict.h>
#include <tessera/nn/layers/module_list.h>
#include <tessera/nn/layers/parameter_dict.h>
#include <tessera/nn/layers/parameter_list.h>
#include <tessera/nn/layers/sequential.h>

namespace tessera::nn {
namespace {

using Strings = std::vector<std::string>;

TEST(Identity, gives_what_it_gets_whatever_it_was_made_with) {
  const auto layer = make<Identity>(54, 0.1, "unused");
  const Tensor x = ones({2});
  EXPECT_TRUE(layer(x).is(x));
  EXPECT_EQ(layer->repr(), "Identity()");
}

TEST(Flatten, merges_dims) {
  EXPECT_EQ(make<Flatten>()->repr(), "Flatten(start_dim=1, end_dim=-1)");
  EXPECT_EQ(make<Flatten>()(ones({2, 3, 4})).shape(), (Shape{2, 12}));
  EXPECT_EQ(make<Flatten>(0, 1)(ones({2, 3, 4})).shape(), (Shape{6, 4}));
  EXPECT_EQ(make<Flatten>(0)(scalar(1)).shape(), (Shape{1}));
  EXPECT_THROW(make<Flatten>(2, 1)(ones({2, 3, 4})), InvalidArgument);
  EXPECT_THROW(make<Flatten>(3)(ones({2, 3, 4})), InvalidArgument);
}

TEST(Unflatten, takes_a_dim_apart) {
  EXPECT_EQ(make<Unflatten>(1, Shape{2, 3})->repr(), "Unflatten(dim=1, unflattened_size=(2, 3))");
  EXPECT_EQ(make<Unflatten>(1, Shape{2, 3})(ones({4, 6, 5})).shape(), (Shape{4, 2, 3, 5}));
  EXPECT_EQ(make<Unflatten>(-1, Shape{-1, 2})(ones({4, 6})).shape(), (Shape{4, 3, 2}));
  EXPECT_THROW(make<Unflatten>(0, Shape{2, 3})(ones({5})), InvalidArgument);
  EXPECT_THROW(make<Unflatten>(0, Shape{2, -1})(ones({5, 2})), InvalidArgument);
  EXPECT_THROW(make<Unflatten>(0, Shape{})(ones({1})), InvalidArgument);
  EXPECT_THROW(make<Unflatten>(0, Shape{1})(scalar(1)), InvalidArgument);
}

struct Heads : Module {
  Child<ModuleDict> heads{this, "heads"};
  Heads() {
    heads->add<Linear>("digit", 2, 3);
    heads->add<ReLU>("plain");
  }
  [[nodiscard]] Tensor forward(const Tensor& x) const { return (*heads)["plain"](x); }
};

TEST(ModuleDict, holds_modules_by_name) {
  const auto model = make<Heads>();
  EXPECT_EQ(model->heads->repr(),
            "ModuleDict(\n  (digit): Linear(in_features=2, out_features=3, bias=True)\n"
            "  (plain): ReLU()\n)");
  EXPECT_EQ(model->heads->keys(), (Strings{"digit", "plain"}));
  EXPECT_EQ(model->named_parameters()[0].first, "heads.digit.weight");
  EXPECT_EQ(model(tensor<float>({-1, 2})).to_vector<float>(), (std::vector<float>{0, 2}));
  EXPECT_EQ((*model->heads)["digit"](ones({1, 2})).shape(), (Shape{1, 3}));
  EXPECT_EQ(make<ModuleDict>()->repr(), "ModuleDict()");
}

TEST(ModuleDict, replaces_and_removes) {
  const auto dict = make<ModuleDict>();
  dict->add<ReLU>("a");
  dict->add<Identity>("a");
  EXPECT_EQ(dict->size(), 1U);
  EXPECT_EQ((*dict)["a"].class_name(), "Identity");
  EXPECT_EQ(dict->pop("a")->class_name(), "Identity");
  EXPECT_FALSE(dict->contains("a"));
  EXPECT_THROW(static_cast<void>((*dict)["a"]), KeyError);
  EXPECT_THROW(dict->pop("a"), KeyError);
  EXPECT_THROW(dict->add<ReLU>("a.b"), KeyError);
  dict->add<ReLU>("c");
  dict->clear();
  EXPECT_EQ(dict->size(), 0U);
}

TEST(ParameterList, holds_parameters_by_number) {
  struct Model : Module {
    Child<ParameterList> list{this, "list"};
    Model() {
      list->append({2, 3}, init::constant(2));
      list->append(scalar(5));
    }
  };
  const auto model = make<Model>();
  const ParameterList& list = *model->list;
  EXPECT_EQ(list.repr(),
            "ParameterList(\n    (0): Parameter containing: [torch.float32 of size 2x3]\n"
            "    (1): Parameter containing: [torch.float32 of size ]\n)");
  EXPECT_EQ(list[0].value().to_vector<float>(), std::vector<float>(6, 2));
  EXPECT_EQ(list[1].value().item(), 5);
  EXPECT_EQ(model->named_parameters()[1].first, "list.1");
  EXPECT_THROW(static_cast<void>(list[2]), KeyError);
  EXPECT_EQ(make<ParameterList>()->repr(), "ParameterList()");
}

TEST(ParameterDict, holds_parameters_by_name) {
  const auto dict = make<ParameterDict>();
  dict->add("a", ones({2, 3}));
  dict->add("b", ones({2}, {.dtype = DType::f64}));
  EXPECT_EQ(dict->repr(),
            "ParameterDict(\n    (a): Parameter containing: [torch.FloatTensor of size 2x3]\n"
            "    (b): Parameter containing: [torch.DoubleTensor of size 2]\n)");
  EXPECT_EQ(dict->keys(), (Strings{"a", "b"}));
  EXPECT_TRUE((*dict)["a"].value().requires_grad());
  dict->add("a", zeros({1}));
  EXPECT_EQ((*dict)["a"].shape(), (Shape{1}));
  EXPECT_EQ(dict->size(), 2U);
  EXPECT_TRUE(dict->contains("b"));
  EXPECT_THROW(static_cast<void>((*dict)["c"]), KeyError);
}

TEST(ModuleDict, calls_run_hooks_and_keep_what_is_assigned) {
  struct Model : Module {
    Child<ModuleDict> parts{this, "parts"};
    Model() {
      parts->add<LSTM>("body", 2, 3);
      parts->add<BatchNorm1d>("norm", 3);
    }
    [[nodiscard]] Tensor forward(const Tensor& x) const {
      const auto [y, state] = parts->get<LSTM>("body")(x);
      return (*parts)["norm"](y);
    }
  };
  const auto model = make<Model>();
  int hooks = 0;
  for (const std::string& key : model->parts->keys()) {
    (*model->parts)[key].register_forward_hook(
        [&](const Module&, const Args&, const Value&) { ++hooks; });
  }
  EXPECT_EQ(model(ones({4, 2})).shape(), (Shape{4, 3}));
  EXPECT_EQ(hooks, 2);
  EXPECT_EQ(model->get_buffer("parts.norm.num_batches_tracked")->item<int>(), 1);
  EXPECT_THROW(static_cast<void>(model->parts->get<Linear>("norm")), TypeError);
  EXPECT_THROW(static_cast<void>(model->parts->get<Linear>("other")), KeyError);
}

/// The sizes of what is in a list, by its own count and by the tree's.
std::string sizes_in(const ModuleList<Linear>& list) {
  std::string text;
  for (const auto& layer : list) {
    text += std::to_string(layer->weight.shape()[0]) + " ";
  }
  text += "of";
  for (const auto& [name, child] : list.named_children()) {
    text += " " + name;
  }
  return text;
}

TEST(ModuleList, follows_the_names_in_the_tree) {
  struct Model : Module {
    Child<ModuleList<Linear>> h{this, "h"};
    Model() {
      h->add(2, 1);
      h->add(2, 2);
    }
  };
  const auto model = make<Model>();
  model->set_submodule("h.2", make<Linear>(2, 3));
  EXPECT_EQ(sizes_in(*model->h), "1 2 3 of 0 1 2");
  model->h->add(2, 4);
  EXPECT_EQ(sizes_in(*model->h), "1 2 3 4 of 0 1 2 3");
  model->h->erase("1");
  EXPECT_EQ(sizes_in(*model->h), "1 3 4 of 0 2 3");
  model->h->add(2, 5);
  EXPECT_EQ(sizes_in(*model->h), "1 3 4 5 of 0 2 3 4");
  EXPECT_THROW(model->set_submodule("h.9", make<ReLU>()), TypeError);
  EXPECT_EQ(sizes_in(*model->h), "1 3 4 5 of 0 2 3 4");
  const auto copy = clone(model);
  copy->h->erase("0");
  EXPECT_EQ(sizes_in(*copy->h), "3 4 5 of 2 3 4");
  EXPECT_EQ(model->h->size(), 4U);
}

TEST(Sequential, adds_at_the_end_after_a_child_was_erased) {
  const auto model = make<Sequential>();
  for (const std::int64_t n : {1, 2, 3}) {
    model->add<Linear>(n, n + 1);
  }
  model->erase("0");
  model->add<Linear>(4, 5);
  EXPECT_EQ(model->named_children().back().first, "3");
  EXPECT_EQ(model(ones({1, 2})).shape(), (Shape{1, 5}));
}

TEST(ParameterList, adds_at_the_end_after_a_parameter_was_erased) {
  const auto list = make<ParameterList>();
  for (const double x : {0, 1, 2}) {
    list->append(scalar(x));
  }
  list->erase("1");
  EXPECT_EQ(list->append(scalar(3)).value().item(), 3);
  EXPECT_EQ(list->size(), 3U);
  EXPECT_EQ((*list)[1].value().item(), 2);
}

}  // namespace
}  // namespace tessera::nn
