#include "records/framing/frames.h"

#include <string_view>
#include <vector>

#include "tests/made_records.h"

namespace recordsmith::testing {
namespace {

TEST(offsets_that_do_not_fit_are_refused) {
  const Content bytes = framed({"one", "", "three"});
  const std::vector<std::uint64_t> offsets = {0, 19, 35, 56};
  const auto are_sound = [&](const std::vector<std::uint64_t>& given) { return Frames{bytes, given}.are_sound(); };
  CHECK(are_sound(offsets));
  CHECK(are_sound({0}));
  CHECK(!are_sound({}));
  CHECK(!are_sound({0, 19, 34}));  // no room for the framing
  CHECK(!are_sound({19, 0}));
  CHECK(!are_sound({0, 57}));
}

TEST(some_records_are_appended) {
  const Content bytes = framed({"one", "", "three"});
  const std::vector<std::uint64_t> offsets = {0, 19, 35, 56};
  const Frames frames{bytes, offsets};
  CHECK_EQUAL(std::string_view(reinterpret_cast<const char*>(frames.payload(2).data()), 5), "three");
  const std::unique_ptr<RecordSink> sink = RecordSink::in_memory();
  bool sound = false;
  CHECK_OK(append_every(frames, 0, 2, sink.get(), &sound));
  CHECK(sound);
  CHECK_OK(append_chosen(frames, std::vector<std::int64_t>{2, 0, 1}, sink.get(), &sound));
  CHECK(sound);
  std::vector<std::uint64_t> ends;
  const Buffer taken = sink->take(&ends);
  const Content expected = framed({"one", "three", "three", "one", ""});
  CHECK(Content(taken.data(), taken.data() + ends.back()) == expected);
}

TEST(damaged_frames_are_not_appended) {
  Content bytes = framed({"one"});
  bytes[0] ^= 1;
  const std::vector<std::uint64_t> offsets = {0, 19};
  const std::unique_ptr<RecordSink> sink = RecordSink::in_memory();
  bool sound = true;
  CHECK_OK(append_chosen({bytes, offsets}, std::vector<std::int64_t>{0}, sink.get(), &sound));
  CHECK(!sound);
  CHECK_OK(append_every({bytes, offsets}, 0, 1, sink.get(), &sound));
  CHECK(!sound);
  CHECK_EQUAL(sink->records(), 0u);
}

}  // namespace
}  // namespace recordsmith::testing
