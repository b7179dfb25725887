// An Example put together in place, in the buffer of the file that it is written to.
//
// Features with one short value, which most features are, are written from a prepared entry (scalar_entry.h) without
// being measured. All others are measured first. Used for many records, which usually have heads of the same length.
#pragma once

#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "columns/feature_plan.h"
#include "examples/example_encoder.h"
#include "examples/scalar_entry.h"
#include "records/record_sink.h"

namespace recordsmith {

class ExampleAssembly {
 public:
  explicit ExampleAssembly(const FeaturePlan& plan) {
    for (const PlanColumn& spec : plan.columns()) {
      prepared_.emplace_back();
      if (spec.count != 1 || spec.in_steps || !ScalarEntry::fits(spec.key)) continue;
      prepared_.back() = ScalarEntry(spec.key, spec.kind);
      prepared_room_ += ScalarEntry::kMostBytes;
    }
  }

  // The prepared entry of a column; it is not prepared if the column's rows do not have just one value.
  const ScalarEntry& prepared(std::size_t column) const { return prepared_[column]; }

  void start() {
    encoder_.start();
    measured_.clear();
  }
  // The values of a column that is to be measured, in the order of the keys.
  FeatureValues& measure(std::size_t column, std::string_view key) {
    measured_.push_back(column);
    return encoder_.add(key);
  }
  bool has_measured() const { return !measured_.empty(); }

  // Appends the record to `sink`. `order`: the columns in the order of their keys. `is_absent(column)`: it is left out.
  // `write(column, to)` writes the prepared entry of a column that was not measured, and returns the position after it;
  // null: the record is not written, and *written is false.
  template <typename IsAbsent, typename Write>
  Status append(std::span<const std::size_t> order, const IsAbsent& is_absent, const Write& write, RecordSink* sink,
                bool* written) {
    *written = false;
    if (has_measured()) encoder_.measure();
    const std::size_t measured_size = has_measured() ? encoder_.entries_size() : 0;
    if (measured_size > kLargestMessage) return message_too_large(measured_size, "");

    // All entries in order, after a head that is assumed to be as long as that of the record before.
    constexpr std::size_t kLongestHead = 6;
    std::uint8_t* payload = nullptr;
    RECORDSMITH_RETURN_IF_ERROR(sink->claim(kLongestHead + measured_size + prepared_room_, &payload));
    std::uint8_t* const start = payload + last_head_size_;
    std::uint8_t* to = start;
    std::size_t next_measured = 0;
    for (const std::size_t column : order) {
      if (is_absent(column)) continue;
      if (next_measured < measured_.size() && measured_[next_measured] == column) {
        to = encoder_.write_entry(next_measured++, to);
      } else {
        to = write(column, to);
        if (to == nullptr) return Status::ok();
      }
    }
    *written = true;
    const auto size = static_cast<std::size_t>(to - start);
    if (size == 0) {
      sink->commit(0);
      return Status::ok();
    }
    const std::size_t head_size = ExampleEncoder::head_size(size);
    if (head_size + size > kLargestMessage) return message_too_large(head_size + size, "");
    if (head_size != last_head_size_) std::memmove(payload + head_size, start, size);
    last_head_size_ = head_size;
    ExampleEncoder::write_head(size, payload);
    sink->commit(head_size + size);
    return Status::ok();
  }

 private:
  std::vector<ScalarEntry> prepared_;
  std::size_t prepared_room_ = 0;  // the largest size of all prepared entries together
  ExampleEncoder encoder_;
  std::vector<std::size_t> measured_;  // the columns of the current record that use the encoder
  std::size_t last_head_size_ = 3;
};

// The entries that need no measuring. `entry` is that of the column.
inline std::uint8_t* write_float(const ScalarEntry& entry, float value, std::uint8_t* to) {
  to = entry.write_head(to, sizeof value);
  std::memcpy(to, &value, sizeof value);
  return to + sizeof value;
}

inline std::uint8_t* write_int64(const ScalarEntry& entry, std::int64_t value, std::uint8_t* to) {
  std::uint8_t packed[16] = {};
  const auto size = static_cast<std::size_t>(pack_varint(value, packed) - packed);
  to = entry.write_head(to, size);
  std::memcpy(to, packed, sizeof packed);  // the next value overwrites the surplus
  return to + size;
}

inline std::uint8_t* write_string(const ScalarEntry& entry, std::string_view value, std::uint8_t* to) {
  to = entry.write_head(to, value.size());
  if (!value.empty()) std::memcpy(to, value.data(), value.size());
  return to + value.size();
}

}  // namespace recordsmith
