// SPDX-License-Identifier: Apache-2.0
#include "data/rejects.h"

#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "data/text.h"
#include "tensor/error.h"

namespace moiety::data {

Rejects::Rejects(std::filesystem::path path) : path_(std::move(path)), partial_(path_) {}

void Rejects::add(const std::filesystem::path& source, const SourceRow& row,
                  const Rejection& rejection) {
  ++count_;
  ++by_kind_[rejection.kind];
  if (!file_.is_open()) {
    file_.open(partial_.path(), std::ios::binary);
    file_ << "source,line,id,smiles,reason\n";
  }
  file_ << csv_field(source.filename().string()) << ',' << row.line << ',' << csv_field(row.id)
        << ',' << csv_field(row.smiles) << ',' << csv_field(rejection.reason) << '\n';
  file_.flush();
  check<IoError>(file_.good(), "cannot write ", path_.string(), ": ", std::strerror(errno));
}

void Rejects::finish() {
  if (count_ > 0) {
    file_.close();
    partial_.place();
  } else {
    std::error_code nothing_there;
    std::filesystem::remove(path_, nothing_there);
  }
}

}  // namespace moiety::data
