// What touches tensors of modules, data sets and files on the host, on devices of all kinds.
#include "support/host_access.h"

#include <tessera/core/base/context.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/log_softmax.h>
#include <tessera/core/ops/reshape.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/core/tensor/transfer.h>
#include <tessera/nn/data/data_loader.h>
#include <tessera/nn/data/tensor_dataset.h>
#include <tessera/nn/data/transforms/center_crop.h>
#include <tessera/nn/data/transforms/normalize.h>
#include <tessera/nn/data/transforms/resize.h>
#include <tessera/nn/data/transforms/to_float.h>
#include <tessera/nn/io/value_bytes.h>
#include <tessera/nn/io/weights.h>
#include <tessera/nn/layers/batch_norm.h>
#include <tessera/nn/layers/linear.h>
#include <tessera/nn/loss/ctc_loss.h>
#include <tessera/nn/make.h>
#include <tessera/nn/non_finite_search.h>
#include <tessera/nn/optim/sgd.h>

#include "support/temporary_folder.h"

namespace tessera::nn {
namespace {

using Numbers = std::vector<double>;
using test::HostAccess;

constexpr std::int64_t kIndices[] = {2, 0};

Tensor rows_on(const Device& device) {
  return on_device(reshape(arange(12, {.dtype = DType::f32}), {4, 3}), device);
}

Ptr<BatchNorm1d> model_on(const Device& device) {
  set_seed(5);
  auto model = make<BatchNorm1d>(3);
  model->to(device);
  return model;
}

Numbers values_of(const Module& model) {
  Numbers all;
  for (const auto& [name, slot] : model.named_slots()) {
    const Numbers one = slot->value.to_vector<double>();
    all.insert(all.end(), one.begin(), one.end());
  }
  return all;
}

Numbers saved_and_loaded(const Device& device, const char* name) {
  const testing_support::TemporaryFolder folder;
  const std::string path = folder / name;
  const auto model = model_on(device);
  save_weights(*model, path);
  const auto other = model_on(device);
  load_weights(*other, path);
  return values_of(*other);
}

Numbers loaded(const Device& device) {
  data::DataLoader loader(data::TensorDataset(rows_on(device)), {.batch_size = 2});
  Numbers all;
  for (const auto& batch : loader) {
    const Numbers one = batch[0].to_vector<double>();
    all.insert(all.end(), one.begin(), one.end());
  }
  return all;
}

Numbers stepped(const Device& device) {
  const auto model = model_on(device);
  for (const Parameter& parameter : model->parameters()) {
    parameter.value().set_grad(ones({3}, {.device = device}));
  }
  optim::SGD optimizer(model->parameters(), {.lr = 0.5});
  optimizer.clip_grad_norm(0.1);
  optimizer.step();
  return values_of(*model);
}

Numbers ctc_of_labels_in_a_row(const Device& device) {
  const Tensor scores = reshape(arange(24, {.dtype = DType::f32}), {4, 2, 3});
  const auto on = [&](std::initializer_list<std::int64_t> values) {
    return on_device(tensor(values), device);
  };
  return ctc_loss(log_softmax(on_device(scores, device), -1), on({1, 2, 1}), on({4, 4}), on({2, 1}))
      .to_vector<double>();
}

std::vector<HostAccess> of_modules() {
  return {
      {"a model's values", [](const Device& d) { return values_of(*model_on(d)); }},
      {"load_state_dict",
       [](const Device& d) {
         const auto model = model_on(Device{});
         const auto other = model_on(d);
         other->load_state_dict(model->state_dict());
         return values_of(*other);
       },
       true},
      {"a file of safetensors",
       [](const Device& d) { return saved_and_loaded(d, "model.safetensors"); }, true},
      {"to_bytes",
       [](const Device& d) {
         return value_from_bytes(to_bytes(Value(rows_on(d))), "bytes")
             .get<Tensor>()
             .to_vector<double>();
       }},
      {"a step of an optimizer that clips", stepped, true},
      {"ctc_loss", ctc_of_labels_in_a_row, true},
      {"find_non_finite",
       [](const Device& d) {
         const auto model = model_on(d);
         return Numbers{
             find_non_finite(*model, [&] { static_cast<void>(model(rows_on(d))); }) ? 1. : 0.};
       },
       true},
  };
}

std::vector<HostAccess> of_data() {
  return {
      {"DataLoader", loaded, false, true},
      {"row_of", [](const Device& d) { return data::row_of(rows_on(d), 2).to_vector<double>(); }},
      {"gather_rows",
       [](const Device& d) { return data::gather_rows(rows_on(d), kIndices).to_vector<double>(); },
       false, true},
      {"stack_samples",
       [](const Device& d) {
         return data::stack_samples(std::vector<Tensor>(2, rows_on(d))).to_vector<double>();
       },
       false, true},
      {"hash_tensor",
       [](const Device& d) { return Numbers{static_cast<double>(data::hash_tensor(rows_on(d)))}; }},
      {"ToFloat",
       [](const Device& d) {
         return data::ToFloat()(full({1, 2, 2}, 9, {.dtype = DType::u8, .device = d}))
             .to_vector<double>();
       },
       true},
      {"Normalize",
       [](const Device& d) {
         return data::Normalize({1}, {2})(ones({1, 2, 2}, {.device = d})).to_vector<double>();
       },
       true},
      {"Resize",
       [](const Device& d) {
         return data::Resize(4)(ones({1, 2, 2}, {.device = d})).to_vector<double>();
       },
       true},
      {"CenterCrop",
       [](const Device& d) {
         return data::CenterCrop(1)(ones({1, 3, 3}, {.device = d})).to_vector<double>();
       }},
  };
}

TEST(HostAccess, of_modules_and_data_works_on_any_device_or_is_refused) {
  test::GuardedRun run(1);
  for (const auto& accesses : {of_modules(), of_data()}) {
    for (const HostAccess& access : accesses) {
      test::expect_same_or_refused(access);
    }
  }
  EXPECT_EQ(run.reports(), std::vector<std::string>{});
}

}  // namespace
}  // namespace tessera::nn
