// Bytes in memory as a stream, for tests and fuzzers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "files/byte_source.h"

namespace recordsmith::testing {

using Content = std::vector<std::uint8_t>;

// Does not copy the content. Like a pipe it may not know its size.
class MemoryStream final : public ByteStream {
 public:
  MemoryStream(const Content& content, bool size_is_known) : content_(content), size_is_known_(size_is_known) {}

  Status read(std::uint8_t* to, std::size_t wanted, std::size_t* got) override {
    *got = std::min(wanted, content_.size() - position_);
    if (*got > 0) std::memcpy(to, content_.data() + position_, *got);
    position_ += *got;
    return Status::ok();
  }

  Status remaining(std::uint64_t* bytes) const override {
    *bytes = size_is_known_ ? content_.size() - position_ : kUnknown;
    return Status::ok();
  }

 private:
  const Content& content_;
  std::size_t position_ = 0;
  bool size_is_known_;
};

}  // namespace recordsmith::testing
