// Weights in files: HDF5 and safetensors, ties, and loading a part.
//
//   08_saving_and_loading [FOLDER]
#include <cstdio>
#include <iostream>
#include <string>

#include <tessera/tessera.h>

namespace nn = tessera::nn;
using tessera::Tensor;

/// Predicts the next of a few tokens; the table that reads tokens also scores them.
struct Model : nn::Module {
  explicit Model(std::int64_t outputs = 10)
      : table(this, "table", outputs, 8), body(this, "body", 8, 8), head(this, "head", 8, outputs) {
    head->weight.tie(table->weight);
  }
  nn::Child<nn::Embedding> table;
  nn::Child<nn::Linear> body;
  nn::Child<nn::Linear> head;
  Tensor forward(const Tensor& ids) const { return head(tessera::relu(body(table(ids)))); }
};

/// Sums of all parameters tell whether two models are the same.
double sum_of(const nn::Module& model) {
  double sum = 0;
  for (const auto& [name, value] : model.state_dict()) {
    for (const float x : value.tensor().to_vector<float>()) {
      sum += x;
    }
  }
  return sum;
}

/// HDF5 or safetensors, as the file's name ends.
void keep(const std::string& path) {
  const auto model = nn::make<Model>();
  nn::save_weights(*model, path);  // beside, then renamed: the old file or the new one is there
  const auto other = nn::make<Model>();
  std::cout << "before: " << (sum_of(*model) == sum_of(*other) ? "equal" : "different") << '\n';
  const nn::LoadResult result = nn::load_weights(*other, path);
  std::cout << "after:  " << (sum_of(*model) == sum_of(*other) ? "equal" : "different") << ", "
            << result << '\n';
}

/// The tied weight is in the file once, and stays tied in the model that reads it.
void ties(const std::string& path) {
  const auto model = nn::make<Model>();
  nn::load_weights(*model, path);
  const bool tied = model->head->weight.slot() == model->table->weight.slot();
  std::cout << "table and head are " << (tied ? "tied" : "apart") << '\n';
}

/// The format told, and names as other libraries have them.
void renamed(const std::string& path) {
  const nn::NameMap slashes = nn::name_maps::separators(".", "/");
  const nn::NameMap dots = nn::name_maps::separators("/", ".");
  const auto model = nn::make<Model>();
  nn::export_weights(*model, path, nn::Format::safetensors, slashes);
  const auto other = nn::make<Model>();
  nn::import_weights(*other, path, nn::Format::safetensors, dots);
  std::cout << "renamed: " << (sum_of(*model) == sum_of(*other) ? "equal" : "different") << '\n';
}

struct Larger : nn::Module {
  nn::Child<nn::Linear> body{this, "body", 8, 8};
  nn::Child<nn::Linear> more{this, "more", 8, 3};
};

/// What both have is loaded; the rest is said. Without `strict = false` it is an error that lists
/// all of it and changes nothing.
void part(const std::string& path) {
  const auto larger = nn::make<Larger>();
  std::cout << nn::load_weights(*larger, path, {.strict = false}) << '\n';
  try {
    nn::load_weights(*larger, path);
  } catch (const tessera::Error& error) {
    std::cout << error.what() << '\n';
  }
}

int main(int argc, char** argv) {
  const std::string folder = argc > 1 ? argv[1] : ".";
  try {
    tessera::set_seed(1);
    keep(folder + "/model.h5");
    keep(folder + "/model.safetensors");
    ties(folder + "/model.safetensors");
    renamed(folder + "/slashes.safetensors");
    part(folder + "/model.h5");
  } catch (const tessera::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
