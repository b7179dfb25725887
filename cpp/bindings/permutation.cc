// The exact shuffle, for arrays of positions.
#include "../permutation.h"

#include <nanobind/ndarray.h>

#include "array_export.h"
#include "parts.h"

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
    const nb::gil_scoped_release released;
    for (std::size_t i = 0; i < count; ++i) {
      result[i] = static_cast<std::int64_t>(permutation(static_cast<std::uint64_t>(positions.data()[i])));
    }
  }
  return export_int64s(std::move(result), count);
}

}  // namespace

void bind_permutation(nb::module_& module) {
  nb::class_<KeyedPermutation>(module, "Permutation")
      .def(nb::init<std::uint64_t, std::uint64_t>(), nb::arg("n"), nb::arg("key"))
      .def("__len__", [](const KeyedPermutation& permutation) { return permutation.size(); })
      .def("at", &permuted, nb::arg("positions"));
}

}  // namespace recordsmith
