#include "files/inflate_source.h"

#include <zlib-ng.h>

#include <algorithm>
#include <array>
#include <limits>

namespace recordsmith {
namespace {

// zlib's window_bits, which also choose the wrapper: 15 for zlib, 16 more for gzip.
int window_bits(Compression format) { return format == Compression::kGzip ? 15 + 16 : 15; }

}  // namespace

struct InflateStream::State {
  zng_stream stream{};
  bool ready = false;
  ~State() {
    if (ready) zng_inflateEnd(&stream);
  }
};

InflateStream::InflateStream(std::unique_ptr<ByteStream> compressed, Compression format, std::string path)
    : compressed_(std::move(compressed)),
      format_(format),
      path_(std::move(path)),
      state_(std::make_unique<State>()),
      input_(kInputBytes) {
  state_->ready = zng_inflateInit2(&state_->stream, window_bits(format)) == Z_OK;
}

InflateStream::~InflateStream() = default;

Status InflateStream::damaged(const std::string& detail) const {
  Failure failure;
  failure.code = Code::kCompression;
  failure.path = path_;
  failure.offset = consumed_ - state_->stream.avail_in;
  failure.expected = compression_name(format_);
  failure.detail = detail;
  return Status(std::move(failure));
}

Status InflateStream::fill_input() {
  std::size_t got = 0;
  RECORDSMITH_RETURN_IF_ERROR(compressed_->read(input_.data(), kInputBytes, &got));
  state_->stream.next_in = input_.data();
  state_->stream.avail_in = static_cast<std::uint32_t>(got);
  consumed_ += got;
  input_ended_ = got == 0;
  return Status::ok();
}

Status InflateStream::read(std::uint8_t* to, std::size_t wanted, std::size_t* got) {
  *got = 0;
  if (!state_->ready) return Status::of(Code::kSystem, "zlib could not be set up");
  if (!pending_.is_ok()) return Status(pending_.failure());
  zng_stream& stream = state_->stream;
  while (*got < wanted) {
    if (stream.avail_in == 0) {
      pending_ = fill_input();
      if (!pending_.is_ok()) break;
    }
    if (input_ended_ && !in_stream_) break;
    if (!in_stream_) {
      if (zng_inflateReset(&stream) != Z_OK) return damaged("zlib could not be reset");
      in_stream_ = true;
    }
    const std::size_t room = std::min<std::size_t>(wanted - *got, std::numeric_limits<std::int32_t>::max());
    stream.next_out = to + *got;
    stream.avail_out = static_cast<std::uint32_t>(room);
    const int result = zng_inflate(&stream, Z_NO_FLUSH);
    *got += room - stream.avail_out;
    if (result == Z_STREAM_END) {
      in_stream_ = false;
    } else if (result != Z_OK && result != Z_BUF_ERROR) {
      pending_ = damaged(stream.msg != nullptr ? stream.msg : "the data cannot be inflated");
      break;
    } else if (input_ended_ && stream.avail_out == room) {
      // Only now: zlib may have held back output for which it needed no more input.
      pending_ = damaged("the stream is cut off");
      break;
    }
  }
  if (*got == 0 && !pending_.is_ok()) return Status(pending_.failure());
  return Status::ok();
}

Status InflateStream::remaining(std::uint64_t* bytes) const {
  *bytes = kUnknown;
  return Status::ok();
}

std::unique_ptr<ByteStream> open_stream(std::shared_ptr<const File> file, Compression compression) {
  const std::string path = file->path();
  auto plain = std::make_unique<FileStream>(std::move(file), 0);
  if (compression == Compression::kNone) return plain;
  return std::make_unique<InflateStream>(std::move(plain), compression, path);
}

bool inflates(const std::uint8_t* head, std::size_t size, Compression format) {
  zng_stream stream{};
  if (zng_inflateInit2(&stream, window_bits(format)) != Z_OK) return false;
  std::array<std::uint8_t, 4096> scratch;
  stream.next_in = head;
  stream.avail_in = static_cast<std::uint32_t>(size);
  int result = Z_OK;
  while (result == Z_OK && stream.avail_in > 0) {
    stream.next_out = scratch.data();
    stream.avail_out = static_cast<std::uint32_t>(scratch.size());
    result = zng_inflate(&stream, Z_NO_FLUSH);
  }
  zng_inflateEnd(&stream);
  return result == Z_OK || result == Z_STREAM_END || result == Z_BUF_ERROR;
}

}  // namespace recordsmith
