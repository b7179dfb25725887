#include "columns/rows/string_tensor.h"

#include "examples/wire_writing.h"

namespace recordsmith {
namespace {

// Of TensorProto: dtype = 1, tensor_shape = 2, string_val = 8; of TensorShapeProto: dim = 2; of Dim: size = 1.
constexpr std::uint8_t kDtype = 1 << 3;
constexpr std::uint8_t kShape = 2 << 3 | 2;
constexpr std::uint8_t kString = 8 << 3 | 2;
constexpr std::uint8_t kDimension = 2 << 3 | 2;
constexpr std::uint8_t kSize = 1 << 3;
constexpr std::uint8_t kDtypeString = 7;

std::size_t dimension_size(std::int64_t size) { return 1 + wire::varint_size(static_cast<std::uint64_t>(size)); }

std::size_t shape_size(std::span<const std::int64_t> shape) {
  std::size_t total = 0;
  for (const std::int64_t size : shape) total += wire::delimited_size(dimension_size(size));
  return total;
}

}  // namespace

std::size_t string_tensor_size(std::span<const StringRows> columns, std::span<const std::int64_t> shape) {
  std::size_t total = 2 + wire::delimited_size(shape_size(shape));
  for (const StringRows& rows : columns) {
    for (std::size_t i = 0; i + 1 < rows.offsets.size(); ++i) {
      total += wire::delimited_size(static_cast<std::size_t>(rows.offsets[i + 1] - rows.offsets[i]));
    }
  }
  return total;
}

std::uint8_t* write_string_tensor(std::span<const StringRows> columns, std::span<const std::int64_t> shape,
                                  std::uint8_t* to) {
  *to++ = kDtype;
  *to++ = kDtypeString;
  to = wire::put_delimited(to, kShape, shape_size(shape));
  for (const std::int64_t size : shape) {
    to = wire::put_delimited(to, kDimension, dimension_size(size));
    *to++ = kSize;
    to = wire::put_varint(to, static_cast<std::uint64_t>(size));
  }
  for (const StringRows& rows : columns) {
    for (std::size_t i = 0; i + 1 < rows.offsets.size(); ++i) {
      const auto size = static_cast<std::size_t>(rows.offsets[i + 1] - rows.offsets[i]);
      to = wire::put_delimited(to, kString, size);
      to = wire::put_bytes(to, rows.data + rows.offsets[i], size);
    }
  }
  return to;
}

}  // namespace recordsmith
