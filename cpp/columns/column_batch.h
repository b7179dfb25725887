// Many records decoded into columns, in one pass.
//
// A column of `rows` records is, by the kind of its plan column:
//
//   numbers, fixed count k    values[rows * k]
//   numbers, varying          values[offsets[rows]], row r being values[offsets[r], offsets[r + 1])
//   bytes, one a row          data, row r being data[offsets[r], offsets[r + 1])
//   bytes, fixed row size w   data[rows * w]
//   bytes, several a row      data and value_offsets, row r being the values offsets[r] to offsets[r + 1]
//
// A column in steps is the same with steps in place of rows, and step_offsets says which steps are a record's.
// Optional columns have one presence flag a record; an absent row is zeros, or empty.
//
// BatchDecoder fills a ColumnBatch record by record. Most records look like the one before: the same features in the
// same order, each in the plainest encoding. The decoder predicts that, compares, and copies:
//
//   a run of features with one float each has the same bytes in every record but for the values: it is compared as a
//   whole, under a mask;
//   any other short feature has the same bytes before its values but for four lengths, which all follow from one.
//
// What differs is taken step by step, and at the first surprise the record starts again with the general parser
// (example_wire.h), which knows every corner of protobuf. All ways give the same columns. Nothing has to be undone in
// between, because a row's place follows from the offsets before it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/buffer_pool.h"
#include "columns/feature_plan.h"
#include "records/framing/framing.h"

namespace recordsmith {

struct Column {
  PooledArray<float> floats;
  PooledArray<std::int64_t> int64s;
  PooledArray<std::uint8_t> bytes;
  PooledArray<std::int64_t> offsets;
  PooledArray<std::int64_t> value_offsets;
  PooledArray<std::uint8_t> present;
  PooledArray<std::int64_t> step_offsets;
};

struct ColumnBatch {
  std::shared_ptr<const FeaturePlan> plan;
  std::vector<Column> columns;
  std::size_t rows = 0;
};

class BatchDecoder {
 public:
  explicit BatchDecoder(std::shared_ptr<const FeaturePlan> plan);

  // Starts a batch of at most `rows` records, whose payloads take `payload_bytes` together if that is known: room for
  // long byte values is then made at once.
  void start(std::size_t rows, std::size_t payload_bytes = 0);
  // Decodes one record into the next row. On failure the row does not count, and the rows before it stay. `slack` is
  // how many bytes after the payload may be read too, whatever they are: a few of them make decoding faster.
  Status add(const std::uint8_t* payload, std::size_t size, std::size_t slack = 0);
  std::size_t rows() const { return rows_; }
  const std::shared_ptr<const FeaturePlan>& plan() const { return plan_; }
  // Takes the batch. The decoder keeps what it has learnt about order and sizes for the next one.
  ColumnBatch finish();

 private:
  // How a predicted value is taken; everything but the usual ways goes through take_list.
  enum class Take : std::uint8_t { kNothing, kOneFloat, kOneInt64, kOneBytes, kList };

  // Eight bytes that are expected in a record: `bytes`, plus the size of the values times `per_size`, where `mask` is
  // set.
  struct Word {
    std::uint64_t bytes = 0;
    std::uint64_t per_size = 0;
    std::uint64_t mask = 0;
  };
  static constexpr std::size_t kHeadWords = 6;

  // A feature that is expected at a place in the record. If its whole map entry is shorter than 128 bytes, the bytes
  // before its values, its head, are the same in each record but for the size of the values.
  struct Slot {
    std::string key;
    std::array<Word, kHeadWords> head;
    std::size_t words = 0;       // of the head; 0: the key is too long for that
    std::size_t head_size = 0;   // in bytes
    std::size_t least_size = 0;  // of the entry's content: without any values
    std::int32_t column = FeaturePlan::kUnwanted;
    Take take = Take::kNothing;
    std::size_t run = 0;  // of the slots from here on, how many have one float each: they are in runs_
  };
  // Slots with one float each, one after the other.
  struct Run {
    std::vector<std::uint64_t> bytes;
    std::vector<std::uint64_t> mask;
    std::size_t size = 0;  // in bytes
    struct Value {
      std::uint32_t offset;
      std::int32_t column;
    };
    std::vector<Value> values;
  };

  Slot make_slot(std::string_view key) const;
  void know_slots();
  bool add_predicted(const std::uint8_t* at, const std::uint8_t* end, const std::uint8_t* readable_end);
  // Takes the slots of a run, or a whole map entry of less than 128 bytes, just as expected; null if it is not.
  const std::uint8_t* take_run(const Run& run, const std::uint8_t* at, const std::uint8_t* end,
                               const std::uint8_t* readable_end);
  const std::uint8_t* take_entry(const Slot& slot, const std::uint8_t* at, const std::uint8_t* end,
                                 const std::uint8_t* readable_end);
  // A map entry step by step; *place moves on. Null if it is unusual.
  const std::uint8_t* take_steps_of_entry(std::size_t* place, const std::uint8_t* at, const std::uint8_t* end);
  bool take_values(const Slot& slot, const std::uint8_t* at, std::size_t size, const std::uint8_t* readable_end);
  bool take_feature_body(std::size_t index, const std::uint8_t* at, const std::uint8_t* end);
  bool take_list(std::size_t index, const std::uint8_t* at, std::size_t size);
  // Several byte values, of which the first, of `size` bytes, begins at `at`.
  bool take_strings(std::size_t index, const std::uint8_t* at, std::size_t size, const std::uint8_t* end);
  // The slot of the feature that is at *place, which moves on; null if its name is not text. What was predicted wrongly
  // is learnt.
  const Slot* slot_at(std::size_t* place, std::string_view key);
  // Notes that the columns of these slots were met in this record; false if one was before.
  bool note_met(std::size_t first, std::size_t last);

  Status add_general(const std::uint8_t* payload, std::size_t size);
  Status take_feature(std::size_t index, std::size_t row, const WireFeature& feature);
  Status take_steps(std::size_t index, const std::vector<WireFeature>& steps);
  // False if the column is required.
  bool take_absent(std::size_t index);
  void put_empty(std::size_t index, std::size_t row);

  std::shared_ptr<const FeaturePlan> plan_;
  std::vector<Column> columns_;
  std::vector<Slot> slots_;
  std::uint64_t learnt_ = 0;  // how many slots were wrong so far
  // What is known about the slots, once they were right for a whole record:
  bool are_slots_known_ = false;
  std::vector<Run> runs_;          // by the place of their first slot
  std::size_t wanted_slots_ = 0;   // how many slots have a column
  bool are_slots_single_ = false;  // no two of them have the same column

  std::vector<std::uint64_t> seen_;  // the stamp of the record in which each column was last met
  std::uint64_t stamp_ = 0;
  std::size_t rows_ = 0;
  std::size_t capacity_ = 0;
  struct Usage {
    std::size_t values = 0;
    std::size_t inner = 0;
  };
  std::vector<Usage> usage_;  // what each column of the last batch took: the first guess for the next one
};

}  // namespace recordsmith
