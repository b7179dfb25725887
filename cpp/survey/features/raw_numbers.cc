#include "survey/features/raw_numbers.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

namespace recordsmith::survey {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are stored little-endian");

struct Half {
  std::uint16_t bits;
};

float widened(Half half) {
  const int exponent = half.bits >> 10 & 0x1f;
  const auto fraction = static_cast<float>(half.bits & 0x3ff);
  const float sign = (half.bits & 0x8000) != 0 ? -1.0F : 1.0F;
  if (exponent == 0x1f) return fraction != 0 ? std::nanf("") : sign * INFINITY;
  return sign * (exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024.0F + fraction, exponent - 25));
}

std::int64_t widened(std::int16_t value) { return value; }
std::int64_t widened(std::int32_t value) { return value; }
std::int64_t widened(std::uint16_t value) { return value; }
std::int64_t widened(std::uint32_t value) { return value; }

std::size_t size_of(RawType type) {
  switch (type) {
    case RawType::kBool:
    case RawType::kInt8:
    case RawType::kUint8:
      return 1;
    case RawType::kInt16:
    case RawType::kUint16:
    case RawType::kHalf:
      return 2;
    case RawType::kInt32:
    case RawType::kUint32:
    case RawType::kFloat:
      return 4;
    default:
      return 8;
  }
}

bool is_whole(RawType type) {
  return type != RawType::kHalf && type != RawType::kFloat && type != RawType::kDouble && type != RawType::kUint64;
}

std::int64_t whole_of_byte(RawType type, std::size_t byte) {
  return type == RawType::kInt8 ? static_cast<std::int8_t>(byte) : static_cast<std::int64_t>(byte);
}

// Adds numbers some at a time, so that a large value takes no memory for its numbers.
constexpr std::size_t kAtOnce = 1024;

template <typename Stored, typename T>
void add_widened(const std::uint8_t* data, std::size_t count, const RecordName& record, NumberTally<T>* tally,
                 Places* not_finite) {
  T wide[kAtOnce];
  for (std::size_t done = 0; done < count; done += kAtOnce) {
    const std::size_t now = std::min(kAtOnce, count - done);
    for (std::size_t i = 0; i < now; ++i) {
      Stored stored;
      std::memcpy(&stored, data + (done + i) * sizeof stored, sizeof stored);
      wide[i] = widened(stored);
    }
    tally->add(wide, now, record, not_finite);
  }
}

template <typename T>
void add_same(const std::uint8_t* data, std::size_t count, const RecordName& record, NumberTally<T>* tally,
              Places* not_finite) {
  for (std::size_t done = 0; done < count; done += kAtOnce) {
    tally->add(data + done * sizeof(T), std::min(kAtOnce, count - done), record, not_finite);
  }
}

}  // namespace

RawNumberTally::RawNumberTally(const Expectation& expected, MemoryBudget budget) : row_bytes_(expected.row_bytes) {
  for (const RawNumbers& declared : expected.raw_numbers) {
    Tally tally{std::in_place_type<NumberTally<std::int64_t>>, budget};
    if (declared.type == RawType::kUint64) tally.emplace<NumberTally<std::uint64_t>>(budget);
    if (declared.type == RawType::kHalf || declared.type == RawType::kFloat) tally.emplace<NumberTally<float>>(budget);
    if (declared.type == RawType::kDouble) tally.emplace<NumberTally<double>>(budget);
    auto byte_counts = size_of(declared.type) == 1 ? std::make_unique<ByteCounts>() : nullptr;
    parts_.push_back({declared, std::move(tally), std::move(byte_counts), {}});
  }
}

bool RawNumberTally::add(const ByteValue& value, const RecordName& record) {
  if (row_bytes_ >= 0 && value.size != static_cast<std::size_t>(row_bytes_)) return false;
  for (const Part& part : parts_) {
    const std::size_t offset = part.declared.offset;
    const std::size_t size = size_of(part.declared.type);
    if (offset > value.size) return false;
    if (part.declared.count < 0 && (value.size - offset) % size != 0) return false;
    if (part.declared.count >= 0 && static_cast<std::size_t>(part.declared.count) > (value.size - offset) / size) {
      return false;
    }
  }
  for (Part& part : parts_) {
    const RawType type = part.declared.type;
    const std::uint8_t* const data = value.data + part.declared.offset;
    const std::size_t count = part.declared.count >= 0 ? static_cast<std::size_t>(part.declared.count)
                                                       : (value.size - part.declared.offset) / size_of(type);
    auto* const whole = std::get_if<NumberTally<std::int64_t>>(&part.tally);
    auto* const real = std::get_if<NumberTally<float>>(&part.tally);
    switch (type) {
      case RawType::kBool:
      case RawType::kInt8:
      case RawType::kUint8:
        for (std::size_t i = 0; i < count; ++i) ++(*part.byte_counts)[data[i]];
        break;
      case RawType::kInt16:
        add_widened<std::int16_t>(data, count, record, whole, &part.not_finite);
        break;
      case RawType::kInt32:
        add_widened<std::int32_t>(data, count, record, whole, &part.not_finite);
        break;
      case RawType::kUint16:
        add_widened<std::uint16_t>(data, count, record, whole, &part.not_finite);
        break;
      case RawType::kUint32:
        add_widened<std::uint32_t>(data, count, record, whole, &part.not_finite);
        break;
      case RawType::kHalf:
        add_widened<Half>(data, count, record, real, &part.not_finite);
        break;
      case RawType::kInt64:
        add_same(data, count, record, whole, &part.not_finite);
        break;
      case RawType::kFloat:
        add_same(data, count, record, real, &part.not_finite);
        break;
      case RawType::kUint64:
        add_same(data, count, record, std::get_if<NumberTally<std::uint64_t>>(&part.tally), &part.not_finite);
        break;
      case RawType::kDouble:
        add_same(data, count, record, std::get_if<NumberTally<double>>(&part.tally), &part.not_finite);
        break;
    }
  }
  return true;
}

std::optional<std::int64_t> RawNumberTally::single_integer(const ByteValue& value) const {
  if (parts_.size() != 1 || !parts_[0].declared.part.empty()) return std::nullopt;
  const RawType type = parts_[0].declared.type;
  if (!is_whole(type) || value.size != size_of(type)) return std::nullopt;
  if (value.size == 1) return whole_of_byte(type, value.data[0]);
  std::int64_t number = 0;
  std::memcpy(&number, value.data, value.size);
  if (type == RawType::kInt16) return static_cast<std::int16_t>(number);
  return type == RawType::kInt32 ? static_cast<std::int32_t>(number) : number;
}

void RawNumberTally::finish() {
  for (Part& part : parts_) {
    if (part.byte_counts != nullptr) {
      auto& tally = std::get<NumberTally<std::int64_t>>(part.tally);
      for (std::size_t byte = 0; byte < part.byte_counts->size(); ++byte) {
        tally.add_repeated(whole_of_byte(part.declared.type, byte), (*part.byte_counts)[byte]);
      }
      part.byte_counts.reset();
    }
    std::visit([](auto& tally) { tally.finish(); }, part.tally);
  }
}

void RawNumberTally::merge(RawNumberTally&& later) {
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    std::visit(
        [&](auto& tally) { tally.merge(std::move(std::get<std::decay_t<decltype(tally)>>(later.parts_[i].tally))); },
        parts_[i].tally);
    parts_[i].not_finite.merge(later.parts_[i].not_finite);
  }
}

template <typename Archive>
void RawNumberTally::transfer(Archive& archive) {
  for (Part& part : parts_) {
    std::visit([&](auto& tally) { archive(tally); }, part.tally);
    archive(part.not_finite);
    part.byte_counts.reset();
  }
}

template void RawNumberTally::transfer(Packer& archive);
template void RawNumberTally::transfer(Unpacker& archive);

std::vector<RawNumberSummary> RawNumberTally::summary() const {
  std::vector<RawNumberSummary> found;
  for (const Part& part : parts_) {
    found.push_back({part.declared.part, std::visit([](const auto& tally) { return tally.summary(); }, part.tally),
                     part.not_finite});
  }
  return found;
}

}  // namespace recordsmith::survey
