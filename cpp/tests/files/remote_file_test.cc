#include "files/remote_file.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "files/byte_source.h"
#include "tests/made_records.h"

namespace recordsmith::testing {
namespace {

std::string stored(300'000, '?');
std::vector<ByteRange> asked;
bool fails = false;

// Gives pieces of 1000 bytes, so that most reads need several.
class Pieces final : public RemoteSource {
 public:
  FileFacts facts() const override { return {7, stored.size(), 0, 0}; }
  Status fetch(std::span<const ByteRange> ranges, Segments* segments) override {
    if (fails) return Status::of(Code::kInvalidArgument, "the network failed");
    for (const ByteRange& range : ranges) {
      asked.push_back(range);
      for (std::uint64_t at = range.begin / 1000 * 1000; at < range.end; at += 1000) {
        const auto* from = reinterpret_cast<const std::uint8_t*>(stored.data()) + at;
        segments->add({at, {from, std::min<std::size_t>(1000, stored.size() - at)}, nullptr});
      }
    }
    return Status::ok();
  }
  void announce(std::span<const ByteRange>) override {}
};

Status open_pieces(const std::string&, std::unique_ptr<RemoteSource>* source) {
  *source = std::make_unique<Pieces>();
  return Status::ok();
}

void prepare() {
  for (std::size_t i = 0; i < stored.size(); ++i) stored[i] = static_cast<char>('a' + i % 23);
  asked.clear();
  fails = false;
  RemoteFile::set_opener(&open_pieces);
}

TEST(a_url_is_read_like_a_file) {
  prepare();
  std::shared_ptr<File> file;
  CHECK(File::open("s3://bucket/a", &file).is_ok());
  std::uint64_t size = 0;
  CHECK(file->size(&size).is_ok() && size == stored.size());
  std::string copy(4321, '?');
  std::size_t got = 0;
  CHECK(file->read_at(777, copy.data(), copy.size(), &got).is_ok());
  CHECK(got == copy.size() && copy == stored.substr(777, copy.size()));
  CHECK(file->read_at(stored.size() - 10, copy.data(), copy.size(), &got).is_ok() && got == 10);
  CHECK(file->read_at(stored.size() + 10, copy.data(), copy.size(), &got).is_ok() && got == 0);
  CHECK(file->mapped() == nullptr);
}

TEST(what_came_last_is_not_asked_for_again) {
  prepare();
  std::shared_ptr<File> file;
  CHECK(File::open("s3://bucket/a", &file).is_ok());
  std::string copy(12, '?');
  std::size_t got = 0;
  for (std::uint64_t at = 5000; at < 5900; at += 20) {
    CHECK(file->read_at(at, copy.data(), copy.size(), &got).is_ok());
    CHECK(copy == stored.substr(at, copy.size()));
  }
  CHECK(asked.size() == 1);
}

TEST(ranges_that_are_near_are_merged_and_others_are_not) {
  prepare();
  std::unique_ptr<RemoteFile> file;
  CHECK(RemoteFile::open("s3://bucket/a", &file).is_ok());
  Segments segments;
  CHECK(file->fetch({{200'000, 200'100}, {10, 20}, {5, 12}, {30'000, 30'010}}, &segments).is_ok());
  CHECK(asked.size() == 2);
  CHECK(asked[0].begin == 5 && asked[0].end == 30'010);
  CHECK(asked[1].begin == 200'000 && asked[1].end == 200'100);
  CHECK(segments.find(10, 10) != nullptr);
  CHECK(segments.find(995, 10) == nullptr);  // in two segments
  std::string copy(10, '?');
  CHECK(segments.copy(995, copy.data(), copy.size()) && copy == stored.substr(995, 10));
  CHECK(!segments.copy(100'000, copy.data(), copy.size()));
}

TEST(another_version_and_a_failure_are_reported) {
  prepare();
  std::shared_ptr<File> file;
  const FileIdentity other{{8, stored.size(), 0, 0}, 8, 0};
  const Status changed = File::open("s3://bucket/a", &file, &other);
  CHECK(!changed.is_ok() && changed.failure().code == Code::kChanged);
  CHECK(File::open("s3://bucket/a", &file).is_ok());
  fails = true;
  std::string copy(10, '?');
  std::size_t got = 0;
  CHECK(!file->read_at(0, copy.data(), copy.size(), &got).is_ok());
}

TEST(only_urls_are_remote) {
  CHECK(RemoteFile::is_url("s3://bucket/a"));
  CHECK(!RemoteFile::is_url("/data/s3://bucket"));
  CHECK(!RemoteFile::is_url("://a"));
  CHECK(!RemoteFile::is_url("data/a.tfrecord"));
}

}  // namespace
}  // namespace recordsmith::testing
