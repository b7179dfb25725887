#include "examples/record_digest.h"

#include "tests/check.h"
#include "tests/made_examples.h"

namespace recordsmith::testing {
namespace {

std::uint64_t digest(const std::string& payload, std::initializer_list<std::string_view> ignored = {}) {
  const std::vector<std::string_view> names(ignored);
  return digest_record(bytes_of(payload), payload.size(), names);
}

TEST(ignored_features_do_not_count) {
  const std::string label = entry("label", int64_list({3}));
  const std::string one = example({entry("file", bytes_list({"a.jpg"})), label});
  const std::string other = example({entry("file", bytes_list({"b.jpg"})), label});
  CHECK(digest(one) != digest(other));
  CHECK_EQUAL(digest(one, {"file"}), digest(other, {"file"}));
  CHECK_EQUAL(digest(one, {"file"}), digest(example({label}), {"file"}));
  CHECK(digest(one, {"label"}) != digest(other, {"label"}));
}

TEST(every_other_byte_counts) {
  const std::string payload = example({entry("file", bytes_list({"a"})), entry("x", float_list({1, 2, 3}))});
  for (std::size_t i = payload.size() - 12; i < payload.size(); ++i) {  // the numbers
    std::string changed = payload;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    CHECK(digest(changed) != digest(payload));
    CHECK(digest(changed, {"file"}) != digest(payload, {"file"}));
  }
}

TEST(steps_can_be_ignored_too) {
  const auto sequence = [](const char* name, std::int64_t value) {
    return message(1, "") + message(2, message(1, message(1, name) + message(2, message(1, int64_list({value})))));
  };
  CHECK_EQUAL(digest(sequence("frames", 1), {"frames"}), digest(sequence("frames", 2), {"frames"}));
  CHECK(digest(sequence("frames", 1), {"other"}) != digest(sequence("frames", 2), {"other"}));
}

TEST(what_does_not_parse_is_digested_whole) {
  CHECK_EQUAL(digest("\x0a\xff not an Example", {"a"}), digest("\x0a\xff not an Example"));
  CHECK(digest("\x0a\xff not an Example", {"a"}) != digest("\x0a\xff not an example", {"a"}));
}

}  // namespace
}  // namespace recordsmith::testing
