#include "recovery/inflate_recovery.h"

#include <algorithm>
#include <string>

#include "records/record_sink.h"
#include "tests/check.h"
#include "tests/made_records.h"

namespace recordsmith {
namespace {

using testing::Content;
using testing::TemporaryFolder;

// A record of bytes, half of which can be compressed.
Content noise(std::size_t size, std::uint32_t state) {
  std::string bytes;
  for (std::size_t i = 0; i < size; ++i) {
    state = state * 1664525 + 1013904223;
    bytes.push_back(static_cast<char>(state >> 24 & (i % 1000 < 500 ? 0x3f : 0xff)));
  }
  return testing::framed({bytes});
}

// One gzip member, or a zlib stream.
Content deflated(const Content& plain, Compression format) {
  const TemporaryFolder folder;
  std::unique_ptr<RecordSink> sink;
  CHECK_OK(RecordSink::create(folder.file("data"), format, 6, &sink));
  bool sound = false;
  CHECK_OK(sink->append_frames(plain.data(), plain.size(), &sound));
  CHECK(sound);
  CHECK_OK(sink->close(false));
  return folder.read("data");
}

struct Outcome {
  Content inflated;
  std::vector<InflateGap> gaps;
};

Outcome inflate(const Content& content, Compression format, std::uint64_t step = kUnknown) {
  const TemporaryFolder folder;
  std::unique_ptr<InflateRecovery> recovery;
  CHECK_OK(InflateRecovery::open(folder.write("data", content), format, folder.file("scratch"), &recovery));
  for (bool done = false; !done;) CHECK_OK(recovery->advance(step, &done));
  Outcome outcome{folder.read("scratch"), recovery->gaps()};
  CHECK_EQUAL(outcome.inflated.size(), recovery->inflated());
  return outcome;
}

bool ends_with(const Content& content, const Content& tail) {
  return content.size() >= tail.size() && std::equal(tail.rbegin(), tail.rend(), content.rbegin());
}

Content joined(Content first, const Content& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

constexpr Compression kGzip = Compression::kGzip;
constexpr Compression kZlib = Compression::kZlib;

TEST(sound_files_have_no_gaps) {
  const Content plain = noise(300000, 1);
  for (const std::uint64_t step : {kUnknown, std::uint64_t{1000}}) {
    const Outcome gzip = inflate(joined(deflated(plain, kGzip), deflated(plain, kGzip)), kGzip, step);
    CHECK(gzip.inflated == joined(plain, plain));
    CHECK(gzip.gaps.empty());
    const Outcome zlib = inflate(deflated(plain, kZlib), kZlib, step);
    CHECK(zlib.inflated == plain);
    CHECK(zlib.gaps.empty());
  }
  CHECK(inflate({}, kGzip).gaps.empty());
}

TEST(a_wrong_checksum_loses_nothing) {
  const Content plain = noise(100000, 2);
  Content file = deflated(plain, kGzip);
  file[file.size() - 6] ^= 1;
  const Outcome outcome = inflate(file, kGzip);
  CHECK(outcome.inflated == plain);
  CHECK_EQUAL(outcome.gaps.size(), 1u);
  CHECK(outcome.gaps[0].reason == InflateGap::Reason::kChecksum);
}

TEST(what_is_cut_off_is_inflated_so_far) {
  const Content plain = noise(200000, 3);
  Content file = deflated(plain, kZlib);
  file.resize(file.size() / 2);
  const Outcome outcome = inflate(file, kZlib);
  CHECK(outcome.inflated.size() > plain.size() / 3);
  CHECK(std::equal(outcome.inflated.begin(), outcome.inflated.end(), plain.begin()));
  CHECK(outcome.gaps[0].reason == InflateGap::Reason::kCutOff);
}

TEST(the_next_member_is_found) {
  const Content first = noise(200000, 4);
  const Content second = noise(50000, 5);
  const Content damaged = deflated(first, kGzip);
  Content file = joined(damaged, deflated(second, kGzip));
  for (std::size_t i = 0; i < 40; ++i) file[damaged.size() / 2 + i] = 0xff;
  const Outcome outcome = inflate(file, kGzip);
  CHECK(ends_with(outcome.inflated, second));
  CHECK(!outcome.gaps.empty());
}

TEST(stored_blocks_are_found) {
  std::string bytes;
  std::uint32_t state = 9;
  for (std::size_t i = 0; i < 400000; ++i) {
    state = state * 1664525 + 1013904223;
    bytes.push_back(static_cast<char>(state >> 24 ^ state >> 13));
  }
  const Content plain = testing::framed({bytes});
  for (const Compression format : {kGzip, kZlib}) {
    Content file = deflated(plain, format);
    const auto half = file.begin() + static_cast<std::ptrdiff_t>(file.size() / 2);
    file.erase(half, half + 99);
    const Outcome outcome = inflate(file, format);
    CHECK(ends_with(outcome.inflated, Content(plain.end() - 100000, plain.end())));
  }
}

TEST(a_damaged_beginning_is_passed_over) {
  const Content plain = noise(300000, 7);
  Content file = deflated(plain, kGzip);
  for (std::size_t i = 0; i < 10; ++i) file[i] = 0;
  const Outcome outcome = inflate(file, kGzip);
  CHECK(outcome.inflated == plain);
  CHECK_EQUAL(outcome.gaps.size(), 1u);
}

TEST(nothing_but_garbage) {
  const Content file = noise(300000, 8);
  for (const Compression format : {kGzip, kZlib}) {
    const Outcome outcome = inflate(file, format);
    CHECK(!outcome.gaps.empty());
    CHECK_EQUAL(outcome.gaps.back().end, file.size());
  }
}

}  // namespace
}  // namespace recordsmith
