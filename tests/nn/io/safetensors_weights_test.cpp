// Rows I-14, K6, K7, N1 and N2: weights in safetensors files, and under other names.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include <tessera/core/base/error.h>
#include <tessera/core/base/file.h>
#include <tessera/nn/io/safetensors.h>
#include <tessera/nn/io/weights.h>
#include <tessera/nn/layers/embedding.h>
#include <tessera/nn/layers/layer_norm.h>
#include <tessera/nn/layers/transformer_block.h>

#include "nn/io/weights_example.h"
#include "support/command.h"
#include "support/error_of.h"
#include "support/simulated_file_system.h"
#include "support/temporary_folder.h"

namespace tessera::nn {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing_support::error_of;
using testing_support::run_command;
using testing_support::TemporaryFolder;

constexpr Format kFormat = Format::safetensors;

/// `name` with `arguments`, by the Python of TESSERA_PYTHON or the system's.
testing_support::CommandResult run_script(const std::string& name, const std::string& arguments) {
  const char* python = std::getenv("TESSERA_PYTHON");
  return run_command(tessera::detail::concat(python == nullptr ? "/usr/bin/python3" : python, ' ',
                                             TESSERA_TEST_FOLDER, "/nn/io/", name, ' ', arguments));
}

constexpr int kNoPackage = 77;
constexpr const char* kSkipped = "Python has no safetensors package here";

TEST(I14, safetensors_give_back_everything) {
  const TemporaryFolder folder;
  const auto model = make<Everything>(false);
  export_weights(*model, folder / "a.safetensors", kFormat);
  const auto other = make<Everything>(false);
  zero(*other);
  other->extra->state = Value();
  const LoadResult result = import_weights(*other, folder / "a.safetensors", kFormat);
  EXPECT_TRUE(result.missing_keys.empty() && result.unexpected_keys.empty());
  EXPECT_TRUE(same_tensors(model->state_dict(), other->state_dict()));
  EXPECT_EQ(other->extra->state.get<Value::Map>().at("text").get<std::string>(), "hello");
}

TEST(K6, the_name_of_a_file_tells_its_format) {
  EXPECT_EQ(format_of("a.safetensors"), Format::safetensors);
  EXPECT_EQ(format_of("safetensors"), Format::hdf5);
  EXPECT_EQ(format_of("a.safetensors.h5"), Format::hdf5);
  SimulatedFileSystem files;
  const FileSystemScope scope(files);
  const auto model = make<Everything>(false);
  save_weights(*model, "new/a.safetensors");
  export_weights(*model, "b.safetensors", kFormat);
  EXPECT_EQ(read_file("new/a.safetensors"), read_file("b.safetensors"));
  const auto other = make<Everything>(false);
  zero(*other);
  const LoadResult result = load_weights(*other, "new/a.safetensors");
  EXPECT_TRUE(result.missing_keys.empty() && result.unexpected_keys.empty());
  EXPECT_TRUE(same_tensors(model->state_dict(), other->state_dict()));
}

TEST(K6, safetensors_take_parameters_alone_and_refuse_complex128) {
  SimulatedFileSystem files;
  const FileSystemScope scope(files);
  save_weights(*make<Everything>(false), "a.safetensors", {.scope = WeightsScope::trainable});
  EXPECT_EQ(open_safetensors("a.safetensors")->find("shapes.steps"), nullptr);
  EXPECT_THROW(save_weights(*make<Everything>(true), "a.safetensors"), Unsupported);
  EXPECT_NE(open_safetensors("a.safetensors")->find("shapes.scalar"), nullptr);
}

/// Refuses the file `name` and says which format it looks like.
void expect_other_format(const std::string& name, const std::string& read_as,
                         const std::string& looks_like) {
  const auto model = make<Linear>(2, 3);
  const StateDict before = model->clone()->state_dict();
  EXPECT_EQ(error_of<IoError>([&] { load_weights(*model, name); }),
            tessera::detail::concat(
                "load: '", name, "' is read as ", read_as, ", but its bytes look like ", looks_like,
                "; load_weights goes by the name's ending (.safetensors, or any other for HDF5), "
                "import_weights by the format that it is given"));
  EXPECT_TRUE(same_tensors(before, model->state_dict()));
}

TEST(K7, a_file_of_another_format_than_its_name_says_is_refused) {
  SimulatedFileSystem files;
  const FileSystemScope scope(files);
  export_weights(*make<Linear>(2, 3), "a.h5", kFormat);
  expect_other_format("a.h5", "HDF5", "safetensors");
  const std::string signature = "\x89HDF\r\n\x1a\n";
  for (const std::size_t block : {0, 512, 4096}) {  // of the writer's own before it
    const std::string bytes = std::string(block, 'x') + signature + "more";
    write_file("b.safetensors", std::as_bytes(std::span(bytes)));
    expect_other_format("b.safetensors", "safetensors", "HDF5");
  }
  const std::string text = "neither of the two";
  write_file("c.safetensors", std::as_bytes(std::span(text)));
  const auto model = make<Linear>(2, 3);
  EXPECT_THAT(error_of<IoError>([&] { load_weights(*model, "c.safetensors"); }),
              HasSubstr("no safetensors file"));
}

TEST(N2, names_are_in_order_and_a_tied_tensor_is_written_once) {
  const TemporaryFolder folder;
  const auto model = make<Everything>(false);
  export_weights(*model, folder / "a.safetensors", kFormat);
  std::vector<std::string> expected;
  for (const auto& [name, value] : model->state_dict()) {
    if (name != "head.weight") {
      expected.push_back(name);
    }
  }
  EXPECT_EQ(names_in(*open_safetensors(folder / "a.safetensors")), expected);
  const auto attributes = open_safetensors(folder / "a.safetensors")->attributes();
  EXPECT_EQ(*find_attribute<std::string>(attributes, "", "head.weight"), "zebra.weight");
}

TEST(N2, other_programs_read_the_file) {
  const TemporaryFolder folder;
  save_weights(*make<Everything>(false), folder / "a.safetensors");
  const auto read = run_script("safetensors_read_back.py", folder / "a.safetensors");
  EXPECT_EQ(read.exit_code, 0) << read.output;
}

TEST(N2, the_safetensors_package_reads_the_file) {
  const TemporaryFolder folder;
  save_weights(*make<Everything>(false), folder / "a.safetensors");
  const auto read = run_script("safetensors_read_back.py", (folder / "a.safetensors") + " package");
  if (read.exit_code == kNoPackage) {
    GTEST_SKIP() << kSkipped;
  }
  EXPECT_EQ(read.exit_code, 0) << read.output;
}

void expect_linear(const std::string& path) {
  const auto linear = make<Linear>(2, 3);
  import_weights(*linear, path, kFormat);
  EXPECT_THAT(linear->weight.value().to_vector<float>(), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(linear->bias.value().to_vector<float>(), ElementsAre(7, 8, 9));
}

TEST(N1, reads_what_other_programs_write) {
  const TemporaryFolder folder;
  const auto made = run_script("safetensors_write.py", (folder / "a.safetensors") + " linear");
  ASSERT_EQ(made.exit_code, 0) << made.output;
  expect_linear(folder / "a.safetensors");
}

TEST(N1, reads_what_the_safetensors_package_writes) {
  const TemporaryFolder folder;
  const auto made =
      run_script("safetensors_write.py", (folder / "a.safetensors") + " linear package");
  if (made.exit_code == kNoPackage) {
    GTEST_SKIP() << kSkipped;
  }
  ASSERT_EQ(made.exit_code, 0) << made.output;
  expect_linear(folder / "a.safetensors");
}

TEST(N1, an_alias_fills_a_model_that_is_not_tied) {
  const TemporaryFolder folder;
  const auto tied = make<Everything>(false);
  export_weights(*tied, folder / "a.safetensors", kFormat);
  const auto untied = make<Everything>(false);
  untied->head->register_parameter("weight", zeros({5, 3}));
  import_weights(*untied, folder / "a.safetensors", kFormat);
  EXPECT_EQ(untied->head->weight.value().to_vector<float>(),
            tied->embedding->weight.value().to_vector<float>());
}

TEST(N2, complex128_is_refused_by_name) {
  SimulatedFileSystem files;
  const FileSystemScope scope(files);
  const auto model = make<Everything>(true);
  EXPECT_THAT(error_of<Unsupported>([&] { export_weights(*model, "a", kFormat); }),
              HasSubstr("safetensors cannot hold 'dtypes.p_c128' of dtype c128"));
  EXPECT_EQ(files.list(".").size(), 0U);
}

TEST(N1, bad_files_change_nothing) {
  SimulatedFileSystem files;
  const FileSystemScope scope(files);
  const auto model = make<Linear>(2, 3);
  export_weights(*model, "a", kFormat);
  const StateDict before = model->clone()->state_dict();
  const std::string whole = read_file("a");
  for (std::size_t size = 0; size < whole.size(); size += 1 + size / 4) {
    write_file("a", std::as_bytes(std::span(whole).first(size)));
    EXPECT_THAT(error_of<IoError>([&] { import_weights(*model, "a", kFormat); }), HasSubstr("'a'"))
        << size;
    EXPECT_TRUE(same_tensors(before, model->state_dict())) << size;
  }
}

/// The parts of a GPT-2 under nanoGPT's names.
struct SmallGpt : Module {
  struct Body : Module {
    Child<Embedding> wte{this, "wte", 7, 4};
    Child<Embedding> wpe{this, "wpe", 5, 4};
    struct Blocks : Module {
      Child<TransformerBlock> first{this, "0", 4, 2};
    };
    Child<Blocks> h{this, "h"};
    Child<LayerNorm> ln_f{this, "ln_f", 4};
  };
  Child<Body> transformer{this, "transformer"};
  Child<Linear> lm_head{this, "lm_head", 4, 7, LinearOptions{.bias = false}};
  SmallGpt() { lm_head->weight.tie(transformer->wte->weight); }
};

void expect_gpt2(const std::string& kind) {
  const TemporaryFolder folder;
  const auto made = run_script("safetensors_write.py", (folder / "gpt2.safetensors ") + kind);
  ASSERT_EQ(made.exit_code, 0) << made.output;
  const auto model = make<SmallGpt>();
  import_weights(*model, folder / "gpt2.safetensors", kFormat, name_maps::from_gpt2());
  const auto value = [&](const std::string& name) {
    return model->state_dict().tensor("transformer." + name);
  };
  EXPECT_EQ(value("h.0.attn.c_attn.weight").shape(), (Shape{12, 4}));
  const auto weights = value("h.0.attn.c_attn.weight").to_vector<float>();
  for (std::size_t out = 0; out < 12; ++out) {  // element (in, out) of the file is 100 in + out
    for (std::size_t in = 0; in < 4; ++in) {
      EXPECT_EQ(weights[out * 4 + in], static_cast<float>(100 * in + out));
    }
  }
  EXPECT_EQ(value("wpe.weight").to_vector<float>()[5], 101);
  EXPECT_EQ(model->lm_head->weight.value().to_vector<float>()[4], 100);
}

TEST(N1, reads_gpt2_as_hugging_face_publishes_it) {
  expect_gpt2("gpt2");
}

TEST(N1, reads_gpt2_with_its_head) {
  expect_gpt2("gpt2_head");
}

TEST(N2, writes_gpt2_back) {
  const TemporaryFolder folder;
  const auto model = make<SmallGpt>();
  export_weights(*model, folder / "a.safetensors", kFormat, name_maps::to_gpt2());
  EXPECT_THAT(names_in(*open_safetensors(folder / "a.safetensors")),
              testing::Contains("h.0.mlp.c_fc.weight"));
  const auto reader = open_safetensors(folder / "a.safetensors");
  EXPECT_EQ(reader->find("h.0.mlp.c_fc.weight")->shape, (Shape{4, 16}));
  const auto other = make<SmallGpt>();
  import_weights(*other, folder / "a.safetensors", kFormat, name_maps::from_gpt2());
  EXPECT_TRUE(same_tensors(model->state_dict(), other->state_dict()));
}

TEST(N1, a_tied_tensor_is_transposed_under_one_name_alone) {
  struct Tied : Module {
    Tied() { head->weight.tie(embedding->weight); }
    Child<Embedding> embedding{this, "embedding", 5, 3};
    Child<Linear> head{this, "head", 3, 5};
  };
  const TemporaryFolder folder;
  const auto model = make<Tied>();
  const NameMap flax{{{"^head\\.weight$", "head.kernel", true}}};
  const NameMap back{{{"^head\\.kernel$", "head.weight", true}}};
  export_weights(*model, folder / "a.safetensors", kFormat, flax);
  const auto reader = open_safetensors(folder / "a.safetensors");
  EXPECT_EQ(reader->find("embedding.weight")->shape, (Shape{5, 3}));
  ASSERT_NE(reader->find("head.kernel"), nullptr);
  EXPECT_EQ(reader->find("head.kernel")->shape, (Shape{3, 5}));
  const auto other = make<Tied>();
  import_weights(*other, folder / "a.safetensors", kFormat, back);
  EXPECT_TRUE(same_tensors(model->state_dict(), other->state_dict()));
}

TEST(N1, names_too_long_to_map_are_refused_with_the_file) {
  SimulatedFileSystem files;
  const FileSystemScope scope(files);
  const float value = 1;
  const std::string name(2000, 'n');
  write_safetensors("a", {.arrays = {{name, DType::f32, {}, &value, ""}}});
  const auto model = make<Linear>(2, 3);
  const auto import = [&] { import_weights(*model, "a", kFormat, name_maps::from_flax()); };
  EXPECT_THAT(error_of<IoError>(import), HasSubstr("load: 'a': 'nnn"));
  EXPECT_THAT(error_of<IoError>(import), HasSubstr("got 2000 bytes, expected at most 1000"));
}

TEST(N1, transposing_takes_two_dims) {
  SimulatedFileSystem files;
  const FileSystemScope scope(files);
  const auto model = make<Linear>(2, 3);
  const NameMap all{{{"^", "", true}}};
  EXPECT_THAT(error_of<ValueError>([&] { export_weights(*model, "a", kFormat, all); }),
              HasSubstr("\"bias\" is to be transposed; got shape (3,)"));
  export_weights(*model, "a", kFormat);
  EXPECT_THAT(error_of<IoError>([&] { import_weights(*model, "a", kFormat, all); }),
              HasSubstr("load: 'a': 'bias' is to be transposed"));
}

}  // namespace
}  // namespace tessera::nn
