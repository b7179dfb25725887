#include "bindings/python/array_export.h"

// numpy's own C interface, because a batch has many small arrays: it makes one in a tenth of the time that the exchange
// protocols take.
#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#include <numpy/arrayobject.h>

#include <initializer_list>

namespace recordsmith {
namespace {

constexpr const char* kOwnerName = "recordsmith.Buffer";

void free_owner(PyObject* capsule) { delete static_cast<Buffer*>(PyCapsule_GetPointer(capsule, kOwnerName)); }

nb::object array_of(Buffer memory, int type, std::initializer_list<std::size_t> shape, std::size_t begin = 0) {
  npy_intp sizes[2] = {0, 0};
  int axes = 0;
  for (const std::size_t size : shape) sizes[axes++] = static_cast<npy_intp>(size);
  auto* owner = new Buffer(std::move(memory));
  PyObject* capsule = PyCapsule_New(owner, kOwnerName, &free_owner);
  if (capsule == nullptr) {
    delete owner;
    throw nb::python_error();
  }
  PyObject* array = PyArray_SimpleNewFromData(axes, sizes, type, owner->data() + begin);
  if (array == nullptr) {
    Py_DECREF(capsule);
    throw nb::python_error();
  }
  // Takes the capsule's reference, also when it fails.
  if (PyArray_SetBaseObject(reinterpret_cast<PyArrayObject*>(array), capsule) != 0) {
    Py_DECREF(array);
    throw nb::python_error();
  }
  return nb::steal(array);
}

template <typename T>
nb::object export_array(PooledArray<T>& array, int type, std::initializer_list<std::size_t> shape) {
  array.reserve(1, 0);  // an empty array needs an address too
  return array_of(array.release(), type, shape);
}

// A record has many small features: numpy allocates those faster than the pool, and needs no owner for them.
template <typename T, typename Copy>
nb::object array_filled_by(Copy copy, std::size_t count, int type) {
  if (count * sizeof(T) < kSmallestPooled) {
    npy_intp size = static_cast<npy_intp>(count);
    nb::object array = nb::steal(PyArray_SimpleNew(1, &size, type));
    if (!array.is_valid()) throw nb::python_error();
    copy(static_cast<T*>(PyArray_DATA(reinterpret_cast<PyArrayObject*>(array.ptr()))));
    return array;
  }
  PooledArray<T> values;
  values.reserve(count, 0);
  copy(values.data());
  return export_array(values, type, {count});
}

template <typename T>
nb::object export_rows(PooledArray<T>& array, int type, std::size_t rows, std::size_t width) {
  if (width == 1) return export_array(array, type, {rows});
  return export_array(array, type, {rows, width});
}

nb::tuple export_column(const PlanColumn& spec, Column& column, std::size_t records) {
  nb::object values;
  nb::object offsets = nb::none();
  nb::object present = nb::none();
  nb::object step_offsets = nb::none();

  std::size_t rows = records;
  if (spec.in_steps) {
    rows = static_cast<std::size_t>(column.step_offsets[records]);
    step_offsets = export_array(column.step_offsets, NPY_INT64, {records + 1});
  }
  if (spec.presence == Presence::kOptional) present = export_array(column.present, NPY_BOOL, {records});

  const std::size_t total = spec.is_dense() ? 0 : static_cast<std::size_t>(column.offsets[rows]);
  if (spec.kind == Kind::kBytes) {
    if (spec.row_bytes >= 0) {
      values = export_array(column.bytes, NPY_UINT8, {rows, static_cast<std::size_t>(spec.row_bytes)});
    } else if (spec.has_many_bytes()) {
      const auto size = static_cast<std::size_t>(column.value_offsets[total]);
      values = nb::make_tuple(export_array(column.bytes, NPY_UINT8, {size}),
                              export_array(column.value_offsets, NPY_INT64, {total + 1}));
    } else {
      values = export_array(column.bytes, NPY_UINT8, {total});
    }
  } else if (spec.count >= 0) {
    const auto width = static_cast<std::size_t>(spec.count);
    values = spec.kind == Kind::kFloat ? export_rows(column.floats, NPY_FLOAT32, rows, width)
                                       : export_rows(column.int64s, NPY_INT64, rows, width);
  } else {
    values = spec.kind == Kind::kFloat ? export_array(column.floats, NPY_FLOAT32, {total})
                                       : export_array(column.int64s, NPY_INT64, {total});
  }
  if (!spec.is_dense()) offsets = export_array(column.offsets, NPY_INT64, {rows + 1});
  return nb::make_tuple(values, offsets, present, step_offsets);
}

}  // namespace

void load_numpy() {
  if (_import_array() < 0) throw nb::python_error();
  // The first small array of a thread takes 46 KB for numpy's own cache, and glibc ends the process if there is no
  // memory for it: better now than in the middle of a large record.
  array_filled_by<float>([](float*) {}, 1, NPY_FLOAT32);
}

nb::list export_columns(ColumnBatch batch) {
  nb::list columns;
  for (std::size_t i = 0; i < batch.columns.size(); ++i) {
    columns.append(export_column(batch.plan->columns()[i], batch.columns[i], batch.rows));
  }
  return columns;
}

nb::object export_numbers(const WireFeature& feature) {
  const auto count = static_cast<std::size_t>(feature.count());
  if (feature.kind() == Kind::kFloat) {
    return array_filled_by<float>([&](float* to) { feature.copy_floats(to); }, count, NPY_FLOAT32);
  }
  return array_filled_by<std::int64_t>([&](std::int64_t* to) { feature.copy_int64s(to); }, count, NPY_INT64);
}

nb::object export_int64s(PooledArray<std::int64_t> array, std::size_t size) {
  return export_array(array, NPY_INT64, {size});
}

nb::object export_bytes(Buffer memory, std::size_t size, std::size_t begin) {
  if (memory.data() == nullptr) memory = Buffer(1);  // an empty array needs an address too
  return array_of(std::move(memory), NPY_UINT8, {size}, begin);
}

nb::object export_uint64s(PooledArray<std::uint64_t> array, std::size_t size) {
  return export_array(array, NPY_UINT64, {size});
}

nb::object export_offsets(const std::vector<std::uint64_t>& offsets) {
  PooledArray<std::uint64_t> array;
  array.reserve(offsets.size() + 1, 0);
  std::copy(offsets.begin(), offsets.end(), array.data());
  return export_array(array, NPY_UINT64, {offsets.size()});
}

}  // namespace recordsmith
