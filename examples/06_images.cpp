// Images: a convolutional network learns to tell pictures apart.
//
//   06_images FOLDER [EPOCHS]     FOLDER/CLASS/NAME.png, .ppm or .pgm: a folder for each class
//   06_images                     draws squares, discs and crosses, and learns those
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <tessera/tessera.h>

namespace data = tessera::data;
namespace nn = tessera::nn;
using tessera::Tensor;

namespace {

constexpr std::int64_t kSide = 24;

/// Pictures (N, 3, side, side) -> a score for each class (N, classes).
struct Network : nn::Module {
  explicit Network(std::int64_t classes)
      : head(this, "head", 32 * (kSide / 4) * (kSide / 4), classes) {}

  nn::Child<nn::Conv2d> conv1{this, "conv1", 3, 16, 3, nn::ConvOptions{.padding = 1}};
  nn::Child<nn::Conv2d> conv2{this, "conv2", 16, 32, 3, nn::ConvOptions{.padding = 1}};
  nn::Child<nn::MaxPool2d> pool{this, "pool", 2};
  nn::Child<nn::Linear> head;

  [[nodiscard]] Tensor forward(const Tensor& x) const {
    const Tensor fine = pool(tessera::relu(conv1(x)));
    const Tensor coarse = pool(tessera::relu(conv2(fine)));
    return head(tessera::flatten(coarse, 1));
  }
};

/// Whether the shape `kind` covers a point, seen from its middle.
bool covers(int kind, double x, double y, double radius) {
  const bool square = std::max(std::abs(x), std::abs(y)) < radius;
  const bool disc = std::hypot(x, y) < radius;
  const bool cross = square && std::min(std::abs(x), std::abs(y)) < radius / 3;
  return kind == 0 ? square : kind == 1 ? disc : cross;
}

/// A new folder of drawn pictures.
std::string draw_pictures() {
  std::string root = "/tmp/tessera_shapes_XXXXXX";
  if (::mkdtemp(root.data()) == nullptr) {
    std::perror("mkdtemp");
    std::exit(1);
  }
  const char* kinds[] = {"square", "disc", "cross"};
  for (int i = 0; i < 300; ++i) {
    data::Random random(static_cast<std::uint64_t>(i));
    const double radius = 5 + 4 * random.uniform();
    const double x0 = 10 + 4 * random.uniform();
    const double y0 = 10 + 4 * random.uniform();
    Tensor picture = tessera::empty({1, kSide, kSide}, {.dtype = tessera::DType::u8});
    auto* pixel = picture.data<std::uint8_t>();
    for (std::int64_t y = 0; y < kSide; ++y) {
      for (std::int64_t x = 0; x < kSide; ++x) {
        const bool inside =
            covers(i % 3, static_cast<double>(x) - x0, static_cast<double>(y) - y0, radius);
        *pixel++ = static_cast<std::uint8_t>((inside ? 120 : 0) + random.below(120));
      }
    }
    const std::string folder = root + "/" + kinds[i % 3];
    tessera::make_directories(folder);
    nn::write_netpbm(folder + "/" + std::to_string(i) + ".pgm", picture);
  }
  return root;
}

/// How many of a batch the network gets right, and out of how many.
struct Score {
  double right = 0;
  double all = 0;

  void add(const Tensor& scores, const Tensor& classes) {
    const auto samples = static_cast<double>(classes.numel());
    const Tensor hits =
        tessera::cast(tessera::eq(tessera::argmax(scores, 1), classes), tessera::DType::f32);
    right += tessera::mean(hits).item() * samples;  // item() means over the batch's microbatches
    all += samples;
  }
  [[nodiscard]] double percent() const { return 100 * right / all; }
};

void train(const std::string& root, int epochs) {
  tessera::set_seed(1);

  const data::ImageFolder pictures(root);
  const std::int64_t held_back = pictures.size() / 5;
  const auto parts = data::random_split(pictures, {pictures.size() - held_back, held_back}, 1);
  // Plain pictures for the test; for training they are also moved about.
  const data::Compose plain(data::Resize(kSide, kSide), data::ToFloat(),
                            data::Normalize({0.5}, {0.25}));
  const data::Compose moved(plain, data::RandomCrop(kSide, {.padding = 2}));
  data::DataLoader training(data::transform(parts[0], moved),
                            {.batch_size = 16, .shuffle = true, .drop_last = true});
  data::DataLoader test(data::transform(parts[1], plain),
                        {.batch_size = 32, .counts_steps = false});

  const auto model = nn::make<Network>(std::ssize(pictures.classes()));
  tessera::optim::AdamW optimizer(model->parameters(), {.lr = 3e-3});
  std::printf("%lld pictures of %zu classes in %s\n", static_cast<long long>(pictures.size()),
              pictures.classes().size(), root.c_str());
  for (int epoch = 1; epoch <= epochs; ++epoch) {
    double loss_sum = 0;
    Score seen;
    model->train();
    for (auto& [x, y] : training) {
      const Tensor scores = model(x);
      const Tensor loss = tessera::cross_entropy(scores, y);
      loss.backward();
      optimizer.step();
      loss_sum += loss.item() * static_cast<double>(x.size(0));  // a pass may be a part of a batch
      seen.add(scores, y);
    }
    Score held;
    model->eval();
    for (auto& [x, y] : test) {
      const tessera::InferenceGuard inference;
      held.add(model(x), y);
    }
    std::printf("epoch %d  loss %.3f  training %.1f %%  test %.1f %%\n", epoch, loss_sum / seen.all,
                seen.percent(), held.percent());
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const bool drawn = argc <= 1;
    const std::string root = drawn ? draw_pictures() : argv[1];
    train(root, argc > 2 ? std::atoi(argv[2]) : 6);
    if (drawn) {
      tessera::remove_tree(root);
    }
  } catch (const tessera::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
