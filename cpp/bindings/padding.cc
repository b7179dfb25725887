// Rows of different length as one rectangle, in memory of the pool.
#include <nanobind/ndarray.h>

#include "bindings/parts.h"
#include "bindings/python/gil.h"
#include "columns/rows/offsets.h"
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

}  // namespace

void bind_padding(nb::module_& module) {
  module.def("pad_rows", &pad, nb::arg("values").noconvert(), nb::arg("offsets").noconvert(),
             nb::arg("padding").noconvert(), nb::arg("target").noconvert());
}

}  // namespace recordsmith
