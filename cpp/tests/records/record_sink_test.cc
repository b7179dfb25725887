#include "records/record_sink.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>

#include "tests/made_records.h"

namespace recordsmith::testing {
namespace {

const std::uint8_t* bytes_of(const std::string& text) { return reinterpret_cast<const std::uint8_t*>(text.data()); }

TEST(plain_files_are_framed_records_and_nothing_else) {
  const TemporaryFolder folder;
  const std::string large(3 << 20, 'x');  // more than the sink's buffer
  std::unique_ptr<RecordSink> sink;
  CHECK_OK(RecordSink::create(folder.file("made"), Compression::kNone, 0, &sink));
  for (const std::string& payload : {std::string("one"), std::string(), large, std::string("four")}) {
    CHECK_OK(sink->append(bytes_of(payload), payload.size()));
  }
  CHECK_EQUAL(sink->records(), 4u);
  CHECK_OK(sink->close(true));
  CHECK(!sink->is_open());
  CHECK(folder.read("made") == framed({"one", "", large, "four"}));
}

TEST(claimed_room_is_framed_like_the_rest) {
  const TemporaryFolder folder;
  std::unique_ptr<RecordSink> sink;
  CHECK_OK(RecordSink::create(folder.file("made"), Compression::kNone, 0, &sink));
  std::uint8_t* room = nullptr;
  CHECK_OK(sink->claim(3, &room));
  std::memcpy(room, "foo", 3);
  sink->commit(3);
  CHECK_OK(sink->close(false));
  CHECK(folder.read("made") == framed({"foo"}));
}

TEST(records_framed_in_memory_are_those_of_a_file) {
  const std::unique_ptr<RecordSink> sink = RecordSink::in_memory();
  const std::string large(3 << 20, 'x');
  for (const std::string& payload : {std::string("one"), large, std::string()}) {
    CHECK_OK(sink->append(bytes_of(payload), payload.size()));
  }
  CHECK_EQUAL(sink->records(), 3u);
  std::vector<std::uint64_t> offsets;
  const Buffer frames = sink->take(&offsets);
  const Content expected = framed({"one", large, ""});
  CHECK(offsets == (std::vector<std::uint64_t>{0, 19, 19 + large.size() + 16, expected.size()}));
  CHECK(Content(frames.data(), frames.data() + expected.size()) == expected);
  CHECK_EQUAL(sink->records(), 0u);
  CHECK_OK(sink->append(bytes_of("more"), 4));
  sink->take(&offsets);
  CHECK(offsets == (std::vector<std::uint64_t>{0, 20}));
}

TEST(frames_are_appended_as_they_stand_if_they_are_whole) {
  const TemporaryFolder folder;
  std::unique_ptr<RecordSink> sink;
  CHECK_OK(RecordSink::create(folder.file("made"), Compression::kNone, 0, &sink));
  const Content frames = framed({"one", "", "three"});
  bool sound = false;
  CHECK_OK(sink->append_frames(frames.data(), frames.size(), &sound));
  CHECK(sound);
  for (const std::size_t cut : {std::size_t{1}, std::size_t{15}, frames.size() - 1}) {
    CHECK_OK(sink->append_frames(frames.data(), cut, &sound));
    CHECK(!sound);
  }
  CHECK_EQUAL(sink->records(), 3u);
  CHECK_OK(sink->close(false));
  CHECK(folder.read("made") == frames);
}

TEST(flushed_records_can_be_read_before_the_end) {
  const TemporaryFolder folder;
  std::unique_ptr<RecordSink> sink;
  CHECK_OK(RecordSink::create(folder.file("made"), Compression::kNone, 0, &sink));
  CHECK_OK(sink->append(bytes_of("one"), 3));
  CHECK_OK(sink->flush());
  CHECK(folder.read("made") == framed({"one"}));
}

TEST(a_file_that_exists_is_not_written_over) {
  const TemporaryFolder folder;
  folder.write("made", framed({"precious"}));
  std::unique_ptr<RecordSink> sink;
  CHECK(!RecordSink::create(folder.file("made"), Compression::kNone, 0, &sink).is_ok());
  CHECK(folder.read("made") == framed({"precious"}));
}

TEST(a_failing_write_is_an_error_that_stays) {
  const TemporaryFolder folder;
  std::unique_ptr<RecordSink> sink;
  CHECK_OK(RecordSink::create(folder.file("made"), Compression::kNone, 0, &sink));
  // A limit on the size of files stands in for a full disk.
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit unlimited;
  getrlimit(RLIMIT_FSIZE, &unlimited);
  const rlimit limit{1 << 20, unlimited.rlim_max};
  setrlimit(RLIMIT_FSIZE, &limit);
  const std::string large(3 << 20, 'x');
  Status status = sink->append(bytes_of(large), large.size());
  if (status.is_ok()) status = sink->flush();
  CHECK(!status.is_ok() && status.failure().system_error == EFBIG);
  setrlimit(RLIMIT_FSIZE, &unlimited);
  status = sink->append(bytes_of("one"), 3);
  if (status.is_ok()) status = sink->close(true);
  CHECK(!status.is_ok());
}

// Large frames are written without a copy: an observer still gets every byte, in order.
TEST(an_observer_gets_the_bytes_of_the_file) {
  for (const Compression compression : {Compression::kNone, Compression::kGzip, Compression::kZlib}) {
    const TemporaryFolder folder;
    std::unique_ptr<RecordSink> sink;
    CHECK_OK(RecordSink::create(folder.file("made"), compression, 1, &sink, 2));
    Content observed;
    sink->observe([&](std::span<const std::uint8_t> bytes) {
      observed.insert(observed.end(), bytes.begin(), bytes.end());
      return Status::ok();
    });
    const std::string large(3 << 20, 'x');
    const Content frames = framed({"one", large, "three"});
    bool sound = false;
    CHECK_OK(sink->append(bytes_of("zero"), 4));
    CHECK_OK(sink->append_frames(frames.data(), frames.size(), &sound));
    CHECK(sound);
    CHECK_OK(sink->close(false));
    CHECK_EQUAL(sink->records(), 4u);
    CHECK(observed == folder.read("made"));
    if (compression == Compression::kNone) CHECK(observed == framed({"zero", "one", large, "three"}));
  }
}

TEST(an_observer_that_fails_ends_the_file) {
  const TemporaryFolder folder;
  std::unique_ptr<RecordSink> sink;
  CHECK_OK(RecordSink::create(folder.file("made"), Compression::kNone, 0, &sink));
  sink->observe([](std::span<const std::uint8_t>) { return Status::of(Code::kForeign, "no"); });
  CHECK_OK(sink->append(bytes_of("one"), 3));
  CHECK(!sink->flush().is_ok());
  CHECK(!sink->close(true).is_ok());
  CHECK(folder.read("made").empty());
}

// Whoever finds the file before it has its name must see that it is not abandoned.
TEST(a_closed_file_stays_locked_while_its_sink_exists) {
  const TemporaryFolder folder;
  std::unique_ptr<RecordSink> sink;
  CHECK_OK(RecordSink::create(folder.file("made"), Compression::kNone, 0, &sink));
  CHECK_OK(sink->close(false));
  const int descriptor = ::open(folder.file("made").c_str(), O_WRONLY);
  CHECK(::flock(descriptor, LOCK_EX | LOCK_NB) != 0);
  sink.reset();
  CHECK_EQUAL(::flock(descriptor, LOCK_EX | LOCK_NB), 0);
  ::close(descriptor);
}

}  // namespace
}  // namespace recordsmith::testing
