#include "records/framing/frame_reading.h"

#include <string>

#include "tests/made_records.h"

namespace recordsmith::testing {
namespace {

struct MadeFile {
  MadeFile() {
    for (std::size_t i = 0; i < 20; ++i) {
      const std::string payload(3000 + i, static_cast<char>('a' + i));
      places.push_back({0, content.size(), payload.size(), i});
      append_record(payload, &content);
    }
  }
  Status read(std::span<const RecordPlace> wanted, Buffer* frames) const {
    FileList list({folder.write("made", content)});
    RECORDSMITH_RETURN_IF_ERROR(list.open(0));
    CHECK(are_better_read(list.files(), wanted));
    return read_frames(list.files(), wanted, frames);
  }

  TemporaryFolder folder;
  Content content;
  std::vector<RecordPlace> places;
};

TEST(frames_come_in_the_order_asked_for) {
  const MadeFile made;
  Buffer frames;
  const std::vector<RecordPlace> wanted{made.places[7], made.places[0], made.places[19], made.places[7]};
  CHECK_OK(made.read(wanted, &frames));
  Content expected;
  for (const RecordPlace& place : wanted) {
    const auto begin = made.content.begin() + static_cast<std::ptrdiff_t>(place.offset);
    expected.insert(expected.end(), begin, begin + static_cast<std::ptrdiff_t>(place.length + kFramingBytes));
  }
  CHECK(Content(frames.data(), frames.data() + expected.size()) == expected);
}

TEST(what_is_damaged_or_elsewhere_is_a_failure) {
  MadeFile made;
  Buffer frames;
  RecordPlace wrong = made.places[3];
  wrong.offset += 1;
  CHECK(made.read(std::vector<RecordPlace>{wrong}, &frames).failure().code == Code::kStaleIndex);
  made.content[made.places[5].offset + 100] ^= 1;
  CHECK_OK(made.read(std::vector<RecordPlace>{made.places[4]}, &frames));
  const Status status = made.read(std::vector<RecordPlace>{made.places[4], made.places[5]}, &frames);
  CHECK(status.failure().code == Code::kCorruptData);
  CHECK_EQUAL(status.failure().record, 5u);
}

TEST(small_records_are_mapped) {
  const TemporaryFolder folder;
  FileList list({folder.write("made", framed({"small"}))});
  CHECK_OK(list.open(0));
  CHECK(!are_better_read(list.files(), std::vector<RecordPlace>{{0, 0, 5, 0}}));
}

}  // namespace
}  // namespace recordsmith::testing
