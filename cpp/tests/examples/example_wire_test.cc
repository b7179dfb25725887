#include "examples/example_wire.h"

#include "tests/made_examples.h"

namespace recordsmith::testing {
namespace {

using Int64s = std::vector<std::int64_t>;
using Floats = std::vector<float>;
using Strings = std::vector<std::string>;

const std::string kUnknownField = "\x38\x01";  // field 7, a varint

// Keeps the payload that the features point into.
struct Parsed {
  explicit Parsed(std::string bytes) : payload(std::move(bytes)) {
    status = parse_example(bytes_of(payload), payload.size(), &features);
  }
  const WireFeature* operator[](std::string_view key) const { return features.find(key); }

  std::string payload;
  WireFeatures features;
  Status status;
};

TEST(the_three_kinds) {
  const Parsed parsed(example({entry("b", bytes_list({"x", "", "yz"})), entry("f", float_list({0.5f, -1.0f})),
                               entry("i", int64_list({0, 300, -1}))}));
  CHECK_OK(parsed.status);
  CHECK(bytes_of(parsed["b"]) == Strings({"x", "", "yz"}));
  CHECK(floats_of(parsed["f"]) == Floats({0.5f, -1.0f}));
  CHECK(int64s_of(parsed["i"]) == Int64s({0, 300, -1}));
  CHECK(parsed["none"] == nullptr);
}

TEST(numbers_come_packed_or_one_by_one_or_mixed) {
  const std::string mixed = message(3, message(1, varint(1)) + "\x08\x02" + message(1, varint(3) + varint(4)));
  CHECK(int64s_of(Parsed(example({entry("i", mixed)}))["i"]) == Int64s({1, 2, 3, 4}));
  const std::string half("\x0d\x00\x00\x00\x3f", 5);
  CHECK(floats_of(Parsed(example({entry("f", message(2, half + half))}))["f"]) == Floats({0.5f, 0.5f}));
}

TEST(the_last_entry_of_a_key_wins) {
  const Parsed parsed(example({entry("i", int64_list({1})), entry("f", float_list({1})), entry("i", int64_list({2}))}));
  CHECK_OK(parsed.status);
  CHECK_EQUAL(parsed.features.entries().size(), 2u);
  CHECK(int64s_of(parsed["i"]) == Int64s({2}));
}

TEST(a_message_met_twice_is_merged) {
  CHECK(int64s_of(Parsed(example({entry("i", int64_list({1}) + int64_list({2, 3}))}))["i"]) == Int64s({1, 2, 3}));
  const Parsed replaced(example({entry("i", int64_list({1}) + float_list({2.0f}))}));
  CHECK(floats_of(replaced["i"]) == Floats({2.0f}));
  const Parsed two_values(
      example({message(1, message(1, "i") + message(2, int64_list({1})) + message(2, int64_list({2})))}));
  CHECK(int64s_of(two_values["i"]) == Int64s({1, 2}));
  const Parsed two_maps(example({entry("a", int64_list({1}))}) + example({entry("b", int64_list({2}))}));
  CHECK_EQUAL(two_maps.features.entries().size(), 2u);
}

TEST(unknown_fields_are_passed_over_but_drop_a_map_entry) {
  const Parsed around(kUnknownField + example({kUnknownField + entry("i", kUnknownField + int64_list({1}))}));
  CHECK_OK(around.status);
  CHECK(int64s_of(around["i"]) == Int64s({1}));
  const Parsed inside(example({message(1, message(1, "i") + message(2, int64_list({1})) + kUnknownField)}));
  CHECK_OK(inside.status);
  CHECK(inside["i"] == nullptr);
}

TEST(an_entry_may_lack_its_key_or_its_value) {
  CHECK(int64s_of(Parsed(example({message(1, message(2, int64_list({1})))}))[""]) == Int64s({1}));
  const Parsed no_value(example({message(1, message(1, "i"))}));
  CHECK(no_value["i"] != nullptr && no_value["i"]->kind() == Kind::kNone);
}

TEST(many_features_are_found_as_few_are) {
  std::string body;
  for (int i = 0; i < 1000; ++i) body += entry("feature" + std::to_string(i % 500), int64_list({i}));
  const Parsed parsed(message(1, body));
  CHECK_EQUAL(parsed.features.entries().size(), 500u);
  for (int i = 0; i < 500; ++i) CHECK(int64s_of(parsed["feature" + std::to_string(i)]) == Int64s({i + 500}));
}

TEST(what_protobuf_refuses_is_refused) {
  const auto refused = [](const std::string& payload) {
    const Parsed parsed(payload);
    return !parsed.status.is_ok() && parsed.status.failure().code == Code::kMalformed;
  };
  CHECK(refused("\x0a\x05"));                                            // cut off
  CHECK(refused(example({entry("\xff", int64_list({1}))})));             // a key that is not UTF-8
  CHECK(refused(example({entry("f", message(2, message(1, "123")))})));  // three bytes of floats
  CHECK(refused(example({entry("i", message(3, message(1, "\x80")))})));
  CHECK(refused("\x02"));  // field number 0
  const std::string whole = example({entry("i", int64_list({1, 2, 300}))});
  for (std::size_t size = 1; size < whole.size(); ++size) CHECK(refused(whole.substr(0, size)));
  CHECK_OK(Parsed("").status);
}

TEST(features_that_are_used_again_are_those_of_new_ones) {
  // Keys in the usual order, in another one, fewer, more than are searched one by one, and again.
  std::vector<std::vector<std::string>> records = {
      {"a", "b", "c"}, {"a", "b", "c"}, {"a", "b", "a", "c"}, {"b", "a"}, {"a"}, {}, {"a", "a"}, {"c", "b", "a"}};
  std::vector<std::string> many;
  for (int i = 0; i < 60; ++i) many.push_back(std::to_string(i % 50));
  records.insert(records.begin() + 2, {many, many});
  records.push_back(many);
  WireFeatures again;
  for (const std::vector<std::string>& keys : records) {
    std::string entries;
    for (std::size_t i = 0; i < keys.size(); ++i) entries += entry(keys[i], int64_list({static_cast<std::int64_t>(i)}));
    const Parsed expected(example({entries}));
    CHECK_OK(parse_example(bytes_of(expected.payload), expected.payload.size(), &again));
    CHECK_EQUAL(again.entries().size(), expected.features.entries().size());
    for (std::size_t i = 0; i < again.entries().size(); ++i) {
      CHECK(again.entries()[i].key == expected.features.entries()[i].key);
      CHECK(int64s_of(&again.entries()[i].value) == int64s_of(&expected.features.entries()[i].value));
    }
    again.restart();
  }
}

TEST(a_sequence_example_has_a_context_and_lists_of_steps) {
  const std::string steps = message(1, int64_list({1, 2})) + message(1, "") + message(1, float_list({3.0f}));
  const std::string payload = example({entry("id", int64_list({7}))}) + message(2, entry("steps", steps));
  WireFeatures context;
  WireFeatureLists lists;
  CHECK_OK(parse_sequence_example(bytes_of(payload), payload.size(), &context, &lists));
  CHECK(int64s_of(context.find("id")) == Int64s({7}));
  const std::vector<WireFeature>* found = lists.find("steps");
  CHECK(found != nullptr && found->size() == 3);
  if (found == nullptr || found->size() != 3) return;
  CHECK(int64s_of(&(*found)[0]) == Int64s({1, 2}));
  CHECK((*found)[1].kind() == Kind::kNone);
  CHECK(floats_of(&(*found)[2]) == Floats({3.0f}));
}

}  // namespace
}  // namespace recordsmith::testing
