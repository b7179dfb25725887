// Rows of different length as one rectangle, in memory of the pool; several of them in one row.
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include "bindings/parts.h"
#include "bindings/python/array_export.h"
#include "bindings/python/gil.h"
#include "columns/rows/offsets.h"
#include "columns/rows/row_packing.h"
#include "columns/rows/row_padding.h"

namespace recordsmith {
namespace {

using Bytes = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Offsets = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Target = nb::ndarray<std::uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

void pad(const Bytes& values, const Offsets& offsets, const Bytes& padding, const Target& target) {
  const std::span<const std::int64_t> edges(offsets.data(), offsets.shape(0));
  const std::size_t item = padding.shape(0);
  if (item == 0 || target.shape(1) % item != 0) throw nb::value_error("rows must have whole items");
  if (edges.size() != target.shape(0) + 1) throw nb::value_error("there must be one more offset than rows");
  if (!offsets_fit(edges, values.shape(0) / item)) throw nb::value_error("the offsets do not fit the values");
  const std::size_t length = target.shape(1) / item;
  const std::uint8_t* from = values.data();
  const std::uint8_t* filling = padding.data();
  std::uint8_t* to = target.data();
  const GilRelease released;
  pad_rows(from, edges, item, length, filling, to);
}

// Some rows of flat values, one after the other: items [starts[i], stops[i]) of `item` bytes each.
nb::object gather(const Bytes& values, const Offsets& starts, const Offsets& stops, std::size_t item) {
  const std::size_t rows = starts.shape(0);
  if (item == 0 || stops.shape(0) != rows) throw nb::value_error("each row needs a start and a stop");
  const auto items = static_cast<std::int64_t>(values.shape(0) / item);
  std::size_t total = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    const std::int64_t start = starts.data()[i], stop = stops.data()[i];
    if (start < 0 || stop < start || stop > items) throw nb::value_error("the rows are not in the values");
    if (__builtin_add_overflow(total, static_cast<std::size_t>(stop - start) * item, &total)) throw std::bad_alloc();
  }
  Buffer memory(std::max<std::size_t>(total, 1));
  {
    const GilRelease released;
    std::uint8_t* to = memory.data();
    for (std::size_t i = 0; i < rows; ++i) {
      const auto size = static_cast<std::size_t>(stops.data()[i] - starts.data()[i]) * item;
      if (size > 0) std::memcpy(to, values.data() + static_cast<std::size_t>(starts.data()[i]) * item, size);
      to += size;
    }
  }
  return export_bytes(std::move(memory), total);
}

nb::object pack(const Offsets& lengths, std::int64_t capacity, bool best) {
  const std::span<const std::int64_t> given(lengths.data(), lengths.shape(0));
  for (const std::int64_t length : given) {
    if (length < 0 || length > capacity) throw nb::value_error("a sequence does not fit into a row");
  }
  PooledArray<std::int64_t> result;
  result.reserve(given.size() + 1, 0);
  {
    const GilRelease released;
    const std::vector<std::int64_t> rows =
        best ? rows_of_best_fit(given, capacity) : rows_of_first_fit(given, capacity);
    std::copy(rows.begin(), rows.end(), result.data());
  }
  return export_int64s(std::move(result), given.size());
}

using Numbers = nb::ndarray<std::int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

PackedPieces pieces_of(const Offsets& starts, const Offsets& sizes, const Offsets& rows) {
  return {{starts.data(), starts.shape(0)}, {sizes.data(), sizes.shape(0)}, {rows.data(), rows.shape(0)}};
}

void fill_packed(const Bytes& values, const Offsets& starts, const Offsets& sizes, const Offsets& rows,
                 const Bytes& padding, const Target& target) {
  const std::size_t item = padding.shape(0);
  if (item == 0 || target.shape(1) % item != 0) throw nb::value_error("rows must have whole items");
  const std::size_t length = target.shape(1) / item;
  const PackedPieces pieces = pieces_of(starts, sizes, rows);
  if (!pieces.fit(values.shape(0) / item, target.shape(0), length)) throw nb::value_error("the pieces do not fit");
  const std::uint8_t* from = values.data();
  std::uint8_t* to = target.data();
  const std::uint8_t* filling = padding.data();
  const std::size_t count = target.shape(0);
  const GilRelease released;
  pieces.place(
      count, length,
      [&](std::size_t piece, std::size_t at, std::int32_t) {
        const auto size = static_cast<std::size_t>(pieces.sizes[piece]) * item;
        if (size > 0) std::memcpy(to + at * item, from + static_cast<std::size_t>(pieces.starts[piece]) * item, size);
      },
      [&](std::size_t at, std::size_t end) {
        for (; at < end; ++at) std::memcpy(to + at * item, filling, item);
      });
}

void number_packed(const Offsets& sizes, const Offsets& rows, const Numbers& segments, const Numbers& positions) {
  const std::size_t length = segments.shape(1), count = segments.shape(0);
  const std::vector<std::int64_t> starts(sizes.shape(0), 0);
  const PackedPieces pieces{starts, {sizes.data(), sizes.shape(0)}, {rows.data(), rows.shape(0)}};
  const bool same = positions.shape(0) == count && positions.shape(1) == length;
  if (!same || !pieces.fit(length, count, length)) throw nb::value_error("the pieces do not fit");
  std::int32_t* segment = segments.data();
  std::int32_t* position = positions.data();
  const GilRelease released;
  pieces.place(
      count, length,
      [&](std::size_t piece, std::size_t at, std::int32_t number) {
        const auto size = static_cast<std::size_t>(pieces.sizes[piece]);
        std::fill_n(segment + at, size, number);
        std::iota(position + at, position + at + size, 0);
      },
      [&](std::size_t at, std::size_t end) {
        std::fill(segment + at, segment + end, 0);
        std::fill(position + at, position + end, 0);
      });
}

}  // namespace

void bind_padding(nb::module_& module) {
  module.def("pad_rows", &pad, nb::arg("values").noconvert(), nb::arg("offsets").noconvert(),
             nb::arg("padding").noconvert(), nb::arg("target").noconvert());
  module.def("gather_rows", &gather, nb::arg("values").noconvert(), nb::arg("starts").noconvert(),
             nb::arg("stops").noconvert(), nb::arg("item"));
  module.def("fill_packed", &fill_packed, nb::arg("values").noconvert(), nb::arg("starts").noconvert(),
             nb::arg("sizes").noconvert(), nb::arg("rows").noconvert(), nb::arg("padding").noconvert(),
             nb::arg("target").noconvert());
  module.def("number_packed", &number_packed, nb::arg("sizes").noconvert(), nb::arg("rows").noconvert(),
             nb::arg("segments").noconvert(), nb::arg("positions").noconvert());
  module.def("pack_lengths", &pack, nb::arg("lengths").noconvert(), nb::arg("capacity"), nb::arg("best"));
}

}  // namespace recordsmith
