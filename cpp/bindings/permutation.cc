// Orders of records: the exact shuffle, and the one through a buffer.
#include "base/permutation.h"

#include <nanobind/ndarray.h>

#include "base/buffer_shuffle.h"
#include "bindings/parts.h"
#include "bindings/python/array_export.h"
#include "bindings/python/gil.h"

namespace recordsmith {
namespace {

using Positions = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

nb::object permuted(const KeyedPermutation& permutation, const Positions& positions) {
  const std::size_t count = positions.size();
  for (std::size_t i = 0; i < count; ++i) {
    if (static_cast<std::uint64_t>(positions.data()[i]) >= permutation.size())
      throw nb::index_error("no such position");
  }
  PooledArray<std::int64_t> result;
  result.reserve(count + 1, 0);
  {
    const GilRelease released;
    permutation.apply(positions.data(), count, result.data());
  }
  return export_int64s(std::move(result), count);
}

nb::object next_of_buffer(BufferShuffle& shuffle, std::size_t count) {
  PooledArray<std::int64_t> result;
  result.reserve(count + 1, 0);
  const std::size_t given = shuffle.next(result.data(), count);
  return export_int64s(std::move(result), given);
}

}  // namespace

void bind_permutation(nb::module_& module) {
  nb::class_<KeyedPermutation>(module, "Permutation")
      .def(nb::init<std::uint64_t, std::uint64_t>(), nb::arg("n"), nb::arg("key"))
      .def("__len__", [](const KeyedPermutation& permutation) { return permutation.size(); })
      .def("at", &permuted, nb::arg("positions"));
  nb::class_<BufferShuffle>(module, "BufferShuffle")
      .def(nb::init<std::uint64_t, std::uint64_t, std::uint64_t>(), nb::arg("n"), nb::arg("buffer"), nb::arg("key"))
      .def("next", &next_of_buffer, nb::arg("count"));
}

}  // namespace recordsmith
