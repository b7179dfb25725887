#include "columns/encoding/column_dealing.h"

#include <string>

#include "tests/made_examples.h"
#include "tests/made_records.h"

namespace recordsmith::testing {
namespace {

std::shared_ptr<const FeaturePlan> plan_of_vector_and_name() {
  PlanColumn vector;
  vector.key = "vector";
  vector.kind = Kind::kFloat;
  vector.count = 300;
  PlanColumn name;
  name.key = "name";
  name.kind = Kind::kBytes;
  name.count = 1;
  std::shared_ptr<const FeaturePlan> plan;
  CHECK_OK(FeaturePlan::compile({vector, name}, &plan));
  return plan;
}

struct Rows {
  std::vector<float> floats;
  std::vector<std::string> names;
  std::vector<std::string_view> views;
  std::vector<ColumnSource> columns{2};

  explicit Rows(std::size_t rows) {
    for (std::size_t i = 0; i < 300 * rows; ++i) floats.push_back(static_cast<float>(i));
    for (std::size_t row = 0; row < rows; ++row) names.push_back("row " + std::to_string(row));
    views.assign(names.begin(), names.end());
    columns[0].floats = floats.data();
    columns[1].views = views.data();
  }
};

struct Sinks {
  std::vector<std::unique_ptr<RecordSink>> owned;
  std::vector<RecordSink*> all;

  explicit Sinks(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      owned.push_back(RecordSink::in_memory());
      all.push_back(owned.back().get());
    }
  }
};

Content taken(RecordSink* sink) {
  std::vector<std::uint64_t> offsets;
  const Buffer frames = sink->take(&offsets);
  return {frames.data(), frames.data() + offsets.back()};
}

TEST(rows_are_dealt_in_turn_whatever_the_threads) {
  const auto plan = plan_of_vector_and_name();
  for (const std::size_t rows : {0, 1, 4, 10'007}) {  // the last one is worth threads, and has more than one block
    const Rows given(rows);
    for (const std::size_t threads : {1, 2, 8}) {
      Sinks sinks(3);
      CHECK_OK(deal_columns(plan, given.columns, rows, 2, sinks.all, threads));
      Sinks expected(3);
      ColumnEncoder encoder(plan);
      for (std::size_t row = 0; row < rows; ++row) {
        CHECK_OK(encoder.append(given.columns, row, row + 1, expected.all[(2 + row) % 3]));
      }
      for (std::size_t i = 0; i < 3; ++i) CHECK(taken(sinks.all[i]) == taken(expected.all[i]));
    }
  }
}

TEST(a_row_that_is_too_large_leaves_all_files_as_they_were) {
  Rows given(5);
  given.views[3] = {given.names[3].data(), kLargestMessage};  // measured, never read
  Sinks sinks(2);
  const Status status = deal_columns(plan_of_vector_and_name(), given.columns, 5, 0, sinks.all, 2);
  CHECK(!status.is_ok() && status.failure().code == Code::kTooLarge);
  CHECK_EQUAL(status.failure().record, 3u);
  for (const RecordSink* sink : sinks.all) CHECK_EQUAL(sink->records(), 0u);
}

TEST(rows_close_to_the_limit_are_tried_first) {
  Rows given(3);
  // A value list whose size is not known to be small enough: all rows are encoded, and then written.
  PlanColumn many;
  many.key = "many";
  many.kind = Kind::kInt64;
  many.count = 1;
  many.in_steps = true;
  std::shared_ptr<const FeaturePlan> plan;
  CHECK_OK(FeaturePlan::compile({many}, &plan));
  const std::vector<std::int64_t> values{1, 2, 3};
  const std::vector<std::int64_t> steps{0, 1, 1, 3};
  ColumnSource column;
  column.int64s = values.data();
  column.step_offsets = steps.data();
  Sinks sinks(2);
  CHECK_OK(deal_columns(plan, std::vector<ColumnSource>{column}, 3, 0, sinks.all, 2));
  CHECK_EQUAL(sinks.all[0]->records(), 2u);
  CHECK_EQUAL(sinks.all[1]->records(), 1u);
}

}  // namespace
}  // namespace recordsmith::testing
