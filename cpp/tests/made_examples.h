// Protobuf messages put together by hand, for tests.
#pragma once

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "examples/example_wire.h"
#include "tests/check.h"

namespace recordsmith::testing {

inline std::string varint(std::uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  return out + static_cast<char>(value);
}

inline std::string message(std::uint32_t field, std::string_view body) {
  return varint(wire::tag_of(field, wire::kDelimited)) + varint(body.size()) + std::string(body);
}

inline std::string bytes_list(std::initializer_list<std::string_view> values) {
  std::string body;
  for (const std::string_view value : values) body += message(1, value);
  return message(1, body);
}

inline std::string float_list(std::initializer_list<float> values) {
  std::string packed(4 * values.size(), '\0');
  if (values.size() > 0) std::memcpy(packed.data(), values.begin(), packed.size());
  return message(2, values.size() > 0 ? message(1, packed) : "");
}

inline std::string int64_list(std::initializer_list<std::int64_t> values) {
  std::string packed;
  for (const std::int64_t value : values) packed += varint(static_cast<std::uint64_t>(value));
  return message(3, values.size() > 0 ? message(1, packed) : "");
}

inline std::string entry(std::string_view key, std::string_view value) {
  return message(1, message(1, key) + message(2, value));
}

inline std::string example(std::initializer_list<std::string> entries) {
  std::string body;
  for (const std::string& one : entries) body += one;
  return message(1, body);
}

inline const std::uint8_t* bytes_of(std::string_view text) {
  return reinterpret_cast<const std::uint8_t*>(text.data());
}

inline std::vector<std::int64_t> int64s_of(const WireFeature* feature) {
  if (feature == nullptr || feature->kind() != Kind::kInt64) return {};
  std::vector<std::int64_t> values(feature->count());
  feature->copy_int64s(values.data());
  return values;
}

inline std::vector<float> floats_of(const WireFeature* feature) {
  if (feature == nullptr || feature->kind() != Kind::kFloat) return {};
  std::vector<float> values(feature->count());
  feature->copy_floats(values.data());
  return values;
}

inline std::vector<std::string> bytes_of(const WireFeature* feature) {
  std::vector<std::string> values;
  if (feature == nullptr || feature->kind() != Kind::kBytes) return values;
  feature->each_bytes([&](const std::uint8_t* data, std::size_t size) {
    values.emplace_back(reinterpret_cast<const char*>(data), size);
  });
  return values;
}

}  // namespace recordsmith::testing
