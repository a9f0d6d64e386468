// SPDX-License-Identifier: Apache-2.0
#include "data/rdkit_log.h"

#include <RDGeneral/RDLog.h>

#include <memory>
#include <mutex>
#include <ostream>
#include <streambuf>

namespace moiety::data {
namespace {

/// RDKit's error log is one stream for the whole process, and molecules are parsed on many threads:
/// the buffer behind that stream keeps what each thread writes apart.
std::string& text_of_this_thread() {
  thread_local std::string text;
  return text;
}

class ThreadBuffer : public std::streambuf {
 protected:
  int_type overflow(int_type c) override {
    if (c != traits_type::eof()) text_of_this_thread() += traits_type::to_char_type(c);
    return traits_type::not_eof(c);
  }
  std::streamsize xsputn(const char* text, std::streamsize count) override {
    text_of_this_thread().append(text, static_cast<std::size_t>(count));
    return count;
  }
};

/// RDKit flushes its logs when the process ends, so the stream belongs to the log.
class ThreadStream : public std::ostream {
 public:
  ThreadStream() : std::ostream(nullptr) { rdbuf(&buffer_); }

 private:
  ThreadBuffer buffer_;
};

}  // namespace

RdkitErrorCapture::RdkitErrorCapture() {
  static std::once_flag installed;
  std::call_once(installed, [] {
    constexpr bool kOwned = true;
    rdErrorLog = std::make_shared<boost::logging::rdLogger>(new ThreadStream, kOwned);
  });
  text_of_this_thread().clear();
}

const std::string& RdkitErrorCapture::text() const { return text_of_this_thread(); }

}  // namespace moiety::data
