// Recovery: whatever the bytes, the pieces cover the file, what is kept of it is sound and stands in it, and damage
// done to a sound file loses nothing that it spared.
//
//   input := mode u8, rest
//
// mode: bit 0  unset: the rest is a file. Set: it is a list of damages, each of six bytes, done to a sound file
//       bit 1  also inflate the rest, as gzip or (bit 2) zlib; whatever comes out is not looked at
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "base/checksums/crc32c.h"
#include "fuzz/fuzz_input.h"
#include "records/framing/framing.h"
#include "recovery/inflate_recovery.h"
#include "recovery/recovery.h"

namespace recordsmith::fuzz {
namespace {

constexpr std::size_t kRecords = 12;

void append_record(const Content& payload, Content* file) {
  const std::size_t begin = file->size();
  file->resize(begin + payload.size() + kFramingBytes);
  write_header(payload.size(), file->data() + begin);
  if (!payload.empty()) std::memcpy(file->data() + begin + kHeaderBytes, payload.data(), payload.size());
  const std::uint32_t crc = masked_crc32c(payload.data(), payload.size());
  std::memcpy(file->data() + file->size() - kFooterBytes, &crc, sizeof crc);
}

// The payloads that are kept, after checking what must hold for every file.
std::vector<Content> recover(const Content& content, std::vector<Content>* put_aside) {
  const std::shared_ptr<File> file = as_file(content);
  std::unique_ptr<RecordRecovery> recovery;
  REQUIRE(RecordRecovery::open(file->path(), &recovery).is_ok());
  bool done = false;
  while (!done) REQUIRE(recovery->advance(100, &done).is_ok());
  std::vector<Content> kept;
  std::uint64_t at = 0;
  for (const Piece& piece : recovery->pieces()) {
    REQUIRE(piece.begin == at && piece.end > piece.begin);
    at = piece.end;
    Buffer frames;
    std::size_t size = 0;
    const bool is_sound = piece.kind == PieceKind::kSound;
    std::uint64_t records = 0;
    for (std::uint64_t begin = piece.begin; begin < piece.end && (is_sound || piece.kind == PieceKind::kDoubtful);) {
      REQUIRE(recovery->read_frames(begin, piece.end, 1, &frames, &size).is_ok());
      REQUIRE(std::memcmp(frames.data(), content.data() + begin, size) == 0);
      (is_sound ? &kept : put_aside)->emplace_back(frames.data() + kHeaderBytes, frames.data() + size - kFooterBytes);
      begin += size;
      ++records;
    }
    if (is_sound) REQUIRE(records == piece.records);
    if (piece.kind != PieceKind::kRepaired) continue;
    REQUIRE(piece.data_begin >= piece.begin && piece.data_begin + piece.data_size + kFooterBytes <= piece.end);
    const std::uint8_t* const data = content.data() + piece.data_begin;
    REQUIRE(masked_crc32c(data, piece.data_size) == load_u32(data + piece.data_size));
    kept.emplace_back(data, data + piece.data_size);
  }
  REQUIRE(at == content.size());
  return kept;
}

void damage(const std::uint8_t* data, std::size_t size) {
  std::vector<Content> payloads;
  Content file;
  std::vector<std::uint8_t> owners;  // of each byte: the record that it belongs to, or none if it was changed
  for (std::size_t i = 0; i < kRecords; ++i) {
    payloads.emplace_back(i * 9, static_cast<std::uint8_t>(0xc1 + i));
    append_record(payloads.back(), &file);
    owners.resize(file.size(), static_cast<std::uint8_t>(i));
  }
  for (std::size_t i = 0; i + 6 <= size && i < 5 * 6 && !file.empty(); i += 6) {
    const std::size_t at = (data[i + 1] << 8 | data[i + 2]) % file.size();
    const std::size_t count = std::min<std::size_t>(1 + data[i + 3] % 60, file.size() - at);
    const auto begin = static_cast<std::ptrdiff_t>(at);
    const auto end = static_cast<std::ptrdiff_t>(at + count);
    if (data[i] % 3 == 0) {
      file.erase(file.begin() + begin, file.begin() + end);
      owners.erase(owners.begin() + begin, owners.begin() + end);
    } else if (data[i] % 3 == 1) {
      file.insert(file.begin() + begin, count, data[i + 4]);
      owners.insert(owners.begin() + begin, count, 0xff);
    } else {
      for (std::size_t j = at; j < at + count; ++j) {
        file[j] ^= static_cast<std::uint8_t>(data[i + 5] | 1);
        owners[j] = 0xff;
      }
    }
  }
  std::vector<Content> put_aside;
  std::vector<Content> found = recover(file, &put_aside);
  found.insert(found.end(), put_aside.begin(), put_aside.end());
  for (std::size_t i = 0; i < kRecords; ++i) {
    // Spared: all of its bytes, and next to each other.
    std::size_t longest = 0;
    std::size_t run = 0;
    for (const std::uint8_t owner : owners) {
      run = owner == i ? run + 1 : 0;
      longest = std::max(longest, run);
    }
    if (longest < payloads[i].size() + kFramingBytes) continue;
    REQUIRE(std::find(found.begin(), found.end(), payloads[i]) != found.end());
  }
}

void inflate(const Content& content, Compression format) {
  const std::shared_ptr<File> file = as_file(content);
  const std::string scratch = "/dev/shm/recordsmith-fuzz-" + std::to_string(getpid());
  unlink(scratch.c_str());
  std::unique_ptr<InflateRecovery> recovery;
  REQUIRE(InflateRecovery::open(file->path(), format, scratch, &recovery).is_ok());
  unlink(scratch.c_str());
  bool done = false;
  while (!done) REQUIRE(recovery->advance(1000, &done).is_ok());
  std::uint64_t before = 0;
  for (const InflateGap& gap : recovery->gaps()) {
    REQUIRE(gap.begin <= gap.end && gap.end <= content.size() && gap.inflated_at >= before);
    before = gap.inflated_at;
  }
}

}  // namespace
}  // namespace recordsmith::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace recordsmith::fuzz;
  using recordsmith::Compression;
  if (size == 0) return 0;
  const Content content(data + 1, data + size);
  if ((data[0] & 1) != 0) {
    damage(data + 1, size - 1);
  } else {
    std::vector<Content> put_aside;
    recover(content, &put_aside);
  }
  if ((data[0] & 2) != 0) inflate(content, (data[0] & 4) != 0 ? Compression::kZlib : Compression::kGzip);
  return 0;
}
