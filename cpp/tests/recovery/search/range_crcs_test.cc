#include "recovery/search/range_crcs.h"

#include <random>
#include <string>

#include "base/checksums/crc32c.h"
#include "tests/check.h"
#include "tests/made_records.h"

namespace recordsmith {
namespace {

using testing::Content;
using testing::TemporaryFolder;

TEST(any_stretch_has_the_crc_of_its_bytes) {
  Content content(5'000'000);
  std::mt19937 random(7);
  for (std::uint8_t& byte : content) byte = static_cast<std::uint8_t>(random());
  const TemporaryFolder folder;
  std::shared_ptr<File> file;
  CHECK_OK(File::open(folder.write("data", content), &file));
  FileWindow window(*file, content.size());
  RangeCrcs crcs(*file);
  std::uint64_t settled = 0;
  for (int i = 0; i < 400; ++i) {
    // Also far ahead and back again, to the very end, and nothing at all.
    const std::uint64_t begin = settled + random() % (content.size() - settled + 1);
    std::uint64_t size = random() % (content.size() - begin + 1);
    if (i % 7 == 0) size = content.size() - begin;
    if (i % 11 == 0) size = 0;
    std::uint32_t crc = 0;
    CHECK_OK(crcs.crc_of(&window, begin, size, &crc));
    CHECK_EQUAL(crc, crc32c(content.data() + begin, static_cast<std::size_t>(size)));
    if (i % 5 == 0) crcs.forget_before(settled += random() % 20'000);
  }
}

TEST(a_file_that_was_cut_meanwhile_is_a_failure) {
  const TemporaryFolder folder;
  const std::string path = folder.write("data", Content(300'000, 1));
  std::shared_ptr<File> file;
  CHECK_OK(File::open(path, &file));
  FileWindow window(*file, 300'000);
  RangeCrcs crcs(*file);
  folder.write("data", Content(1'000, 1));
  std::uint32_t crc = 0;
  CHECK(!crcs.crc_of(&window, 10, 200'000, &crc).is_ok());
}

}  // namespace
}  // namespace recordsmith
