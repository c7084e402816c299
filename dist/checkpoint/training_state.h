// Saving and restoring a training run: model, optimizer, data position, and what fixes its weights.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tessera/core/autograd/backward_counts.h>
#include <tessera/core/base/random_state.h>
#include <tessera/dist/comm/communicator.h>
#include <tessera/nn/data/loader_base.h>
#include <tessera/nn/io/array_file.h>
#include <tessera/nn/module.h>
#include <tessera/nn/optim/optimizer.h>

namespace tessera::dist {

/// Options of a program, by name, that a resumed run must share.
using FixedOptions = std::vector<std::pair<std::string, std::string>>;

/// What a checkpoint keeps beside arrays.
struct TrainingFacts {
  std::int64_t step = 0;
  FixedOptions options;
  data::LoaderState loader;
  std::vector<std::pair<std::string, double>> optimizer;  ///< optim::OptimizerState::numbers
  std::vector<std::string> optimizer_tensors;             ///< their names: KIND/PARAMETER
  std::uint64_t seed = 0;
  std::uint64_t batches = 0;                              ///< Context::step: global batches begun
  std::vector<std::pair<std::string, std::string>> bits;  ///< numerics_fingerprint() of rank 0
  std::map<LossKey, double> elements;                     ///< of losses, see ElementsOfRun
  RandomState random;
};

/// The parts of a run that are saved together.
struct TrainingRun {
  nn::Module& model;
  optim::Optimizer& optimizer;
  data::LoaderBase& loader;
  FixedOptions options;
};

/// Rank 0 writes DIR/step-N; the others wait. Collective. Returns nothing on success, else, on
/// every rank, the one sentence that says why not: a full disk ends no run, and the last checkpoint
/// stays. Throws RuntimeError between a backward and its step, whose gradients it would lose.
[[nodiscard]] std::optional<std::string> save_training(const std::string& directory,
                                                       std::int64_t step, const TrainingRun& run,
                                                       Communicator& comm);

/// A checkpoint opened for restoring. Only rank 0 reads files.
class TrainingCheckpoint {
 public:
  /// Opens DIR/step-`step`, or the newest step without one. Every byte is verified. Collective.
  /// Throws IoError on every rank: the step is damaged (the text names the newest whole one), or
  /// there is none.
  TrainingCheckpoint(const std::string& directory, std::optional<std::int64_t> step,
                     Communicator& comm);

  [[nodiscard]] const TrainingFacts& facts() const { return facts_; }
  /// Brings all ranks' model, optimizer and loader to where the checkpoint was taken. Collective.
  /// Throws InvalidArgument naming file and tensor when the checkpoint is of another model, before
  /// anything is changed, and what the model's hooks throw, before anything else is.
  void restore(const TrainingRun& run);

 private:
  void open(const std::string& directory, std::optional<std::int64_t> step);
  void require_same_arrays(const nn::Module& model) const;
  [[nodiscard]] std::vector<std::function<void()>> compare_bits() const;
  void receive(const std::string& path, const Tensor& into);
  void receive_model(nn::Module& model);
  [[nodiscard]] Tensor receive(const std::string& path);

  Communicator& comm_;
  std::string file_;
  std::unique_ptr<nn::ArrayFileReader> reader_;  ///< rank 0 only
  TrainingFacts facts_;
};

}  // namespace tessera::dist
