// What went wrong, and where.
//
// The core throws nothing of its own: each call that can fail returns a Status. A Status that is ok is one null
// pointer. A failure contains everything that an error message needs: file, byte offset, record number, feature, what
// was found and what was expected. Python chooses the words of the message; here are only facts.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace recordsmith {

enum class Code : std::uint8_t {
  kCorruptLength,    // the CRC of the eight length bytes does not match
  kCorruptData,      // the CRC of the payload does not match
  kTruncated,        // the file ends inside a record
  kTooLarge,         // a length that no file can hold, or that this call refuses
  kCompression,      // a gzip or zlib stream is damaged, cut off, or followed by something else
  kSystem,           // the operating system refused; system_error holds errno
  kMalformed,        // the payload does not follow the protobuf wire format
  kMissingFeature,   // a required feature is absent
  kWrongKind,        // a feature holds another kind of list
  kWrongCount,       // a feature holds another number of values
  kWrongByteLength,  // a byte value that must have a fixed size has another one
  kChanged,          // the file is not what it was when it was opened or indexed
  kStaleIndex,       // the index does not fit the file, which has not changed
  kForeign,          // `cause` is an exception of the language that the core was called from
  kInvalidArgument,  // a caller's mistake
};

inline constexpr std::uint64_t kUnknown = ~std::uint64_t{0};

struct Failure {
  Code code{};
  std::string path;
  std::uint64_t offset = kUnknown;  // of the record's first header byte; for compressed files in the inflated stream
  std::uint64_t record = kUnknown;  // number within its file, from 0
  std::string feature;
  std::string found;
  std::string expected;
  std::string detail;
  std::vector<std::string> names;  // the features that the record does have
  int system_error = 0;
  std::shared_ptr<void> cause;
};

class [[nodiscard]] Status {
 public:
  Status() = default;
  explicit Status(Failure failure) : failure_(std::make_unique<Failure>(std::move(failure))) {}

  static Status ok() { return {}; }
  static Status of(Code code, std::string detail) {
    Failure failure;
    failure.code = code;
    failure.detail = std::move(detail);
    return Status(std::move(failure));
  }

  bool is_ok() const { return failure_ == nullptr; }
  const Failure& failure() const { return *failure_; }
  Failure& failure() { return *failure_; }

  // Adds the place to a failure that was found by code which does not know it.
  Status at(const std::string& path, std::uint64_t offset, std::uint64_t record) && {
    if (failure_) {
      failure_->path = path;
      failure_->offset = offset;
      failure_->record = record;
    }
    return std::move(*this);
  }

 private:
  std::unique_ptr<Failure> failure_;
};

}  // namespace recordsmith

#define RECORDSMITH_RETURN_IF_ERROR(expression)                                         \
  do {                                                                                  \
    if (::recordsmith::Status status_ = (expression); !status_.is_ok()) return status_; \
  } while (false)
