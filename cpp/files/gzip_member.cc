#include "files/gzip_member.h"

#include <zlib-ng.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace recordsmith {
namespace {

constexpr std::uint64_t kMostInField = 0xffffffff;
constexpr std::size_t kPlainHeaderBytes = 10;
constexpr std::size_t kTrailerBytes = 8;
constexpr std::array<std::uint8_t, 16> kHeader = {0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 0xff, 12, 0, 'R', 'S', 8, 0};

void put_u32(std::uint64_t value, std::uint8_t* to) {
  for (int i = 0; i < 4; ++i) to[i] = static_cast<std::uint8_t>(value >> (8 * i));
}

struct Deflater {
  zng_stream stream{};
  bool is_ready = false;
  ~Deflater() {
    if (is_ready) zng_deflateEnd(&stream);
  }
};

}  // namespace

Status deflate_member(std::span<const std::uint8_t> data, std::uint64_t records, int level, GzipMember* member) {
  Deflater deflater;
  zng_stream& stream = deflater.stream;
  constexpr int kRawDeflate = -15;
  deflater.is_ready = zng_deflateInit2(&stream, level, Z_DEFLATED, kRawDeflate, 8, Z_DEFAULT_STRATEGY) == Z_OK;
  if (!deflater.is_ready) return Status::of(Code::kInvalidArgument, "zlib refused the compression level");

  PooledArray<std::uint8_t>& out = member->bytes;
  out.reserve(data.size() / 2 + 4096, 0);
  std::size_t used = kMemberHeaderBytes;
  std::uint32_t crc = 0;
  int result = Z_OK;
  constexpr std::size_t kMostAtOnce = std::size_t{1} << 30;  // sizes in zlib's structures have 32 bits
  do {
    const std::size_t step = std::min(data.size(), kMostAtOnce);
    crc = zng_crc32(crc, data.data(), static_cast<std::uint32_t>(step));
    stream.next_in = data.data();
    stream.avail_in = static_cast<std::uint32_t>(step);
    data = data.subspan(step);
    do {
      if (out.capacity() - used < kTrailerBytes + 64) out.reserve(2 * out.capacity(), used);
      const std::size_t room = std::min(out.capacity() - used - kTrailerBytes, kMostAtOnce);
      stream.next_out = out.data() + used;
      stream.avail_out = static_cast<std::uint32_t>(room);
      result = zng_deflate(&stream, data.empty() ? Z_FINISH : Z_NO_FLUSH);
      used += room - stream.avail_out;
    } while (stream.avail_in > 0 || (data.empty() && result == Z_OK));
  } while (!data.empty());
  if (result != Z_STREAM_END) return Status::of(Code::kInvalidArgument, "zlib could not compress the data");
  put_u32(crc, out.data() + used);
  put_u32(stream.total_in, out.data() + used + 4);
  used += kTrailerBytes;

  std::memcpy(out.data(), kHeader.data(), kHeader.size());
  put_u32(used, out.data() + kHeader.size());
  put_u32(records, out.data() + kHeader.size() + 4);
  if (used > kMostInField || records > kMostInField) {
    std::memmove(out.data() + kPlainHeaderBytes, out.data() + kMemberHeaderBytes, used - kMemberHeaderBytes);
    out[3] = 0;
    used -= kMemberHeaderBytes - kPlainHeaderBytes;
  }
  member->size = used;
  return Status::ok();
}

}  // namespace recordsmith
