#include "examples/example_encoder.h"

#include <limits>

#include "tests/made_examples.h"

namespace recordsmith::testing {
namespace {

const float kFloats[] = {0.5f, -1.0f};
const std::int64_t kInt64s[] = {0, 127, 128, 1 << 21, -1, std::numeric_limits<std::int64_t>::min()};
const std::string_view kBytes[] = {"x", "", "yz"};

FeatureValues floats(std::size_t count) { return {Kind::kFloat, kFloats, nullptr, nullptr, count}; }
FeatureValues int64s(std::size_t count) { return {Kind::kInt64, nullptr, kInt64s, nullptr, count}; }
FeatureValues bytes(std::size_t count) { return {Kind::kBytes, nullptr, nullptr, kBytes, count}; }

std::string text(const std::vector<std::uint8_t>& content) { return std::string(content.begin(), content.end()); }

TEST(features_are_written_in_the_order_of_their_keys) {
  std::vector<NamedFeature> features{{"c", bytes(3)}, {"a", floats(2)}, {"b", int64s(6)}};
  std::vector<std::uint8_t> out;
  CHECK_OK(encode_example(features, &out));
  const std::string expected =
      example({entry("a", float_list({0.5f, -1.0f})),
               entry("b", int64_list({0, 127, 128, 1 << 21, -1, std::numeric_limits<std::int64_t>::min()})),
               entry("c", bytes_list({"x", "", "yz"}))});
  CHECK(text(out) == expected);
}

TEST(an_empty_list_keeps_its_kind) {
  std::vector<NamedFeature> features{{"b", bytes(0)}, {"f", floats(0)}, {"i", int64s(0)}, {"n", {}}};
  std::vector<std::uint8_t> out;
  CHECK_OK(encode_example(features, &out));
  WireFeatures parsed;
  CHECK_OK(parse_example(out.data(), out.size(), &parsed));
  const Kind kinds[] = {Kind::kBytes, Kind::kFloat, Kind::kInt64, Kind::kNone};
  CHECK_EQUAL(parsed.entries().size(), 4u);
  for (std::size_t i = 0; i < parsed.entries().size(); ++i) {
    CHECK(parsed.entries()[i].value.kind() == kinds[i]);
    CHECK_EQUAL(parsed.entries()[i].value.count(), 0u);
  }
}

TEST(the_reusable_encoder_writes_the_same_bytes) {
  std::vector<NamedFeature> features{{"a", floats(2)}, {"b", int64s(6)}, {"c", bytes(3)}};
  std::vector<std::uint8_t> expected;
  CHECK_OK(encode_example(features, &expected));
  ExampleEncoder encoder;
  for (int round = 0; round < 3; ++round) {
    encoder.start();
    for (const NamedFeature& feature : features) encoder.add(feature.key) = feature.values;
    std::vector<std::uint8_t> out(encoder.measure());
    CHECK(encoder.write(out.data()) == out.data() + out.size());
    CHECK(out == expected);
  }
}

TEST(a_sequence_example_comes_back) {
  std::vector<NamedFeature> context{{"id", int64s(1)}};
  std::vector<NamedFeatureList> lists{{"steps", {int64s(2), {}, floats(2)}}, {"none", {}}};
  std::vector<std::uint8_t> out;
  CHECK_OK(encode_sequence_example(context, lists, &out));
  WireFeatures parsed;
  WireFeatureLists parsed_lists;
  CHECK_OK(parse_sequence_example(out.data(), out.size(), &parsed, &parsed_lists));
  CHECK(int64s_of(parsed.find("id")) == std::vector<std::int64_t>({0}));
  CHECK_EQUAL(parsed_lists.entries().size(), 2u);
  const std::vector<WireFeature>* steps = parsed_lists.find("steps");
  CHECK(steps != nullptr && steps->size() == 3);
  if (steps == nullptr || steps->size() != 3) return;
  CHECK(int64s_of(&(*steps)[0]) == std::vector<std::int64_t>({0, 127}));
  CHECK((*steps)[1].kind() == Kind::kNone);
  CHECK(floats_of(&(*steps)[2]) == std::vector<float>({0.5f, -1.0f}));
}

}  // namespace
}  // namespace recordsmith::testing
