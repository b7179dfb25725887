// Numbers stored as bytes, because an Example has no lists of their dtype. A schema says what they are:
//
//   one dtype        float64, uint8, ...: the byte string is little-endian numbers, one after the other
//   several parts    each at its own offset, with its own dtype and count (a packed row)
//
// A complex number counts as two: its real and its imaginary part. Byte strings of another size are not
// numbers: add() returns false, and they are counted as a wrong shape elsewhere.
//
// Of dtypes of one byte only the 256 counts are kept, so that pixels cost little more than reading them.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "survey/facts/expectations.h"
#include "survey/facts/places.h"
#include "survey/features/numbers.h"
#include "survey/records/record_content.h"

namespace recordsmith::survey {

class RawNumberTally {
 public:
  RawNumberTally(const Expectation& expected, MemoryBudget budget);

  // False if the size does not fit.
  bool add(const ByteValue& value, const RecordName& record);
  // The integer that is the whole value; nothing if it is another one, or none.
  std::optional<std::int64_t> single_integer(const ByteValue& value) const;
  void finish();
  void merge(RawNumberTally&& later);
  std::vector<RawNumberSummary> summary() const;
  // Only after finish().
  template <typename Archive>
  void transfer(Archive& archive);

 private:
  using Tally =
      std::variant<NumberTally<std::int64_t>, NumberTally<std::uint64_t>, NumberTally<float>, NumberTally<double>>;
  using ByteCounts = std::array<std::uint64_t, 256>;
  struct Part {
    RawNumbers declared;
    Tally tally;
    std::unique_ptr<ByteCounts> byte_counts;  // of a dtype of one byte, until finish()
    Places not_finite;
  };

  std::int64_t row_bytes_;
  std::vector<Part> parts_;
};

}  // namespace recordsmith::survey
