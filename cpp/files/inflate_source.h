// Inflated bytes of a gzip or zlib file.
//
//   file    := stream*            one after the other: gzip members, or zlib streams
//
// Every stream's own checksum is verified. A stream that is cut off, and anything that follows a stream and is not
// another one, is a failure, which comes after all bytes before it have been delivered. An empty file contains no
// bytes.
//
// Memory: one input buffer of kInputBytes and zlib's window; never sized by what the file claims.
#pragma once

#include <memory>

#include "base/buffer_pool.h"
#include "files/byte_source.h"

namespace recordsmith {

class InflateStream final : public ByteStream {
 public:
  static constexpr std::size_t kInputBytes = std::size_t{128} << 10;

  InflateStream(std::unique_ptr<ByteStream> compressed, Compression format, std::string path);
  ~InflateStream() override;

  Status read(std::uint8_t* to, std::size_t wanted, std::size_t* got) override;
  Status remaining(std::uint64_t* bytes) const override;

 private:
  struct State;

  Status damaged(const std::string& detail) const;
  Status fill_input();

  std::unique_ptr<ByteStream> compressed_;
  Compression format_;
  std::string path_;
  std::unique_ptr<State> state_;
  Buffer input_;
  std::uint64_t consumed_ = 0;  // compressed bytes taken by earlier input buffers
  bool input_ended_ = false;
  bool in_stream_ = false;  // inside a stream, as opposed to between two
  Status pending_;          // a failure to report once the bytes before it have been handed out
};

// Opens `file` from its start as a stream of record bytes.
std::unique_ptr<ByteStream> open_stream(std::shared_ptr<const File> file, Compression compression);

// Whether these first bytes of a file can be inflated at all.
bool inflates(const std::uint8_t* head, std::size_t size, Compression format);

}  // namespace recordsmith
