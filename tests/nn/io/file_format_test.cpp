// Row K7: files that are neither HDF5 nor safetensors, and what their bytes say they are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tessera/core/base/error.h>
#include <tessera/nn/io/weights.h>
#include <tessera/nn/layers/linear.h>

#include "nn/io/said_of.h"
#include "support/command.h"
#include "support/error_of.h"
#include "support/temporary_folder.h"

namespace tessera::nn {
namespace {

using testing::HasSubstr;
using testing_support::error_of;

/// What loading the file that the Python code writes to `path` says.
std::string said_of_python(const std::string& code, const std::string& name) {
  const testing_support::TemporaryFolder folder;
  const std::string path = folder / name;
  const auto made =
      testing_support::run_command("/usr/bin/python3 -c \"path = '" + path + "'\n" + code + "\"");
  EXPECT_EQ(made.exit_code, 0) << made.output;
  return error_of<IoError>([&] { load_weights(*make<Linear>(2, 3), path); });
}

const std::string kAdvice =
    "; load it in Python and save its tensors with safetensors.torch.save_file";

TEST(FileFormat, an_archive_of_torch_save_is_said_to_be_one) {
  for (const char* record : {"archive/data.pkl", "model/data.pkl"}) {
    const std::string code =
        std::string("import zipfile\nwith zipfile.ZipFile(path, 'w') as z:\n") + "  z.writestr('" +
        record + "', bytes(100))\n" + "  z.writestr('archive/data/0', bytes(300000))";
    EXPECT_THAT(said_of_python(code, "a.h5"),
                HasSubstr("/a.h5' is a file of torch.save; expected HDF5" + kAdvice));
    EXPECT_THAT(
        said_of_python(code, "a.safetensors"),
        HasSubstr("a.safetensors' is a file of torch.save; expected safetensors" + kAdvice));
    EXPECT_THAT(said_of_python(code, "a.pt"), HasSubstr("a.pt' is a file of torch.save"));
  }
}

TEST(FileFormat, its_pickle_may_come_last) {
  const std::string code =
      "import zipfile\nwith zipfile.ZipFile(path, 'w') as z:\n"
      "  z.writestr('archive/data/0', bytes(300000))\n  z.writestr('archive/data.pkl', bytes(100))";
  EXPECT_THAT(said_of_python(code, "a.h5"), HasSubstr("is a file of torch.save"));
}

TEST(FileFormat, an_older_file_of_torch_save_is_a_pickle_of_its_number) {
  const std::string code =
      "import pickle\nwith open(path, 'wb') as f:\n"
      "  pickle.dump(0x1950a86a20f9469cfc6c, f, protocol=2)\n"
      "  pickle.dump(1001, f, protocol=2)\n  f.write(bytes(5000))";
  EXPECT_THAT(said_of_python(code, "a.h5"), HasSubstr("is a file of torch.save; expected HDF5"));
  EXPECT_THAT(said_of_python(code, "a.safetensors"), HasSubstr("is a file of torch.save"));
}

TEST(FileFormat, other_archives_and_pickles_are_not_taken_for_torchs) {
  EXPECT_THAT(said_of_python("import zipfile\nwith zipfile.ZipFile(path, 'w') as z:\n"
                             "  z.writestr('arr_0.npy', bytes(100))",
                             "a.h5"),
              HasSubstr("a.h5' is a zip archive; expected HDF5"));
  for (int protocol = 2; protocol <= 5; ++protocol) {
    EXPECT_THAT(
        said_of_python("import pickle\nwith open(path, 'wb') as f:\n  pickle.dump({'a': 1}, "
                       "f, protocol=" +
                           std::to_string(protocol) + ")",
                       "a.h5"),
        HasSubstr("a.h5' is a pickle; expected HDF5"));
  }
}

TEST(FileFormat, a_header_of_safetensors_that_begins_as_a_pickle_does_is_none) {
  const std::string header = "{" + std::string(0x280 - 2, ' ') + "}";
  const std::string bytes = std::string("\x80\x02\0\0\0\0\0\0", 8) + header;
  EXPECT_THAT(said_of(bytes, "a.h5"), HasSubstr("but its bytes look like safetensors"));
}

TEST(FileFormat, an_empty_file_is_said_to_be_empty) {
  EXPECT_EQ(said_of("", "a.h5"), "load: 'a.h5' is empty; expected HDF5");
  EXPECT_EQ(said_of("", "a.safetensors"), "load: 'a.safetensors' is empty; expected safetensors");
}

}  // namespace
}  // namespace tessera::nn
