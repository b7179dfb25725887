#include "files/file_identity.h"

#define XXH_INLINE_ALL
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace recordsmith {
namespace {

constexpr std::uint64_t kBlock = 4096;
constexpr std::uint64_t kBlocks = 4;
constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kClockStandsStill = kSecond / 10;  // at most: ten milliseconds are usual

std::int64_t nanoseconds(const timespec& time) { return time.tv_sec * kSecond + time.tv_nsec; }

}  // namespace

bool FileIdentity::is_settled() const { return noted - std::max(facts.modified, facts.changed) > kClockStandsStill; }

FileFacts facts_of(const struct stat& status) {
  return {status.st_ino, static_cast<std::uint64_t>(status.st_size), nanoseconds(status.st_mtim),
          nanoseconds(status.st_ctim)};
}

std::optional<FileFacts> look_at(const std::string& path) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  return facts_of(status);
}

bool may_be_same(const FileFacts& before, const FileFacts& now) {
  const bool is_copy = now.size == before.size && now.modified == before.modified;
  const bool has_grown = now.inode == before.inode && now.size > before.size;
  return is_copy || has_grown;
}

std::int64_t nanoseconds_now() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return nanoseconds(now);
}

int sample_file(int descriptor, std::uint64_t size, std::uint64_t* sample) {
  std::array<std::uint8_t, kBlock> block;
  *sample = size;
  const std::uint64_t last = size > kBlock ? size - kBlock : 0;
  for (std::uint64_t i = 0; i < kBlocks; ++i) {
    const std::uint64_t offset = last / (kBlocks - 1) * i + last % (kBlocks - 1) * i / (kBlocks - 1);
    const auto wanted = static_cast<std::size_t>(std::min(kBlock, size - offset));
    ssize_t got;
    do {
      got = pread(descriptor, block.data(), wanted, static_cast<off_t>(offset));
    } while (got < 0 && errno == EINTR);
    if (got < 0) return errno;
    *sample = XXH3_64bits_withSeed(block.data(), static_cast<std::size_t>(got), *sample);
    if (last == 0) break;
  }
  return 0;
}

}  // namespace recordsmith
