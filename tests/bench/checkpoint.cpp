// bench_checkpoint [FOLDER [ROUNDS]]: a durable save of GPT-2 124M with AdamW's moments against a
// raw direct write of the same bytes, in turns; medians and their ratio.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <string>
#include <vector>

#include <tessera/core/base/file.h>
#include <tessera/dist/checkpoint/checkpoint.h>
#include <tessera/nn/io/aligned_buffer.h>

namespace {

using tessera::DType;
using tessera::Shape;

std::vector<std::pair<std::string, Shape>> gpt2_parameters() {
  constexpr std::int64_t kWidth = 768;
  std::vector<std::pair<std::string, Shape>> result{{"transformer.wte.weight", {50257, kWidth}},
                                                    {"transformer.wpe.weight", {1024, kWidth}}};
  for (int layer = 0; layer < 12; ++layer) {
    const std::string prefix = "transformer.h." + std::to_string(layer) + ".";
    for (const auto& [name, rows, columns] :
         {std::tuple{"attn.c_attn", 3 * kWidth, kWidth}, std::tuple{"attn.c_proj", kWidth, kWidth},
          std::tuple{"mlp.c_fc", 4 * kWidth, kWidth},
          std::tuple{"mlp.c_proj", kWidth, 4 * kWidth}}) {
      result.push_back({prefix + name + ".weight", {rows, columns}});
      result.push_back({prefix + name + ".bias", {rows}});
    }
    for (const char* name : {"ln_1.weight", "ln_1.bias", "ln_2.weight", "ln_2.bias"}) {
      result.push_back({prefix + name, {kWidth}});
    }
  }
  result.push_back({"transformer.ln_f.weight", {kWidth}});
  result.push_back({"transformer.ln_f.bias", {kWidth}});
  return result;
}

tessera::nn::ArrayFileContents checkpoint_of(const std::vector<float>& values) {
  tessera::nn::ArrayFileContents contents;
  std::size_t at = 16;  // as in training, not where direct transfers would like it
  for (const char* group : {"model/", "optimizer/exp_avg/", "optimizer/exp_avg_sq/"}) {
    for (const auto& [name, shape] : gpt2_parameters()) {
      contents.arrays.push_back({group + name, DType::f32, shape, values.data() + at});
      at += static_cast<std::size_t>(tessera::numel_of(shape));
    }
  }
  contents.arrays.push_back(
      tessera::nn::alias_of("model/transformer.wte.weight", "model/lm_head.weight"));
  return contents;
}

std::size_t bytes_in(const tessera::nn::ArrayFileContents& contents) {
  std::size_t bytes = 0;
  for (const auto& array : contents.arrays) {
    bytes += array.nbytes();
  }
  return bytes;
}

/// The fastest plain way: aligned memory, 16 MiB a write, one sync.
void write_raw(const std::string& path, std::span<const std::byte> bytes) {
  constexpr std::size_t kPiece = 16 << 20;
  const auto file = tessera::file_system().open(path, {.create = true, .direct = true});
  for (std::size_t at = 0; at < bytes.size(); at += kPiece) {
    file->write_at(bytes.subspan(at, std::min(kPiece, bytes.size() - at)), at);
  }
  file->sync();
}

double seconds(auto&& call) {
  const auto begin = std::chrono::steady_clock::now();
  call();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  const std::string parent = argc > 1 ? argv[1] : ".";
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 7;
  const std::string folder =
      tessera::join_path(parent, "bench_checkpoint." + std::to_string(getpid()));
  tessera::make_directories(folder);
  std::vector<float> values(std::size_t{3} * 124'500'000, 0.5F);
  const auto contents = checkpoint_of(values);
  const std::size_t bytes = bytes_in(contents);
  tessera::nn::AlignedBuffer buffer;
  const std::span<std::byte> raw = buffer.resized(bytes / 4096 * 4096);
  std::memcpy(raw.data(), values.data(), raw.size());
  std::vector<double> save;
  std::vector<double> direct;
  std::vector<double> verify;
  for (int round = 0; round < rounds; ++round) {
    direct.push_back(seconds([&] { write_raw(tessera::join_path(folder, "raw"), raw); }));
    tessera::remove_tree(tessera::join_path(folder, "raw"));
    save.push_back(seconds([&] { tessera::dist::save_checkpoint(folder, round, contents); }));
    verify.push_back(seconds([&] { tessera::dist::verify_checkpoint(folder, round); }));
    tessera::remove_tree(tessera::join_path(folder, "step-" + std::to_string(round)));
  }
  tessera::remove_tree(folder);
  const double gigabytes = static_cast<double>(bytes) / 1e9;
  const auto row = [&](const char* name, const std::vector<double>& times) {
    return "{\"name\": \"" + std::string(name) +
           "\", \"value\": " + std::to_string(gigabytes / median(times)) + ", \"unit\": \"GB/s\"}";
  };
  std::cerr << bytes << " bytes; save is " << median(direct) / median(save) << " of raw\n";
  std::cout << "{\"bench\": \"checkpoint\", \"rows\": [" << row("save", save) << ", "
            << row("raw_write", direct) << ", " << row("verify", verify) << "]}\n";
}
