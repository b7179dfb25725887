#include "array_export.h"

#include <nanobind/ndarray.h>

#include <initializer_list>

namespace recordsmith {
namespace {

// Element is what numpy shall see; Stored is what the core kept.
template <typename Element, typename Stored>
nb::object export_array(PooledArray<Stored>& array, std::initializer_list<std::size_t> shape) {
  static_assert(sizeof(Element) == sizeof(Stored));
  array.reserve(1, 0);  // an empty array needs an address too
  auto* owner = new Buffer(array.release());
  const nb::capsule capsule(owner, [](void* buffer) noexcept { delete static_cast<Buffer*>(buffer); });
  return nb::cast(nb::ndarray<nb::numpy, Element>(owner->data(), shape.size(), shape.begin(), capsule));
}

template <typename Element>
nb::object export_rows(PooledArray<Element>& array, std::size_t rows, std::size_t width) {
  if (width == 1) return export_array<Element>(array, {rows});
  return export_array<Element>(array, {rows, width});
}

nb::tuple export_column(const PlanColumn& spec, Column& column, std::size_t records) {
  nb::object values;
  nb::object offsets = nb::none();
  nb::object present = nb::none();
  nb::object step_offsets = nb::none();

  std::size_t rows = records;
  if (spec.in_steps) {
    rows = static_cast<std::size_t>(column.step_offsets[records]);
    step_offsets = export_array<std::int64_t>(column.step_offsets, {records + 1});
  }
  if (spec.presence == Presence::kOptional) present = export_array<bool>(column.present, {records});

  const std::size_t total = spec.is_dense() ? 0 : static_cast<std::size_t>(column.offsets[rows]);
  if (spec.kind == Kind::kBytes) {
    if (spec.row_bytes >= 0) {
      values = export_array<std::uint8_t>(column.bytes, {rows, static_cast<std::size_t>(spec.row_bytes)});
    } else if (spec.has_many_bytes()) {
      const auto size = static_cast<std::size_t>(column.value_offsets[total]);
      values = nb::make_tuple(export_array<std::uint8_t>(column.bytes, {size}),
                              export_array<std::int64_t>(column.value_offsets, {total + 1}));
    } else {
      values = export_array<std::uint8_t>(column.bytes, {total});
    }
  } else if (spec.count >= 0) {
    const auto width = static_cast<std::size_t>(spec.count);
    values = spec.kind == Kind::kFloat ? export_rows(column.floats, rows, width)
                                       : export_rows(column.int64s, rows, width);
  } else {
    values = spec.kind == Kind::kFloat ? export_array<float>(column.floats, {total})
                                       : export_array<std::int64_t>(column.int64s, {total});
  }
  if (!spec.is_dense()) offsets = export_array<std::int64_t>(column.offsets, {rows + 1});
  return nb::make_tuple(values, offsets, present, step_offsets);
}

}  // namespace

nb::list export_columns(ColumnBatch batch) {
  nb::list columns;
  for (std::size_t i = 0; i < batch.columns.size(); ++i) {
    columns.append(export_column(batch.plan->columns()[i], batch.columns[i], batch.rows));
  }
  return columns;
}

nb::object export_floats(PooledArray<float> array, std::size_t size) { return export_array<float>(array, {size}); }

nb::object export_int64s(PooledArray<std::int64_t> array, std::size_t size) {
  return export_array<std::int64_t>(array, {size});
}

}  // namespace recordsmith
