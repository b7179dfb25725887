// Sketches of Apache DataSketches as bytes (survey/facts/packing.h).
//
// The library's own format is used. The library trusts what it reads, so the bytes are checked before it gets them:
// sizes, counts, and that numbers are finite.
#pragma once

#include <cstdint>
#include <frequent_items_sketch.hpp>
#include <kll_sketch.hpp>
#include <string_view>

#include "survey/facts/packing.h"
#include "survey/sketches/values.h"

namespace recordsmith::survey {

bool is_sound_frequent(std::string_view bytes, std::uint8_t bits);
template <typename T>
bool is_sound_quantiles(std::string_view bytes, std::uint16_t items, std::uint64_t most_values);

inline constexpr std::size_t kMostSketchBytes = std::size_t{1} << 20;

template <typename Bytes>
std::string_view as_text(const Bytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

inline void transfer_frequent(Packer& packer, FrequentSketch& sketch, std::uint8_t) {
  packer.block(as_text(sketch.serialize()), kMostSketchBytes);
}
inline void transfer_frequent(Unpacker& unpacker, FrequentSketch& sketch, std::uint8_t bits) {
  const std::string_view bytes = unpacker.block({}, kMostSketchBytes);
  if (!unpacker.require(is_sound_frequent(bytes, bits))) return;
  sketch = FrequentSketch::deserialize(bytes.data(), bytes.size());
}

template <typename T>
void transfer_quantiles(Packer& packer, datasketches::kll_sketch<T>& sketch) {
  packer.block(as_text(sketch.serialize()), kMostSketchBytes);
}
template <typename T>
void transfer_quantiles(Unpacker& unpacker, datasketches::kll_sketch<T>& sketch) {
  const std::string_view bytes = unpacker.block({}, kMostSketchBytes);
  if (!unpacker.require(is_sound_quantiles<T>(bytes, sketch.get_k(), unpacker.most_values))) return;
  sketch = datasketches::kll_sketch<T>::deserialize(bytes.data(), bytes.size());
}

}  // namespace recordsmith::survey
