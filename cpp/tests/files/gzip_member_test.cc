#include "files/gzip_member.h"

#include <string>

#include "files/inflate_source.h"
#include "tests/made_records.h"

namespace recordsmith::testing {
namespace {

std::uint32_t u32_at(const GzipMember& member, std::size_t at) { return load_u32(member.bytes.data() + at); }

TEST(the_header_says_how_long_the_member_is) {
  const TemporaryFolder folder;
  std::string noise;
  for (unsigned i = 0, state = 1; i < 300'000; ++i)
    noise += static_cast<char>((state = state * 1103515245 + 12345) >> 16);
  for (const std::string& payload : {std::string(), std::string(2'000'000, 'x'), noise}) {
    for (const int level : {1, 6, 9}) {
      const Content data = framed({payload, "second"});
      GzipMember member;
      CHECK_OK(deflate_member(data, 2, level, &member));
      CHECK_EQUAL(u32_at(member, 16), member.size);
      CHECK_EQUAL(u32_at(member, 20), 2u);
      CHECK_EQUAL(u32_at(member, member.size - 4), data.size());
      const Content file(member.bytes.data(), member.bytes.data() + member.size);
      folder.write("member", file);
      std::shared_ptr<const File> opened;
      Compression compression = Compression::kNone;
      CHECK_OK(open_input({folder.file("member")}, &opened, &compression));
      CHECK(compression == Compression::kGzip);
      const ReadRecords read = read_all(open_stream(opened, compression));
      CHECK_OK(read.end);
      CHECK(read.payloads == (std::vector<std::string>{payload, "second"}));
    }
  }
}

TEST(a_level_that_does_not_exist_is_refused) {
  GzipMember member;
  CHECK(!deflate_member({}, 0, 77, &member).is_ok());
}

}  // namespace
}  // namespace recordsmith::testing
