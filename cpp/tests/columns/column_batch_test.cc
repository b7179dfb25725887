#include "columns/column_batch.h"

#include "tests/made_examples.h"

namespace recordsmith::testing {
namespace {

PlanColumn column(std::string key, Kind kind, std::int64_t count, Presence presence = Presence::kRequired) {
  PlanColumn result;
  result.key = std::move(key);
  result.kind = kind;
  result.count = count;
  result.presence = presence;
  return result;
}

std::shared_ptr<const FeaturePlan> compiled(std::vector<PlanColumn> columns) {
  std::shared_ptr<const FeaturePlan> plan;
  CHECK_OK(FeaturePlan::compile(std::move(columns), &plan));
  return plan;
}

Status add(BatchDecoder* decoder, std::string_view payload) { return decoder->add(bytes_of(payload), payload.size()); }

template <typename T>
std::vector<T> first(const PooledArray<T>& array, std::size_t count) {
  return std::vector<T>(array.data(), array.data() + count);
}

using Int64s = std::vector<std::int64_t>;

TEST(each_layout_holds_its_rows) {
  PlanColumn fixed = column("pixels", Kind::kBytes, 1);
  fixed.row_bytes = 2;
  BatchDecoder decoder(compiled({column("label", Kind::kInt64, 1), column("pair", Kind::kFloat, 2),
                                 column("tokens", Kind::kInt64, kVaries), column("text", Kind::kBytes, 1),
                                 column("words", Kind::kBytes, kVaries), fixed}));
  decoder.start(2);
  CHECK_OK(add(&decoder, example({entry("label", int64_list({3})), entry("pair", float_list({1, 2})),
                                  entry("tokens", int64_list({5, 600, 70'000})), entry("text", bytes_list({"abc"})),
                                  entry("words", bytes_list({"a", "", "bc"})), entry("pixels", bytes_list({"xy"}))})));
  // The next record has another order, an unpacked list and something that nobody asked for.
  CHECK_OK(add(&decoder, example({entry("pixels", bytes_list({"zw"})), entry("other", int64_list({1})),
                                  entry("words", bytes_list({})), entry("text", bytes_list({""})),
                                  entry("tokens", message(3, "\x08\x07")), entry("pair", float_list({3, 4})),
                                  entry("label", int64_list({-4}))})));
  const ColumnBatch batch = decoder.finish();
  CHECK_EQUAL(batch.rows, 2u);
  CHECK(first(batch.columns[0].int64s, 2) == Int64s({3, -4}));
  CHECK(first(batch.columns[1].floats, 4) == std::vector<float>({1, 2, 3, 4}));
  CHECK(first(batch.columns[2].offsets, 3) == Int64s({0, 3, 4}));
  CHECK(first(batch.columns[2].int64s, 4) == Int64s({5, 600, 70'000, 7}));
  CHECK(first(batch.columns[3].offsets, 3) == Int64s({0, 3, 3}));
  CHECK(first(batch.columns[4].offsets, 3) == Int64s({0, 3, 3}));
  CHECK(first(batch.columns[4].value_offsets, 4) == Int64s({0, 1, 1, 3}));
  CHECK(first(batch.columns[5].bytes, 4) == std::vector<std::uint8_t>({'x', 'y', 'z', 'w'}));
}

TEST(an_absent_feature_is_an_error_or_a_flag_or_a_default) {
  PlanColumn defaulted = column("score", Kind::kFloat, 1, Presence::kDefault);
  defaulted.default_floats = {0.25f};
  BatchDecoder decoder(
      compiled({column("label", Kind::kInt64, 1), defaulted, column("extra", Kind::kInt64, 2, Presence::kOptional)}));
  decoder.start(4);
  CHECK_OK(add(&decoder, example({entry("label", int64_list({1}))})));
  CHECK_OK(add(&decoder, example({entry("label", int64_list({2})), entry("score", float_list({0.5f})),
                                  entry("extra", int64_list({8, 9}))})));
  const Status missing = add(&decoder, example({entry("lable", int64_list({3}))}));
  CHECK(!missing.is_ok() && missing.failure().code == Code::kMissingFeature);
  CHECK(missing.failure().feature == "label" && missing.failure().names == std::vector<std::string>({"lable"}));
  CHECK_OK(add(&decoder, example({entry("label", int64_list({4})), entry("score", "")})));
  const ColumnBatch batch = decoder.finish();
  CHECK_EQUAL(batch.rows, 3u);  // the refused record does not count
  CHECK(first(batch.columns[0].int64s, 3) == Int64s({1, 2, 4}));
  CHECK(first(batch.columns[1].floats, 3) == std::vector<float>({0.25f, 0.5f, 0.25f}));
  CHECK(first(batch.columns[2].int64s, 6) == Int64s({0, 0, 8, 9, 0, 0}));
  CHECK(first(batch.columns[2].present, 3) == std::vector<std::uint8_t>({0, 1, 0}));
}

TEST(what_does_not_fit_is_named) {
  PlanColumn fixed = column("pixels", Kind::kBytes, 1, Presence::kOptional);
  fixed.row_bytes = 2;
  BatchDecoder decoder(compiled({column("label", Kind::kInt64, 1, Presence::kOptional), fixed}));
  decoder.start(1);
  const auto code = [&](const std::string& one) {
    const Status status = add(&decoder, example({one}));
    CHECK(!status.is_ok());
    return status.is_ok() ? Code::kInvalidArgument : status.failure().code;
  };
  CHECK(code(entry("label", float_list({1}))) == Code::kWrongKind);
  CHECK(code(entry("label", int64_list({1, 2}))) == Code::kWrongCount);
  CHECK(code(entry("label", int64_list({}))) == Code::kWrongCount);
  CHECK(code(entry("pixels", bytes_list({"xyz"}))) == Code::kWrongByteLength);
  CHECK(code(entry("label", message(3, message(1, "\x80")))) == Code::kMalformed);
  CHECK_EQUAL(decoder.rows(), 0u);
}

TEST(a_column_may_hold_no_values_at_all) {
  BatchDecoder decoder(compiled({column("i", Kind::kInt64, 0), column("f", Kind::kFloat, 0)}));
  decoder.start(2);
  CHECK_OK(add(&decoder, example({entry("i", int64_list({})), entry("f", float_list({}))})));
  CHECK_OK(add(&decoder, example({entry("i", message(3, message(1, ""))), entry("f", message(2, message(1, "")))})));
  CHECK_EQUAL(decoder.finish().rows, 2u);
}

TEST(steps_of_a_sequence_example) {
  PlanColumn tokens = column("tokens", Kind::kInt64, kVaries, Presence::kOptional);
  tokens.in_steps = true;
  BatchDecoder decoder(compiled({column("label", Kind::kInt64, 1), tokens}));
  decoder.start(3);
  const std::string context = example({entry("label", int64_list({1}))});
  const std::string steps = message(1, int64_list({1, 2})) + message(1, "") + message(1, int64_list({3}));
  CHECK_OK(add(&decoder, context + message(2, entry("tokens", steps))));
  CHECK_OK(add(&decoder, context));
  CHECK_OK(add(&decoder, context + message(2, entry("tokens", message(1, int64_list({4}))))));
  const ColumnBatch batch = decoder.finish();
  CHECK(first(batch.columns[1].step_offsets, 4) == Int64s({0, 3, 3, 4}));
  CHECK(first(batch.columns[1].offsets, 5) == Int64s({0, 2, 2, 3, 4}));
  CHECK(first(batch.columns[1].int64s, 4) == Int64s({1, 2, 3, 4}));
  CHECK(first(batch.columns[1].present, 3) == std::vector<std::uint8_t>({1, 0, 1}));
}

}  // namespace
}  // namespace recordsmith::testing
