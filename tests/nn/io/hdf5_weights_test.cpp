// Rows K6, K7, I-10, X15, X17 and X42: weights in HDF5 files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include <tessera/core/base/error.h>
#include <tessera/core/base/file.h>
#include <tessera/nn/io/array_file.h>
#include <tessera/nn/io/replace_file.h>
#include <tessera/nn/io/weights.h>
#include <tessera/nn/layers/sequential.h>

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

std::string script(const std::string& name) {
  return "/usr/bin/python3 " + std::string(TESSERA_TEST_FOLDER) + "/nn/io/" + name + " ";
}

TEST(K6, gives_back_everything) {
  const TemporaryFolder folder;
  const auto model = make<Everything>();
  save_weights(*model, folder / "a.h5");
  const auto other = make<Everything>();
  zero(*other);
  other->extra->state = Value();
  const LoadResult result = load_weights(*other, folder / "a.h5");
  EXPECT_TRUE(result.missing_keys.empty() && result.unexpected_keys.empty());
  EXPECT_TRUE(same_tensors(model->state_dict(), other->state_dict()));
  const auto& state = other->extra->state.get<Value::Map>();
  EXPECT_EQ(state.at("text").get<std::string>(), "hello");
  EXPECT_EQ(state.at("list").get<Value::List>().at(1).get<double>(), 2.5);
  EXPECT_TRUE(state.at("list").get<Value::List>().at(3).empty());
}

TEST(I10, standard_tools_read_the_file) {
  const TemporaryFolder folder;
  const auto model = make<Everything>();
  save_weights(*model, folder / "a.h5");
  const auto h5py = run_command(script("weights_read_back.py") + (folder / "a.h5"));
  EXPECT_EQ(h5py.exit_code, 0) << h5py.output;
  const auto dump = run_command("h5dump -H " + (folder / "a.h5"));
  EXPECT_EQ(dump.exit_code, 0) << dump.output;
  EXPECT_THAT(dump.output, HasSubstr("HARDLINK"));
}

TEST(K6, keeps_the_order_of_the_state_dict) {
  const TemporaryFolder folder;
  const auto model = make<Everything>();
  save_weights(*model, folder / "a.h5");
  std::vector<std::string> expected;
  for (const auto& [name, value] : model->state_dict()) {
    expected.push_back(name);
    std::ranges::replace(expected.back(), '.', '/');
  }
  EXPECT_EQ(names_in(*open_array_file(folder / "a.h5")), expected);
}

TEST(X17, a_tied_tensor_is_stored_once) {
  const TemporaryFolder folder;
  save_weights(*make<Everything>(), folder / "a.h5");
  const auto reader = open_array_file(folder / "a.h5", Checksums::required);
  EXPECT_EQ(reader->find("head/weight")->target, "zebra/weight");
  EXPECT_EQ(reader->find("zebra/weight")->target, "");
}

TEST(X42, trainable_leaves_buffers_and_extra_state_out) {
  const TemporaryFolder folder;
  const auto model = make<Everything>();
  save_weights(*model, folder / "a.h5", {.scope = WeightsScope::trainable});
  EXPECT_THAT(names_in(*open_array_file(folder / "a.h5")),
              testing::Not(testing::Contains("shapes/steps")));
  const auto other = make<Everything>();
  zero(*other);
  const LoadResult result = load_weights(*other, folder / "a.h5", {.strict = false});
  EXPECT_EQ(other->shapes->scalar.value().item<float>(), 2.5F);
  EXPECT_THAT(result.missing_keys, testing::Contains("shapes.steps"));
  EXPECT_THAT(result.missing_keys, testing::Contains("extra._extra_state"));
  EXPECT_THAT(result.missing_keys, testing::Not(testing::Contains("head.weight")));
}

TEST(K6, makes_folders_and_takes_bare_names) {
  SimulatedFileSystem files;
  const FileSystemScope scope(files);
  const auto model = make<Linear>(2, 3);
  save_weights(*model, "new/folders/a.h5");
  save_weights(*model, "bare.h5");
  EXPECT_EQ(files.kind("new/folders/a.h5"), FileKind::regular);
  EXPECT_EQ(files.list("new/folders").size(), 1U);
  EXPECT_EQ(files.kind("bare.h5"), FileKind::regular);
}

/// Runs `work` in a process of its own, which ends without any cleaning up.
pid_t start_process(const std::function<void()>& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    try {
      work();
    } catch (...) {
      ::_exit(1);
    }
    ::_exit(0);
  }
  return child;
}

/// Of a process that ended by itself.
int exit_code_of(pid_t child) {
  int status = -1;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(K6, what_a_dead_process_left_is_removed) {
  const TemporaryFolder folder;
  const pid_t dying = start_process([&] {
    replace_file(folder / "a.h5", [](const std::string& fresh) {
      static_cast<void>(file_system().open(fresh, {.create = true}));
      ::_exit(0);
    });
  });
  EXPECT_EQ(exit_code_of(dying), 0);
  EXPECT_EQ(file_system().list(folder.path()).size(), 1U);
  save_weights(*make<Linear>(2, 3), folder / "a.h5");
  ASSERT_EQ(file_system().list(folder.path()).size(), 1U);
  EXPECT_EQ(file_system().list(folder.path())[0].name, "a.h5");
}

TEST(K6, a_failing_disk_leaves_the_old_file) {
  SimulatedFileSystem files;
  const FileSystemScope scope(files);
  const auto model = make<Linear>(2, 3);
  save_weights(*model, "dir/a.h5");
  const std::string before = read_file("dir/a.h5");
  model->weight.value().detach().data<float>()[0] = 42;
  for (std::uint64_t i = 0; read_file("dir/a.h5") == before && i < 100; ++i) {
    files.fail_at(files.operations() + i);
    try {
      save_weights(*model, "dir/a.h5");
    } catch (const IoError& error) {
      EXPECT_THAT(error.what(), HasSubstr("Input/output error"));
    }
    EXPECT_NO_THROW((void)open_array_file("dir/a.h5", Checksums::required)) << i;
  }
  EXPECT_NE(read_file("dir/a.h5"), before);
}

TEST(K6, a_crash_leaves_the_old_file_or_the_new_one) {
  for (std::uint64_t at = 0;; ++at) {
    SimulatedFileSystem files;
    const FileSystemScope scope(files);
    const auto model = make<Linear>(2, 3);
    save_weights(*model, "dir/a.h5");
    const std::string before = read_file("dir/a.h5");
    model->weight.value().detach().data<float>()[0] = 42;
    files.crash_before(files.operations() + at);
    try {
      save_weights(*model, "dir/a.h5");
      EXPECT_GT(at, 3U);
      return;
    } catch (const SimulatedCrash&) {
      files.reboot(Survivors::random, at);
    }
    EXPECT_NO_THROW((void)open_array_file("dir/a.h5", Checksums::required)) << at;
  }
}

TEST(K6, refuses_what_files_cannot_hold) {
  SimulatedFileSystem files;
  const FileSystemScope scope(files);
  const auto model = make<Everything>();
  model->extra->state = Value(Value::Object{3});
  EXPECT_THAT(error_of<Unsupported>([&] { save_weights(*model, "a.h5"); }),
              HasSubstr("save: \"extra._extra_state\""));
  model->extra->state = Value();
  model->to_empty(Device{DeviceType::meta});
  EXPECT_THAT(error_of<NotImplementedError>([&] { save_weights(*model, "a.h5"); }),
              HasSubstr("tensor has no data (meta); use to_empty()"));
  EXPECT_EQ(files.kind("a.h5"), FileKind::missing);
}

TEST(K7, our_own_file_under_a_name_of_safetensors_is_told) {
  const TemporaryFolder folder;
  const auto model = make<Linear>(2, 3);
  export_weights(*model, folder / "a.safetensors", Format::hdf5);
  EXPECT_THAT(error_of<IoError>([&] { load_weights(*model, folder / "a.safetensors"); }),
              HasSubstr("is read as safetensors, but its bytes look like HDF5"));
  import_weights(*model, folder / "a.safetensors", Format::hdf5);
}

TEST(K7, reads_nested_groups_dotted_links_and_the_group_model) {
  const TemporaryFolder folder;
  const auto made = run_command(script("weights_write_foreign.py") + folder.path());
  ASSERT_EQ(made.exit_code, 0) << made.output;
  for (const char* name : {"nested.h5", "dotted.h5", "mixed.h5", "model.h5", "checkpoint.h5"}) {
    const auto linear = make<Sequential>();
    linear->add<Linear>(2, 3);
    load_weights(*linear, folder / name);
    EXPECT_THAT(linear->state_dict().tensor("0.weight").to_vector<float>(),
                ElementsAre(0, 1, 2, 3, 4, 5))
        << name;
    EXPECT_THAT(linear->state_dict().tensor("0.bias").to_vector<float>(), ElementsAre(7, 8, 9))
        << name;
  }
}

/// A model whose child is called as the group of checkpoints is.
struct HasModel : Module {
  Child<Linear> model{this, "model", 2, 3};
};

TEST(K7, a_child_called_model_is_itself) {
  const TemporaryFolder folder;
  const auto model = make<HasModel>();
  save_weights(*model, folder / "a.h5");
  const auto other = make<HasModel>();
  load_weights(*other, folder / "a.h5");
  EXPECT_TRUE(same_tensors(model->state_dict(), other->state_dict()));
}

struct HasModelOfModel : Module {
  Child<HasModel> model{this, "model"};
};

/// Whatever children are called, in a file of weights and in one with more than a model.
TEST(K7, a_child_called_model_in_another_is_itself) {
  const TemporaryFolder folder;
  const auto model = make<HasModelOfModel>();
  save_weights(*model, folder / "a.h5");
  const auto other = make<HasModelOfModel>();
  load_weights(*other, folder / "a.h5");
  EXPECT_TRUE(same_tensors(model->state_dict(), other->state_dict()));
  const auto part = make<HasModel>();
  load_weights(*part, folder / "a.h5");
  EXPECT_TRUE(same_tensors(model->model->state_dict(), part->state_dict()));
}

TEST(K7, names_that_a_map_makes_of_a_files_group_model_are_the_modules) {
  const TemporaryFolder folder;
  struct Parts : Module {
    Child<Linear> net{this, "net", 2, 3};
    Child<Linear> head{this, "head", 2, 3};
  };
  struct Files : Module {
    Child<Linear> model{this, "model", 2, 3};
    Child<Linear> head{this, "head", 2, 3};
  };
  const auto files = make<Files>();
  save_weights(*files, folder / "a.safetensors");
  const auto parts = make<Parts>();
  import_weights(*parts, folder / "a.safetensors", Format::safetensors,
                 {.rules = {{"^model\\.", "net."}}});
  EXPECT_TRUE(same_tensors(files->model->state_dict(), parts->net->state_dict()));
  EXPECT_TRUE(same_tensors(files->head->state_dict(), parts->head->state_dict()));
}

TEST(K7, other_names_in_a_files_group_model_are_read_too) {
  const TemporaryFolder folder;
  struct Tied : Module {
    Child<Linear> a{this, "a", 2, 3};
    Child<Linear> b{this, "b", 2, 3};
    explicit Tied(bool tied) {
      if (tied) {
        b->weight.tie(a->weight);
      }
    }
  };
  struct Wrapper : Module {
    Child<Tied> model{this, "model", true};
  };
  const auto wrapper = make<Wrapper>();
  for (const char* name : {"a.h5", "a.safetensors"}) {
    save_weights(*wrapper, folder / name);
    const auto apart = make<Tied>(false);
    load_weights(*apart, folder / name);
    EXPECT_TRUE(same_tensors(wrapper->model->state_dict(), apart->state_dict())) << name;
  }
}

TEST(K7, a_name_filled_under_another_one_is_not_missing) {
  const TemporaryFolder folder;
  ASSERT_EQ(run_command(script("weights_write_foreign.py") + folder.path()).exit_code, 0);
  struct Tied : Module {
    Child<Linear> a{this, "a", 2, 3};
    Child<Linear> b{this, "b", 2, 3};
    Tied() {
      b->weight.tie(a->weight);
      b->bias.tie(a->bias);
    }
  };
  const auto tied = make<Tied>();
  load_weights(*tied, folder / "only_b.h5");
  EXPECT_THAT(tied->a->weight.value().to_vector<float>(), ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST(K7, problems_are_those_of_load_state_dict) {
  const TemporaryFolder folder;
  save_weights(*make<Linear>(2, 3), folder / "a.h5");
  const auto wider = make<Linear>(4, 3, LinearOptions{.bias = false});
  const StateDict before = wider->clone()->state_dict();
  const std::string message =
      error_of<RuntimeError>([&] { load_weights(*wider, folder / "a.h5"); });
  EXPECT_EQ(message, "load_state_dict(Linear) of '" + (folder / "a.h5") +
                         "': 2 problems\n\tunexpected: \"bias\"\n\tshape of \"weight\": "
                         "file (3, 2), module (3, 4)");
  EXPECT_TRUE(same_tensors(before, wider->state_dict()));
}

TEST(K7, hooks_hear_of_the_version_that_wrote) {
  const TemporaryFolder folder;
  const auto model = make<Everything>();
  save_weights(*model, folder / "a.h5");
  std::int64_t version = 0;
  model->extra->register_load_state_dict_pre_hook([&](Module&, LoadContext& context) {
    version = context.metadata.at("version").get<std::int64_t>();
  });
  load_weights(*model, folder / "a.h5");
  EXPECT_EQ(version, 3);
}

TEST(K7, takes_the_files_dtypes_when_assigning) {
  const TemporaryFolder folder;
  const auto model = make<Linear>(2, 3);
  model->to_bfloat16();
  save_weights(*model, folder / "a.h5");
  const auto other = make<Linear>(2, 3);
  load_weights(*other, folder / "a.h5");
  EXPECT_EQ(other->weight.value().dtype(), DType::f32);
  load_weights(*other, folder / "a.h5", {.assign = true});
  EXPECT_EQ(other->weight.value().dtype(), DType::bf16);
  EXPECT_TRUE(same_tensors(model->state_dict(), other->state_dict()));
}

TEST(K7, bad_files_change_nothing_and_name_file_and_field) {
  const TemporaryFolder folder;
  ASSERT_EQ(run_command(script("weights_write_foreign.py") + folder.path()).exit_code, 0);
  const auto model = make<Linear>(2, 3);
  const StateDict before = model->clone()->state_dict();
  const auto message = [&](const std::string& name) {
    return error_of<IoError>([&] { load_weights(*model, folder / name); });
  };
  for (const auto& [name, part] :
       {std::pair{"extra.h5", "extra.h5': '_extra_state': the bytes are no value"},
        std::pair{"words.h5", "words.h5': 'weight' has a type that no dtype holds"},
        std::pair{"huge.h5", "huge.h5': 'weight' is not in the file; got 0 bytes"},
        std::pair{"newer.h5", "newer.h5' was written by a newer Tessera; got weights format 9"},
        std::pair{"text.h5", "text.h5' is no readable HDF5 file"},
        std::pair{"cut.h5", "cut.h5' is no readable HDF5 file"}, std::pair{"none.h5", "none.h5"}}) {
    EXPECT_THAT(message(name), HasSubstr(part)) << name;
    EXPECT_TRUE(same_tensors(before, model->state_dict())) << name;
  }
}

TEST(K7, a_name_that_is_there_twice_is_an_error_where_it_is_wanted) {
  const TemporaryFolder folder;
  ASSERT_EQ(run_command(script("weights_write_foreign.py") + folder.path()).exit_code, 0);
  const auto wants = make<Sequential>();
  wants->add<Linear>(2, 3);
  EXPECT_THAT(error_of<IoError>([&] { load_weights(*wants, folder / "twice.h5"); }),
              HasSubstr("twice.h5': '0.weight' is there twice, as '0.weight'"));
  const auto linear = make<Linear>(2, 3);
  const LoadResult result = load_weights(*linear, folder / "twice_unwanted.h5", {.strict = false});
  EXPECT_THAT(result.unexpected_keys, ElementsAre("other.weight"));
  EXPECT_THAT(linear->bias.value().to_vector<float>(), ElementsAre(7, 8, 9));
}

TEST(X15, names_with_the_files_separators_cannot_be_made) {
  const auto model = make<Linear>(2, 3);
  for (const char* name : {"a.b", "a/b", ""}) {
    EXPECT_THROW(model->register_buffer(name, ones({1})), KeyError) << name;
  }
}

}  // namespace
}  // namespace tessera::nn
