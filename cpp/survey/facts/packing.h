// The tallies of a unit as bytes, so that another process or another machine can survey it.
//
// Each class names its members once, for both directions:
//
//   template <typename Archive> void transfer(Archive& archive) { archive(count_, places_); }
//
// A Packer appends them; an Unpacker reads them back. Numbers are stored as they are in memory, which is little-endian
// on every machine that recordsmith runs on.
//
// What an Unpacker reads is not trusted. Every length is compared with the bytes that are left before memory is taken,
// and transfer() states with require() what its class relies on. Once something is wrong, has_failed() is true, and
// everything that is read after that is zero or empty.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

namespace recordsmith::survey {

template <bool kReading>
class Archive {
 public:
  static constexpr bool kReads = kReading;

  // `unit`: the one that all names of records must be of.
  explicit Archive(std::uint32_t unit, std::string_view given = {}) : unit_(unit), given_(given) {}

  std::uint32_t unit() const { return unit_; }
  bool has_failed() const { return has_failed_; }
  bool is_at_end() const { return given_.empty(); }
  std::string take() { return std::move(made_); }

  // More values than there are bytes of payload cannot be.
  std::uint64_t most_values = ~std::uint64_t{0};

  template <typename... Values>
  void operator()(Values&... values) {
    (transfer(values), ...);
  }

  // Says whether to continue.
  bool require(bool is_true) {
    if (kReads && !is_true) {
      has_failed_ = true;
      given_ = {};
    }
    return !has_failed_;
  }

  template <typename Enum>
  void choice(Enum& value, Enum last) {
    (*this)(value);
    if (!require(value <= last)) value = Enum{};
  }

  // The number of items that follow, each of which takes at least `bytes`.
  std::size_t count(std::size_t held, std::size_t at_most, std::size_t bytes = 1) {
    std::uint64_t number = held;
    raw(&number, sizeof number);
    return require(number <= at_most && (!kReads || number <= given_.size() / bytes)) ? static_cast<std::size_t>(number)
                                                                                      : 0;
  }

  void text(std::string& value, std::size_t at_most) {
    const std::size_t size = count(value.size(), at_most);
    if constexpr (kReads) value.resize(size);
    raw(value.data(), size);
  }

  template <typename Value>
  void list(std::vector<Value>& values, std::size_t at_most) {
    if constexpr (std::is_trivially_copyable_v<Value> && !HasTransfer<Value>) {
      const std::size_t number = count(values.size(), at_most, sizeof(Value));
      if constexpr (kReads) values.resize(number);
      raw(values.data(), number * sizeof(Value));
    } else {
      const std::size_t number = count(values.size(), at_most);
      if constexpr (kReads) values.clear();
      for (std::size_t i = 0; i < number && !has_failed_; ++i) {
        if constexpr (kReads) values.emplace_back();
        (*this)(values[i]);
      }
    }
  }

  // A map, or an unordered one: its keys and values.
  template <typename Map>
  void map(Map& entries, std::size_t at_most) {
    const std::size_t number = count(entries.size(), at_most);
    if constexpr (kReads) {
      for (std::size_t i = 0; i < number && !has_failed_; ++i) {
        typename Map::key_type key{};
        typename Map::mapped_type value{};
        (*this)(key, value);
        require(entries.emplace(std::move(key), std::move(value)).second);
      }
    } else {
      for (auto& [key, value] : entries) {
        typename Map::key_type name = key;
        (*this)(name, value);
      }
    }
  }

  // Whether something is there; a reader makes it by `make`.
  template <typename Pointer, typename Make>
  void optional(Pointer& pointer, Make make) {
    bool is_there = pointer != nullptr;
    (*this)(is_there);
    if constexpr (kReads) {
      if (is_there && !has_failed_) pointer = make();
    }
    if (is_there && pointer != nullptr) (*this)(*pointer);
  }

  // All bytes of something that is stored as a whole.
  std::string_view block(std::string_view value, std::size_t at_most) {
    const std::size_t size = count(value.size(), at_most);
    if constexpr (!kReads) {
      made_.append(value);
      return value;
    }
    const std::string_view found = given_.substr(0, size);
    given_.remove_prefix(size);
    return found;
  }

 private:
  template <typename Value>
  static constexpr bool HasTransfer = requires(Value& value, Archive& archive) { value.transfer(archive); };
  static constexpr std::size_t kLongestText = std::size_t{1} << 20;

  void raw(void* data, std::size_t size) {
    if constexpr (!kReads) {
      made_.append(static_cast<const char*>(data), size);
    } else {
      if (size == 0) return;
      if (!require(size <= given_.size())) {
        std::memset(data, 0, size);
      } else {
        std::memcpy(data, given_.data(), size);
        given_.remove_prefix(size);
      }
    }
  }

  template <typename Value>
  void transfer(Value& value) {
    if constexpr (HasTransfer<Value>) {
      value.transfer(*this);
    } else if constexpr (std::is_same_v<Value, bool>) {
      std::uint8_t byte = value ? 1 : 0;
      raw(&byte, 1);
      value = require(byte <= 1) && byte == 1;
    } else if constexpr (std::is_same_v<Value, long double>) {
      wide(value);
    } else if constexpr (std::is_same_v<Value, std::string>) {
      text(value, kLongestText);
    } else {
      static_assert(std::is_trivially_copyable_v<Value> && !std::is_pointer_v<Value>);
      raw(&value, sizeof value);
    }
  }

  template <typename Value, std::size_t kSize>
  void transfer(std::array<Value, kSize>& values) {
    for (Value& value : values) (*this)(value);
  }

  template <typename First, typename Second>
  void transfer(std::pair<First, Second>& both) {
    (*this)(both.first, both.second);
  }

  // In memory, a long double has bytes that mean nothing: its exponent and two halves of its digits are stored.
  void wide(long double& value) {
    constexpr int kDigits = 64;
    int exponent = 0;
    bool is_negative = std::signbit(value);
    bool is_finite = std::isfinite(value);
    long double rest = is_finite ? std::ldexp(std::frexp(std::fabs(value), &exponent), kDigits) : 0;
    auto high = static_cast<std::uint64_t>(rest);
    auto low = static_cast<std::uint64_t>(std::ldexp(rest - static_cast<long double>(high), kDigits));
    (*this)(is_negative, is_finite, exponent, high, low);
    if constexpr (kReads) {
      const long double digits = std::ldexp(static_cast<long double>(high), -kDigits) +
                                 std::ldexp(static_cast<long double>(low), -2 * kDigits);
      value = std::ldexp(is_finite ? digits : HUGE_VALL, exponent);
      if (is_negative) value = -value;
    }
  }

  const std::uint32_t unit_;
  std::string made_;
  std::string_view given_;
  bool has_failed_ = false;
};

using Packer = Archive<false>;
using Unpacker = Archive<true>;

}  // namespace recordsmith::survey
