// SPDX-License-Identifier: Apache-2.0
#include "tensor/file_paths.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "support/error_text.h"
#include "support/temporary_folder.h"

namespace moiety {
namespace {

namespace fs = std::filesystem;
using testing::error_text;
using testing::says;

class FilePaths : public ::testing::Test {
 protected:
  FilePaths() {
    testing::write_bytes(folder_ / "file", "x");
    fs::create_directory(folder_ / "folder");
    mkfifo((folder_ / "pipe").c_str(), 0600);
  }
  testing::TemporaryFolder folder_;
};

TEST_F(FilePaths, InputsAreFiles) {
  const auto refusal = [&](const char* name) {
    return error_text<UserError>([&] { check_input_file(folder_ / name); });
  };
  EXPECT_NO_THROW(check_input_file(folder_ / "file"));
  EXPECT_TRUE(says(refusal("none"), {"there is no file", "none"}));
  EXPECT_TRUE(says(refusal("folder"), {"folder is a folder"}));
  EXPECT_TRUE(says(refusal("pipe"), {"pipe is a pipe or a device"}));
}

TEST_F(FilePaths, OutputsGoWhereLinksPoint) {
  EXPECT_EQ(output_place(folder_ / "file"), folder_ / "file");
  EXPECT_EQ(output_place(folder_ / "new"), folder_ / "new");
  fs::create_symlink("folder/there", folder_ / "relative");
  fs::create_symlink(folder_ / "relative", folder_ / "absolute");
  EXPECT_EQ(output_place(folder_ / "absolute"), folder_ / "folder/there");
}

TEST_F(FilePaths, OutputsReplaceFilesAlone) {
  const auto refusal = [&](const char* name) {
    return error_text<UserError>([&] { output_place(folder_ / name); });
  };
  fs::create_symlink("pipe", folder_ / "to_pipe");
  fs::create_symlink("circle", folder_ / "circle");
  EXPECT_TRUE(says(refusal("folder"), {"folder is a folder"}));
  EXPECT_TRUE(says(refusal("pipe"), {"pipe is a pipe"}));
  EXPECT_TRUE(says(refusal("to_pipe"), {"to_pipe is a pipe"}));
  EXPECT_TRUE(says(refusal("circle"), {"circle", "nowhere"}));
}

TEST_F(FilePaths, OutputsAreNotInputsUnderAnotherName) {
  fs::create_symlink("file", folder_ / "same");
  const auto text =
      error_text<UserError>([&] { check_not_input(folder_ / "folder/../same", folder_ / "file"); });
  EXPECT_TRUE(says(text, {"same", "would be lost"}));
  EXPECT_NO_THROW(check_not_input(folder_ / "new", folder_ / "file"));
  EXPECT_NO_THROW(check_not_input(folder_ / "file", folder_ / "new"));
}

TEST_F(FilePaths, OutputsNeedAFolder) {
  EXPECT_NO_THROW(check_output_folder("file_in_this_folder"));
  EXPECT_NO_THROW(check_output_folder(folder_ / "new"));
  EXPECT_TRUE(says(error_text<UserError>([&] { check_output_folder(folder_ / "no/new"); }),
                   {"there is no folder", "make it first"}));
}

}  // namespace
}  // namespace moiety
