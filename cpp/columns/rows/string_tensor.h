// Byte strings as a TensorProto, TensorFlow's message for tensors. One operation of a graph turns it into a tensor,
// without a Python object for each string.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace recordsmith {

// Rows of bytes in one buffer; row i is data[offsets[i]] to data[offsets[i + 1]]. The offsets do not decrease, and
// there is at least one.
struct StringRows {
  const std::uint8_t* data;
  std::span<const std::int64_t> offsets;
};

// The size of the message that contains the rows of all columns, one after the other, in a tensor of this shape.
std::size_t string_tensor_size(std::span<const StringRows> columns, std::span<const std::int64_t> shape);

// Writes it; returns its end.
std::uint8_t* write_string_tensor(std::span<const StringRows> columns, std::span<const std::int64_t> shape,
                                  std::uint8_t* to);

}  // namespace recordsmith
