#include "records/record_stream.h"

#include <string>
#include <vector>

#include "records/record_sink.h"
#include "tests/made_records.h"

namespace recordsmith::testing {
namespace {

// The payloads that a stream gives past all damage, with their numbers.
std::string read_past_damage(const std::string& path) {
  std::unique_ptr<RecordStream> stream;
  CHECK_OK(RecordStream::open({path}, /*verify=*/true, &stream));
  std::string text;
  for (bool goes_on = true; goes_on;) {
    const std::uint64_t number = stream->number();
    std::optional<RecordView> record;
    if (!stream->next(&record).is_ok()) {
      CHECK(!stream->next(&record).is_ok());  // again, until the damage is skipped
      CHECK_OK(stream->recover(&goes_on));
      text += goes_on ? "| " : "| end";
    } else if (record.has_value()) {
      CHECK_EQUAL(record->number, number);
      text += std::to_string(number) + ':' +
              std::string(reinterpret_cast<const char*>(record->data), static_cast<std::size_t>(record->length)) + ' ';
    } else {
      goes_on = false;
    }
  }
  return text;
}

TEST(damaged_records_are_skipped) {
  const TemporaryFolder folder;
  const Content sound = framed({"one", "two", "three"});
  CHECK_EQUAL(read_past_damage(folder.write("sound", sound)), "0:one 1:two 2:three ");
  Content bad_data = sound;
  bad_data[19 + kHeaderBytes] ^= 1;
  CHECK_EQUAL(read_past_damage(folder.write("data", bad_data)), "0:one | 2:three ");
  Content bad_length = sound;
  bad_length[19] ^= 1;
  CHECK_EQUAL(read_past_damage(folder.write("length", bad_length)), "0:one | 1:three ");
  const Content cut(sound.begin(), sound.end() - 2);
  CHECK_EQUAL(read_past_damage(folder.write("cut", cut)), "0:one 1:two | end");
}

// A length that leads into nothing is not trusted, although its CRC holds: the records inside are found again.
TEST(a_length_is_trusted_only_if_it_leads_to_a_header) {
  const TemporaryFolder folder;
  Content file = framed({"one"});
  const Content inside = framed({"two", "three"});
  Content wrong(kHeaderBytes);
  write_header(inside.size() + 5, wrong.data());
  file.insert(file.end(), wrong.begin(), wrong.end());
  file.insert(file.end(), inside.begin(), inside.end());
  file.insert(file.end(), 9 + 40, 0);  // the rest of the data, a CRC that fails, and no header
  CHECK_EQUAL(read_past_damage(folder.write("plain", file)).substr(0, 24), "0:one | 2:two 3:three | ");
}

}  // namespace
}  // namespace recordsmith::testing
