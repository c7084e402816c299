// Sequences: an LSTM learns a text character by character, then writes.
//
//   07_sequences [TEXT [STEPS]]     without a text it reads this file's own source
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include <tessera/tessera.h>

namespace data = tessera::data;
namespace nn = tessera::nn;
using tessera::Tensor;

namespace {

constexpr std::int64_t kBytes = 256;
constexpr std::int64_t kWidth = 128;

/// Characters (B, T) -> scores for the character that follows each (B, T, 256), and the state that
/// a longer text goes on from.
struct Network : nn::Module {
  nn::Child<nn::Embedding> embed{this, "embed", kBytes, 32};
  nn::Child<nn::LSTM> lstm{this, "lstm", 32, kWidth, nn::RecurrentOptions{.batch_first = true}};
  nn::Child<nn::Linear> head{this, "head", kWidth, kBytes};

  [[nodiscard]] std::pair<Tensor, nn::LstmState> forward(const Tensor& characters,
                                                         const nn::LstmState& state = {}) const {
    auto [hidden, last] = lstm(embed(characters), state);
    return {head(hidden), last};
  }
};

std::vector<std::uint8_t> bytes_of(const std::string& text) {
  return {text.begin(), text.end()};
}

/// Prints `prompt` and what the network thinks comes after it.
void write(const nn::Ptr<Network>& model, const std::string& prompt, int length) {
  const tessera::InferenceGuard inference;
  model->eval();
  std::fputs(prompt.c_str(), stdout);
  std::vector<std::int64_t> next(prompt.begin(), prompt.end());
  nn::LstmState state;
  for (int i = 0; i < length; ++i) {
    const Tensor characters =
        tessera::from_values(std::span<const std::int64_t>(next), {1, std::ssize(next)});
    const auto [scores, last] = model(characters, state);
    const Tensor likely = tessera::softmax(tessera::select(scores, 1, -1) / 0.6, -1);
    next = tessera::multinomial(likely).to_vector<std::int64_t>();
    state = last;
    std::putchar(static_cast<int>(next[0]));
  }
  std::puts("");
}

void train(const std::string& path, std::int64_t steps) {
  tessera::set_seed(1);

  // A sample is 64 characters, and the same moved on by one.
  const data::TokenSequence text(bytes_of(nn::read_text(path)));
  data::DataLoader loader(data::TokenWindows(text, {.context = 64}),
                          {.batch_size = 16, .shuffle = true, .join_epochs = true, .steps = steps});
  const auto model = nn::make<Network>();
  tessera::optim::AdamW optimizer(model->parameters(), {.lr = 5e-3});
  optimizer.clip_grad_norm(1);
  std::printf("%lld characters of %s\n", static_cast<long long>(text.size()), path.c_str());

  double mean = 0;
  for (auto& [x, y] : loader) {
    const Tensor loss = tessera::cross_entropy(model(x).first, y);
    loss.backward();
    optimizer.step();
    const std::int64_t step = loader.position();
    mean = step == 1 ? loss.item() : 0.9 * mean + 0.1 * loss.item();
    if (step % 50 == 0 || step == steps) {
      std::printf("step %lld  loss %.3f\n", static_cast<long long>(step), mean);
    }
  }
  write(model, "the ", 200);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    train(argc > 1 ? argv[1] : __FILE__, argc > 2 ? std::atoll(argv[2]) : 300);
  } catch (const tessera::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
