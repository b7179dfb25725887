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
// same order, each in the plainest encoding. The decoder predicts that, compares, and copies; at the first surprise it
// starts the record again with the general parser (example_wire.h), which knows every corner of protobuf. Both give the
// same columns. Nothing has to be undone in between, because a row's place follows from the offsets before it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/buffer_pool.h"
#include "columns/feature_plan.h"
#include "records/framing.h"

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
  // Decodes one record into the next row. On failure the row does not count, and the rows before it stay.
  Status add(const std::uint8_t* payload, std::size_t size);
  std::size_t rows() const { return rows_; }
  // Takes the batch. The decoder keeps what it has learnt about order and sizes for the next one.
  ColumnBatch finish();

 private:
  // How a predicted value is taken; everything but the usual ways goes through take_list.
  enum class Take : std::uint8_t { kNothing, kOneFloat, kOneInt64, kOneBytes, kList };

  // A feature that is expected at a place in the record.
  struct Slot {
    std::string key;
    std::array<std::uint8_t, 16> head{};  // the key's first bytes
    std::array<std::uint8_t, 16> tail{};  // the key's last bytes, where it is longer than the head
    std::uint32_t head_mask = 0;          // one bit for each byte of head that belongs to the key
    std::uint64_t value_head = 0;         // the six bytes between key and values, for no values at all
    std::ptrdiff_t readable = 0;          // how many bytes the comparison touches
    std::int32_t column = FeaturePlan::kUnwanted;
    Take take = Take::kNothing;
  };

  Slot make_slot(std::string_view key) const;
  bool add_predicted(const std::uint8_t* at, const std::uint8_t* end);
  // Takes a whole map entry of less than 128 bytes that is just as the slot expects; null if it is not.
  const std::uint8_t* take_entry(const Slot& slot, const std::uint8_t* at, const std::uint8_t* end);
  bool take_values(const Slot& slot, const std::uint8_t* at, std::size_t size, const std::uint8_t* readable_end);
  bool take_feature_body(std::size_t index, const std::uint8_t* at, const std::uint8_t* end);
  bool take_list(std::size_t index, const std::uint8_t* at, std::size_t size);
  // Several byte values, of which the first, of `size` bytes, begins at `at`.
  bool take_strings(std::size_t index, const std::uint8_t* at, std::size_t size, const std::uint8_t* end);
  // The slot of the feature that is at *place, which moves on; null if its name is not text. What was predicted wrongly
  // is learnt.
  const Slot* slot_at(std::size_t* place, std::string_view key);

  Status add_general(const std::uint8_t* payload, std::size_t size);
  Status take_feature(std::size_t index, std::size_t row, const WireFeature& feature);
  Status take_steps(std::size_t index, const std::vector<WireFeature>& steps);
  // False if the column is required.
  bool take_absent(std::size_t index);
  void put_empty(std::size_t index, std::size_t row);

  std::shared_ptr<const FeaturePlan> plan_;
  std::vector<Column> columns_;
  std::vector<Slot> slots_;
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
