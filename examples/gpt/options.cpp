#include "options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <iostream>
#include <limits>
#include <type_traits>

#include <tessera/core/base/error.h>
#include <tessera/core/base/launch_environment.h>

namespace {

/// A whole number, no smaller one than `least` and none that does not fit in a T.
template <class T = std::int64_t>
CLI::Validator at_least(std::type_identity_t<T> least) {
  const auto check = [least](const std::string& text) -> std::string {
    T value = 0;
    const char* end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data(), end, value);
    if (parsed.ec == std::errc() && parsed.ptr == end && value >= least) {
      return "";
    }
    const bool large = parsed.ec == std::errc::result_out_of_range;
    const std::string most = std::to_string(std::numeric_limits<T>::max());
    return "got " + text + ", expected " + std::to_string(least) +
           (large ? " to " + most : " or more");
  };
  return {check, least == 0 ? "NONNEGATIVE" : "POSITIVE"};
}

void add_model(CLI::App& app, Options& o) {
  app.add_option("--preset", o.preset,
                 "tiny, gpt2, gpt2-medium, gpt2-large or gpt2-xl: stands for those of --layers, "
                 "--heads, --width, --context and --vocab that are not given; with --resume they "
                 "have to be the checkpoint's")
      ->check(CLI::IsMember({"tiny", "gpt2", "gpt2-medium", "gpt2-large", "gpt2-xl"}));
  app.add_option("--layers", o.layers, "Transformer blocks")->check(at_least(1));
  app.add_option("--heads", o.heads, "Attention heads")->check(at_least(1));
  app.add_option("--width", o.width, "Width of the model")->check(at_least(1));
  app.add_option("--context", o.context, "Tokens in a sequence")->check(at_least(1));
  app.add_option("--dropout", o.dropout, "Share of activations that dropout zeroes")
      ->check(CLI::Range(0.0, 0.999));
  app.add_option("--vocab", o.vocab, "Number of different tokens; 256 for text, needed for .bin")
      ->check(at_least(1));
  app.add_flag("--untied", o.untied, "The head has weights of its own, not the embedding's");
  app.add_option("--init", o.init,
                 "Start from these weights (HDF5 or safetensors, of nanoGPT or GPT-2); a resume "
                 "does not read them");
}

void add_data(CLI::App& app, Options& o) {
  app.add_option("--data", o.data, "Text file or folder to train on, or .bin of 16-bit tokens");
  app.add_option("--eval-data", o.eval_data,
                 "Data to evaluate on after the last step, and with --eval-every");
  app.add_option("--order", o.order, "Order of the windows of the data")
      ->check(CLI::IsMember({"shuffled", "sequential"}));
}

void add_training(CLI::App& app, Options& o) {
  app.add_option("--batch", o.batch, "Sequences in a step, over all ranks")->check(at_least(1));
  app.add_option(
         "--grain", o.grain,
         "Microbatches in a step: the weights depend on it and not on the number of ranks; 0: "
         "the largest power of two up to 8 that divides --batch")
      ->check(at_least(0));
  app.add_option("--at-once", o.at_once,
                 "The most microbatches in one pass, to save memory; 0: all that a rank has")
      ->check(at_least(0));
  app.add_option("--steps", o.steps, "Steps in all, those before a resume included")
      ->check(at_least(0));
  app.add_option("--lr", o.lr, "Learning rate after warm-up");
  app.add_option("--min-lr", o.min_lr,
                 "Learning rate to which the cosine has come down after the last step");
  app.add_option("--warmup", o.warmup, "Steps of linear warm-up")->check(at_least(0));
  app.add_option("--weight-decay", o.weight_decay, "AdamW's decay, on matrices only");
  app.add_option("--clip", o.clip, "Largest norm of the gradient; 0 for none");
  app.add_option("--beta1", o.beta1, "AdamW's first momentum");
  app.add_option("--beta2", o.beta2, "AdamW's second momentum");
  app.add_option("--dtype", o.dtype, "Dtype to compute in; weights stay f32")
      ->check(CLI::IsMember({"f32", "bf16"}));
  app.add_option("--seed", o.seed, "Seed of weights, dropout and data order")
      ->check(at_least<std::uint64_t>(0));
  app.add_flag("--checkpoint-activations", o.checkpoint_activations,
               "Recompute activations in backward, to save memory");
  app.add_option("--nonfinite", o.nonfinite,
                 "When loss or gradient is not finite: stop, or skip the step")
      ->check(CLI::IsMember({"stop", "skip"}));
  app.add_option("--threads", o.threads, "Threads of each rank; 0: its share of the cores")
      ->check(at_least(0));
}

void add_saving(CLI::App& app, Options& o, std::string& resume) {
  app.add_option("--save", o.save, "Folder for checkpoints; the last step is always saved");
  app.add_option("--save-every", o.save_every,
                 "Steps between checkpoints; 0: only the last step is saved")
      ->check(at_least(0));
  app.add_option("--keep", o.keep, "Checkpoints to keep")->check(at_least(1));
  app.add_option("--resume", resume, "Go on from the newest checkpoint in --save, or from step N")
      ->expected(0, 1)
      ->type_name("[=N]");
  app.add_option("--eval-every", o.eval_every,
                 "Steps between evaluations on --eval-data; 0: only after the last step")
      ->check(at_least(0));
  app.add_option(
      "--log", o.log,
      "File for one line of JSON a step, added to what it holds behind a line that says so");
  app.add_option(
      "--trace", o.trace,
      "File for a trace of the first 20 steps, for ui.perfetto.dev; rank N writes FILE with .rankN "
      "before its suffix");
  app.add_option("--comm-timeout", o.comm_timeout, "Seconds to wait for a silent rank; 0: for ever")
      ->check(CLI::Range(0.0, 1e9));
  app.add_option("--sample", o.sample, "Tokens to generate at the end, unless stopped")
      ->check(at_least(0));
  app.add_option("--prompt", o.prompt,
                 "What the sample begins with: text, or with .bin data numbers of tokens")
      ->default_str("a newline, or token 0");
}

void note_given(const CLI::App& app, Options& o) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->count() > 0) {
      o.given.push_back(option->get_name());
    }
  }
}

void read_resume(const CLI::App& app, const std::string& text, Options& o) {
  o.resume = app.count("--resume") > 0;
  if (!text.empty() && text != "true") {
    const char* end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data(), end, o.resume_step);
    tessera::check(parsed.ec == std::errc() && parsed.ptr == end && o.resume_step >= 0,
                   "--resume: no step; got ", text, ", expected the number of one, 0 or more");
  }
}

void check_consistent(const Options& o) {
  tessera::check(!o.data.empty(), "--data: needed, a text file or a folder of text");
  tessera::check(o.eval_every == 0 || !o.eval_data.empty(),
                 "--eval-every: needs --eval-data; nothing is cut from --data");
  tessera::check(!o.resume || !o.save.empty(), "--resume: needs --save, the folder to resume from");
  tessera::check(o.save_every == 0 || !o.save.empty(), "--save-every: needs --save");
}

}  // namespace

bool Options::was_given(const std::string& name) const {
  return std::ranges::find(given, name) != given.end();
}

std::optional<Options> parse_options(int argc, char** argv) {
  Options options;
  std::string resume;
  CLI::App app("Trains a GPT on text, alone or under mpirun.", "gpt");
  app.option_defaults()
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
      ->always_capture_default();
  add_data(app, options);
  add_model(app, options);
  add_training(app, options);
  add_saving(app, options, resume);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    if (tessera::launch_environment().rank == 0) {
      std::cout << app.help();
    }
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    tessera::fail<tessera::InvalidArgument>(error.what());
  }
  note_given(app, options);
  read_resume(app, resume, options);
  check_consistent(options);
  return options;
}
