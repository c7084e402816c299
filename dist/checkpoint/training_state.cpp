#include <tessera/dist/checkpoint/training_state.h>

#include <algorithm>
#include <array>
#include <set>

#include <tessera/core/base/busy_scope.h>
#include <tessera/core/base/context.h>
#include <tessera/core/base/log.h>
#include <tessera/core/base/numerics_fingerprint.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/dist/checkpoint/checkpoint.h>
#include <tessera/dist/checkpoint/step_folders.h>
#include <tessera/dist/checkpoint/training_facts.h>
#include <tessera/dist/comm/collectives.h>
#include <tessera/dist/comm/share_text.h>
#include <tessera/dist/common_numerics.h>
#include <tessera/nn/io/state_arrays.h>
#include <tessera/nn/state/overwrite.h>

namespace tessera::dist {
namespace {

constexpr const char* kAttribute = "training";

/// Runs `work` on rank 0 and gives every rank the text of what it threw, empty for nothing.
template <class F>
std::string on_rank_0(Communicator& comm, const F& work) {
  std::string error;
  if (comm.rank() == 0) {
    const BusyScope busy("reads or writes a checkpoint");
    try {
      work();
    } catch (const Error& e) {
      error = e.what();
    }
  }
  return share_text(comm, error, 0, "checkpoint");
}

TrainingFacts training_facts_of(std::int64_t step, const TrainingRun& run) {
  const Context& context = Context::current();
  optim::OptimizerState optimizer = run.optimizer.own_state();
  TrainingFacts facts{.step = step,
                      .options = run.options,
                      .loader = run.loader.state(),
                      .optimizer = std::move(optimizer.numbers),
                      .seed = context.seed,
                      .batches = context.step,
                      .bits = numerics_fingerprint(),
                      .elements = context.elements->all(),
                      .random = random_state()};
  for (const auto& [name, tensor] : optimizer.tensors) {
    facts.optimizer_tensors.push_back(name);
  }
  return facts;
}

/// Where the file has what the model's state dict holds as `name`.
std::string path_of(const std::string& name) {
  return "model/" + name;
}

nn::OutgoingArrays arrays_of(std::int64_t step, const TrainingRun& run) {
  nn::OutgoingArrays arrays;
  nn::visit_state(run.model,
                  [&](const std::string& name, const nn::Value& value, const nn::Slot* slot) {
                    nn::add_state(arrays, path_of(name), name, value, slot);
                  });
  for (const auto& [name, tensor] : run.optimizer.own_state().tensors) {
    arrays.add("optimizer/" + name, tensor);
  }
  arrays.contents().attributes.push_back({"", kAttribute, to_text(training_facts_of(step, run))});
  return arrays;
}

}  // namespace

std::optional<std::string> save_training(const std::string& directory, std::int64_t step,
                                         const TrainingRun& run, Communicator& comm) {
  run.optimizer.check_between_steps();
  run.optimizer.gather_state();
  const std::string error =
      on_rank_0(comm, [&] { save_checkpoint(directory, step, arrays_of(step, run).contents()); });
  return error.empty() ? std::nullopt : std::optional(error);
}

TrainingCheckpoint::TrainingCheckpoint(const std::string& directory,
                                       std::optional<std::int64_t> step, Communicator& comm)
    : comm_(comm) {
  const std::string error = on_rank_0(comm, [&] { open(directory, step); });
  check<IoError>(error.empty(), error);
  std::string text;
  if (comm.rank() == 0) {
    text = to_text(facts_);
  }
  file_ = share_text(comm, file_, 0, "checkpoint");
  facts_ = facts_from_text(share_text(comm, text, 0, "checkpoint"), file_);
}

void TrainingCheckpoint::open(const std::string& directory, std::optional<std::int64_t> step) {
  const std::optional<std::int64_t> wanted = step ? step : newest_step(directory);
  check<IoError>(wanted.has_value(), "checkpoint: none to resume from in ", directory);
  try {
    reader_ = open_checkpoint(directory, *wanted);
  } catch (const IoError& error) {
    const auto whole = newest_whole_step(directory);
    fail<IoError>(error.what(), whole
                                    ? tessera::detail::concat("; the newest whole step is ", *whole)
                                    : std::string("; no step is whole"));
  }
  file_ = step_folder(directory, *wanted) + "/index.h5";
  const auto attributes = reader_->attributes();
  const auto* text = nn::find_attribute<std::string>(attributes, "", kAttribute);
  check<IoError>(text != nullptr, file_, ": no attribute \"", kAttribute, "\"");
  facts_ = facts_from_text(*text, file_);
}

/// Rank 0 compares; every rank throws.
void TrainingCheckpoint::require_same_arrays(const nn::Module& model) const {
  const std::string error = on_rank_0(comm_, [&] {
    std::set<std::string> wanted;
    nn::visit_state(
        model, [&](const std::string& name, const nn::Value& value, const nn::Slot* slot) {
          const std::string path = path_of(name);
          wanted.insert(path);
          const nn::ArrayInfo* found = reader_->find(path);
          check(found != nullptr, file_, ": no ", path, ": the checkpoint is of another model");
          if (slot == nullptr) {
            return;
          }
          const Tensor saved = value.is<Tensor>() ? value.tensor() : Tensor();  // as hooks leave it
          const Shape& shape = saved.defined() ? saved.shape() : slot->shape;
          const DType dtype = saved.defined() ? saved.dtype() : slot->dtype;
          check(found->shape == shape, file_, ": ", path, " is of another model; got ",
                found->shape, ", expected ", shape);
          check(found->dtype == dtype, file_, ": ", path, " has another dtype in the model; got ",
                found->dtype, ", expected ", dtype);
          const std::string why = nn::detail::why_not_written(slot->value, slot->value);
          check(why.empty(), "restore: \"", name, "\": ", why);
        });
    for (const nn::ArrayInfo& array : reader_->arrays()) {
      check(!array.path.starts_with("model/") || wanted.contains(array.path), file_, ": ",
            array.path, " is not in the model");
    }
  });
  check(error.empty(), error);
}

/// Fills `into` on every rank with an array of the file.
void TrainingCheckpoint::receive(const std::string& path, const Tensor& into) {
  const std::span<std::byte> bytes(static_cast<std::byte*>(into.raw_data()), into.nbytes());
  const std::string error = on_rank_0(comm_, [&] { reader_->read(path, bytes); });
  check<IoError>(error.empty(), error);
  const std::span<std::uint8_t> raw(reinterpret_cast<std::uint8_t*>(bytes.data()), bytes.size());
  broadcast(comm_, raw, 0, path).wait();
}

/// An array of the file as a tensor of its own on every rank.
Tensor TrainingCheckpoint::receive(const std::string& path) {
  std::array<std::int64_t, 2 + kMaxDims> meta{};  // dtype, number of dims, dims
  const std::string error = on_rank_0(comm_, [&] {
    const nn::ArrayInfo* found = reader_->find(path);
    check<IoError>(found != nullptr, file_, ": no ", path);
    meta[0] = static_cast<std::int64_t>(found->dtype);
    meta[1] = found->shape.size();
    std::ranges::copy(found->shape, meta.begin() + 2);
  });
  check<IoError>(error.empty(), error);
  broadcast(comm_, std::span<std::int64_t>(meta), 0, path).wait();
  Shape shape;
  for (std::size_t i = 0; i < static_cast<std::size_t>(meta[1]); ++i) {
    shape.push_back(meta[2 + i]);
  }
  const Tensor value = empty(shape, {.dtype = static_cast<DType>(meta[0])});
  receive(path, value);
  return value;
}

/// Loads what the file has under the names of the model's state dict.
void TrainingCheckpoint::receive_model(nn::Module& model) {
  const nn::StateDict now = model.state_dict();
  nn::StateDict state;
  state.metadata() = now.metadata();
  for (const auto& [name, value] : now) {
    const std::string path = path_of(name);
    state.set(name, nn::state_value(name, receive(path), file_ + ": " + path));
  }
  const BusyScope busy("restores " + file_);
  model.load_state_dict(state);
}

/// What goes on with the instruction set and the like that the run began with; says what else
/// changes the weights' last bits from here on.
std::vector<std::function<void()>> TrainingCheckpoint::compare_bits() const {
  std::vector<std::function<void()>> choices;
  const auto now = numerics_fingerprint();
  for (const auto& [name, before] : facts_.bits) {
    const auto same = [&label = name](const auto& fact) { return fact.first == label; };
    const auto found = std::ranges::find_if(now, same);
    const std::string after = found == now.end() ? std::string("none") : found->second;
    const std::optional<int> other = first_rank_where(comm_, after != before);
    if (!other) {
      continue;
    }
    if (auto choice = numerics_of_run(comm_, name, before)) {
      choices.push_back(std::move(choice));
    } else if (comm_.rank() == *other) {
      log_warning(file_,
                  ": weights will not be those of an uninterrupted run to the last bit: ", name,
                  " was ", before, ", now ", after);
    }
  }
  return choices;
}

void TrainingCheckpoint::restore(const TrainingRun& run) {
  require_same_arrays(run.model);
  run.loader.check_state(facts_.loader);
  optim::OptimizerState state{.tensors = {}, .numbers = facts_.optimizer};
  for (const std::string& name : facts_.optimizer_tensors) {
    state.tensors.emplace_back(name, receive("optimizer/" + name));
  }
  run.optimizer.check_state(state);
  const std::vector<std::function<void()>> numerics = compare_bits();
  receive_model(run.model);  // whose hooks may still throw; nothing behind it refuses anything
  run.optimizer.load_state(state);
  std::ranges::for_each(numerics, [](const auto& go_on) { go_on(); });
  run.loader.load_state(facts_.loader);
  for (const auto& [loss, elements] : facts_.elements) {
    Context::current().elements->keep(loss, elements);
  }
  Context::current().step = facts_.batches;
  set_random_state(facts_.random);
}

}  // namespace tessera::dist
