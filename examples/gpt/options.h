// What the command line says.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// Options of the program, with nanoGPT's training script as the model for defaults. What was not
/// given stays empty until a preset, a checkpoint or the default fills it (see resolve.h).
struct Options {
  // Data.
  std::string data;
  std::string eval_data;
  std::string order = "shuffled";
  // Model.
  std::string preset;
  std::int64_t layers = 6;
  std::int64_t heads = 6;
  std::int64_t width = 384;
  std::int64_t context = 256;
  double dropout = 0;
  std::int64_t vocab = 256;
  bool untied = false;
  std::string init;
  // Training.
  std::int64_t batch = 16;
  std::int64_t grain = 0;    ///< 0: the largest power of two up to 8 that divides the batch
  std::int64_t at_once = 0;  ///< 0: all microbatches of a rank
  std::int64_t steps = 1000;
  double lr = 6e-4;
  double min_lr = 6e-5;
  std::int64_t warmup = 100;
  double weight_decay = 0.1;
  double clip = 1;
  double beta1 = 0.9;
  double beta2 = 0.95;
  std::string dtype = "f32";
  std::uint64_t seed = 1337;
  bool checkpoint_activations = false;
  std::string nonfinite = "stop";
  int threads = 0;  ///< 0: the cores of the process, dealt to the ranks of the host
  // Saving and reporting.
  std::string save;
  std::int64_t save_every = 0;
  std::int64_t keep = 3;
  bool resume = false;
  std::int64_t resume_step = -1;  ///< -1: the newest
  std::int64_t eval_every = 0;
  std::string log;
  std::string trace;
  double comm_timeout = 60;
  std::int64_t sample = 0;
  std::string prompt = "\n";

  /// Names of the options that were given on the command line, and of those that --preset stands
  /// for (see resolve.h).
  std::vector<std::string> given;
  std::vector<std::string> from_preset;
  [[nodiscard]] bool was_given(const std::string& name) const;
};

/// Reads the command line. Returns nothing after --help, whose text it prints.
/// Throws tessera::InvalidArgument for options that do not exist or cannot be read.
std::optional<Options> parse_options(int argc, char** argv);
