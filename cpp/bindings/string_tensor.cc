// Strings for TensorFlow, as one message.
#include "columns/rows/string_tensor.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include "bindings/parts.h"
#include "bindings/python/gil.h"
#include "bindings/python/object_access.h"
#include "columns/rows/offsets.h"

namespace recordsmith {
namespace {

using Bytes = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Offsets = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// From this many bytes, it is worth releasing the GIL.
constexpr std::size_t kLongWork = std::size_t{1} << 18;

StringRows checked(const Bytes& data, const Offsets& offsets) {
  const std::span<const std::int64_t> edges(offsets.data(), offsets.shape(0));
  if (!offsets_fit(edges, data.shape(0))) throw nb::value_error("the offsets do not fit the data");
  return {data.data(), edges};
}

nb::object string_tensor(const std::vector<std::pair<Bytes, Offsets>>& columns,
                         const std::vector<std::int64_t>& shape) {
  std::vector<StringRows> rows;
  rows.reserve(columns.size());
  for (const auto& [data, offsets] : columns) rows.push_back(checked(data, offsets));
  const std::size_t size = string_tensor_size(rows, shape);
  nb::object message = nb::steal(PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(size)));
  if (!message.is_valid()) throw nb::python_error();
  auto* const to = reinterpret_cast<std::uint8_t*>(bytes_data(message.ptr()));
  std::optional<GilRelease> released;
  if (size > kLongWork) released.emplace();
  write_string_tensor(rows, shape, to);
  released.reset();
  return message;
}

}  // namespace

void bind_string_tensor(nb::module_& module) {
  module.def("string_tensor", &string_tensor, nb::arg("columns"), nb::arg("shape"));
}

}  // namespace recordsmith
