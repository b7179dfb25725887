#include "examples/wire.h"

#include <string>
#include <vector>

#include "base/utf8.h"
#include "examples/varint_run.h"
#include "tests/check.h"

namespace recordsmith {
namespace {

using Content = std::vector<std::uint8_t>;

void append_varint(std::uint64_t value, Content* out) {
  for (; value >= 0x80; value >>= 7) out->push_back(static_cast<std::uint8_t>(value | 0x80));
  out->push_back(static_cast<std::uint8_t>(value));
}

bool skips(const Content& content) {
  const wire::Bytes end = content.data() + content.size();
  std::uint32_t tag = 0;
  const wire::Bytes at = wire::read_tag(content.data(), end, &tag);
  return at != nullptr && wire::skip_value(at, end, tag, wire::kMaxDepth) == end;
}

TEST(varints_of_every_length_are_read) {
  for (int bits = 0; bits < 64; ++bits) {
    Content content;
    const std::uint64_t value = std::uint64_t{1} << bits | 1;
    append_varint(value, &content);
    std::uint64_t read = 0;
    CHECK(wire::read_varint(content.data(), content.data() + content.size(), &read) == content.data() + content.size());
    CHECK_EQUAL(read, value);
    CHECK(wire::read_varint(content.data(), content.data() + content.size() - 1, &read) == nullptr);
  }
}

TEST(a_varint_has_ten_bytes_at_most) {
  Content content(10, 0x80);
  content.push_back(0);
  std::uint64_t value = 0;
  CHECK(wire::read_varint(content.data(), content.data() + content.size(), &value) == nullptr);
  CHECK(wire::read_varint(content.data() + 1, content.data() + content.size(), &value) != nullptr);
}

TEST(runs_of_varints_agree_with_one_at_a_time) {
  std::uint64_t state = 1;
  for (std::size_t count = 0; count < 400; ++count) {
    Content content;
    std::vector<std::int64_t> expected;
    for (std::size_t i = 0; i < count; ++i) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      // Lengths from one byte to ten, with stretches of short ones.
      const int shift = count % 3 == 0 ? 57 : static_cast<int>(state >> 58);
      expected.push_back(static_cast<std::int64_t>(state >> shift));
      append_varint(state >> shift, &content);
    }
    content.shrink_to_fit();
    const wire::Bytes end = content.data() + content.size();
    CHECK_EQUAL(wire::count_varints(content.data(), end), count);
    CHECK_EQUAL(wire::count_sound_varints(content.data(), end), count);
    for (const auto decode : {&wire::decode_varints, &wire::decode_varints_portable}) {
      std::vector<std::int64_t> decoded(count + 1, -1);
      CHECK_EQUAL(decode(content.data(), end, decoded.data(), count), count);
      CHECK_EQUAL(decoded.back(), -1);  // nothing is written beyond the room
      decoded.pop_back();
      CHECK(decoded == expected);
      if (count > 0) CHECK_EQUAL(decode(content.data(), end, decoded.data(), count - 1), wire::kNotVarints);
      if (!content.empty() && content.back() != 0) {
        content.back() |= 0x80;
        CHECK_EQUAL(decode(content.data(), end, decoded.data(), count), wire::kNotVarints);
        CHECK_EQUAL(wire::count_sound_varints(content.data(), end), wire::kNotVarints);
        content.back() &= 0x7f;
      }
    }
  }
}

TEST(a_varint_that_is_too_long_is_found_anywhere_in_a_run) {
  for (std::size_t before = 0; before < 200; ++before) {
    Content content(before, 1);
    content.insert(content.end(), 9, 0x80);
    content.insert(content.end(), 100, 1);
    CHECK_EQUAL(wire::count_sound_varints(content.data(), content.data() + content.size()), before + 100);
    content.insert(content.begin() + static_cast<std::ptrdiff_t>(before), 0x80);
    CHECK_EQUAL(wire::count_sound_varints(content.data(), content.data() + content.size()), wire::kNotVarints);
  }
}

TEST(field_number_zero_does_not_exist) {
  CHECK(!skips({0x00, 0x01}));
  CHECK(skips({0x08, 0x01}));
}

TEST(a_size_is_believed_only_if_the_bytes_are_there) {
  std::size_t size = 0;
  const Content content{0x03, 'a', 'b', 'c'};
  CHECK(wire::read_size(content.data(), content.data() + 4, &size) == content.data() + 1);
  CHECK(wire::read_size(content.data(), content.data() + 3, &size) == nullptr);
  const Content huge{0xff, 0xff, 0xff, 0xff, 0x0f};
  CHECK(wire::read_size(huge.data(), huge.data() + huge.size(), &size) == nullptr);
}

TEST(groups_are_passed_over_whole) {
  CHECK(skips({0x4b, 0x08, 0x05, 0x4c}));         // group 9 with one field
  CHECK(skips({0x4b, 0x13, 0x14, 0x4c}));         // with a group 2 in it
  CHECK(!skips({0x4b, 0x08, 0x05}));              // without an end
  CHECK(!skips({0x4b, 0x14}));                    // with another group's end
  CHECK(!skips({0x4c}));                          // an end without a start
  CHECK(!skips({0x4e, 0x00}) && !skips({0x4f}));  // wire types that do not exist
}

TEST(groups_nest_a_hundred_deep_and_no_deeper) {
  const auto nested = [](std::size_t depth) {
    Content content(depth, 0x4b);
    content.insert(content.end(), depth, 0x4c);
    return content;
  };
  CHECK(skips(nested(100)));
  CHECK(!skips(nested(101)));
  CHECK(!skips(nested(1'000'000)));
}

bool is_text(const std::string& text) {
  return is_utf8(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
}

TEST(utf8_is_what_unicode_says) {
  CHECK(is_text(""));
  CHECK(is_text("plain ascii that is longer than sixteen bytes"));
  CHECK(is_text("\xc3\xa9\xe4\xb8\x96\xf0\x9f\x98\x80"));
  CHECK(is_text("\xf4\x8f\xbf\xbf"));   // U+10FFFF
  CHECK(!is_text("\xf4\x90\x80\x80"));  // one more
  CHECK(!is_text("\xed\xa0\x80"));      // a surrogate
  CHECK(!is_text("\xc0\x80"));          // overlong
  CHECK(!is_text("\xe0\x80\x80"));      // overlong
  CHECK(!is_text("\xf0\x80\x80\x80"));  // overlong
  CHECK(!is_text("abc\xe4\xb8"));       // cut off
  CHECK(!is_text("\x80"));              // a continuation of nothing
  CHECK(!is_text("long enough for the fast path \xff and more behind it"));
}

}  // namespace
}  // namespace recordsmith
