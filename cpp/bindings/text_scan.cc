// Searches in the text of tables, and in columns of text.
#include "columns/text_scan.h"

#include <nanobind/ndarray.h>

#include "bindings/parts.h"
#include "bindings/python/array_export.h"
#include "bindings/python/gil.h"

namespace recordsmith {
namespace {

const std::uint8_t* bytes_of(const nb::bytes& text) { return static_cast<const std::uint8_t*>(text.data()); }

nb::object places_of(const nb::bytes& text, std::uint8_t byte) {
  PooledArray<std::int64_t> places;
  places.reserve(1, 0);
  std::size_t found = 0;
  {
    const GilRelease released;
    found = find_byte(bytes_of(text), text.size(), byte, &places);
  }
  return export_int64s(std::move(places), found);
}

bool leading_zeros_in(const nb::bytes& text, const nb::bytes& separators) {
  if (separators.size() != 4) throw nb::value_error("four separators are needed");
  const GilRelease released;
  return has_leading_zeros(bytes_of(text), text.size(), bytes_of(separators));
}

std::size_t json_depth_of(const nb::bytes& text) {
  const GilRelease released;
  return json_depth(bytes_of(text), text.size());
}

using Bytes = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Offsets = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Marks = nb::ndarray<bool, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

void mark_rows_with(const nb::bytes& word, const Bytes& data, const Offsets& offsets, const Marks& marks,
                    bool any_case) {
  if (offsets.shape(0) != marks.shape(0) + 1) throw nb::value_error("there must be one offset more than marks");
  const GilRelease released;
  const WordFinder finder(bytes_of(word), word.size(), any_case);
  const auto limit = static_cast<std::int64_t>(data.shape(0));
  for (std::size_t row = 0; row < marks.shape(0); ++row) {
    const std::int64_t begin = offsets(row), end = offsets(row + 1);
    if (begin < 0 || begin > end || end > limit) continue;  // no row of these bytes
    if (finder.is_in(data.data() + begin, static_cast<std::size_t>(end - begin))) marks(row) = true;
  }
}

}  // namespace

void bind_text_scan(nb::module_& module) {
  module.def("find_byte", &places_of, nb::arg("text"), nb::arg("byte"));
  module.def("has_leading_zeros", &leading_zeros_in, nb::arg("text"), nb::arg("separators"));
  module.def("json_depth", &json_depth_of, nb::arg("text"));
  module.def("mark_rows_with", &mark_rows_with, nb::arg("word"), nb::arg("data"), nb::arg("offsets"),
             nb::arg("marks").noconvert(), nb::kw_only(), nb::arg("any_case"));
}

}  // namespace recordsmith
