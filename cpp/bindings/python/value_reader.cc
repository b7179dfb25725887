#include "bindings/python/value_reader.h"

#include <cmath>
#include <cstring>

#include "base/utf8.h"
#include "bindings/python/object_access.h"
#include "columns/feature_plan.h"

namespace recordsmith {
namespace {

// The next free vector of a pool that is reused for each row.
template <typename T>
std::vector<T>& next_free(std::deque<std::vector<T>>& pool, std::size_t* used, std::size_t size) {
  if (*used == pool.size()) pool.emplace_back();
  std::vector<T>& vector = pool[(*used)++];
  vector.resize(size);
  return vector;
}

bool fits(const ValueRule& rule, int dimensions, const Py_ssize_t* shape) {
  if (rule.any_shape) return dimensions <= 1;
  if (static_cast<std::size_t>(dimensions) != rule.shape.size()) return false;
  for (int i = 0; i < dimensions; ++i) {
    if (rule.shape[static_cast<std::size_t>(i)] != kVaries && rule.shape[static_cast<std::size_t>(i)] != shape[i]) {
      return false;
    }
  }
  return true;
}

PyTypeObject* array_type = nullptr;
PyTypeObject* scalar_type = nullptr;

bool is_plain_numpy(PyObject* value) {
  return Py_TYPE(value) == array_type || PyType_IsSubtype(Py_TYPE(value), scalar_type) != 0;
}

bool is_int64_format(const char* format) { return std::strcmp(format, "l") == 0 || std::strcmp(format, "q") == 0; }

}  // namespace

void ValueReader::learn_numpy_types() {
  const nb::module_ numpy = nb::module_::import_("numpy");
  // Kept for good: they live as long as numpy does.
  array_type = reinterpret_cast<PyTypeObject*>(nb::object(numpy.attr("ndarray")).release().ptr());
  scalar_type = reinterpret_cast<PyTypeObject*>(nb::object(numpy.attr("generic")).release().ptr());
}

void ValueReader::clear() {
  for (Py_buffer& buffer : buffers_) PyBuffer_Release(&buffer);
  buffers_.clear();
  floats_used_ = int64s_used_ = views_used_ = 0;
}

bool ValueReader::as_bytes(PyObject* value, const ValueRule& rule, std::string_view* out) {
  if (PyBytes_Check(value)) {
    *out = bytes_view(value);
    return !rule.wants_utf8 || is_utf8(reinterpret_cast<const std::uint8_t*>(out->data()), out->size());
  }
  if (!rule.takes_text || !PyUnicode_Check(value)) return false;
  Py_ssize_t size = 0;
  const char* text = PyUnicode_AsUTF8AndSize(value, &size);
  if (text == nullptr) {  // lone surrogates: Python raises the error
    PyErr_Clear();
    return false;
  }
  *out = {text, static_cast<std::size_t>(size)};
  return true;
}

bool ValueReader::read(PyObject* value, const ValueRule& rule, FeatureValues* values) {
  *values = FeatureValues();
  if (PyList_CheckExact(value) || PyTuple_CheckExact(value)) return read_sequence(value, rule, values);

  const bool scalar_fits = rule.any_shape || rule.shape.empty();
  values->count = 1;
  if (PyFloat_Check(value) || PyLong_CheckExact(value)) {
    const bool wants_float = rule.kind == Kind::kFloat || (rule.kind == Kind::kNone && PyFloat_Check(value));
    if (!scalar_fits || rule.kind == Kind::kBytes) return false;
    if (wants_float) {
      auto& room = next_free(floats_, &floats_used_, 1);
      values->kind = Kind::kFloat;
      values->floats = room.data();
      return as_float(value, room.data());
    }
    auto& room = next_free(int64s_, &int64s_used_, 1);
    values->kind = Kind::kInt64;
    values->int64s = room.data();
    return as_int64(value, room.data());
  }
  if (PyBytes_Check(value) || PyUnicode_Check(value)) {
    if (!scalar_fits || rule.kind == Kind::kFloat || rule.kind == Kind::kInt64 || rule.takes_numbers_as_bytes) {
      return false;
    }
    auto& room = next_free(views_, &views_used_, 1);
    values->kind = Kind::kBytes;
    values->bytes = room.data();
    return as_bytes(value, rule, room.data());
  }
  return is_plain_numpy(value) && read_buffer(value, rule, values);
}

bool ValueReader::read_sequence(PyObject* sequence, const ValueRule& rule, FeatureValues* values) {
  const SequenceItems items(sequence);
  const std::size_t size = items.size();
  if (size == 0 || rule.takes_numbers_as_bytes) return false;  // what an empty list means depends on the schema
  if (!rule.any_shape) {
    const auto ssize = static_cast<Py_ssize_t>(size);
    if (!fits(rule, 1, &ssize)) return false;
  }
  Kind kind = rule.kind;
  if (kind == Kind::kNone) {
    if (PyFloat_Check(items[0])) kind = Kind::kFloat;
    if (PyLong_CheckExact(items[0])) kind = Kind::kInt64;
    if (PyBytes_Check(items[0]) || PyUnicode_Check(items[0])) kind = Kind::kBytes;
  }
  values->kind = kind;
  values->count = size;
  switch (kind) {
    case Kind::kFloat: {
      auto& room = next_free(floats_, &floats_used_, size);
      values->floats = room.data();
      for (std::size_t i = 0; i < size; ++i) {
        if (!as_float(items[i], &room[i])) return false;
      }
      return true;
    }
    case Kind::kInt64: {
      auto& room = next_free(int64s_, &int64s_used_, size);
      values->int64s = room.data();
      for (std::size_t i = 0; i < size; ++i) {
        if (!as_int64(items[i], &room[i])) return false;
      }
      return true;
    }
    case Kind::kBytes: {
      auto& room = next_free(views_, &views_used_, size);
      values->bytes = room.data();
      for (std::size_t i = 0; i < size; ++i) {
        if (!as_bytes(items[i], rule, &room[i])) return false;
      }
      return true;
    }
    case Kind::kNone:
      return false;
  }
  return false;
}

bool ValueReader::read_buffer(PyObject* object, const ValueRule& rule, FeatureValues* values) {
  Py_buffer buffer;
  if (PyObject_GetBuffer(object, &buffer, PyBUF_FORMAT | PyBUF_ND | PyBUF_C_CONTIGUOUS) != 0) {
    PyErr_Clear();  // not contiguous, or of a type that buffers cannot describe
    return false;
  }
  const char* format = buffer.format != nullptr ? buffer.format : "B";
  bool taken = fits(rule, buffer.ndim, buffer.shape);
  const auto count = static_cast<std::size_t>(buffer.itemsize > 0 ? buffer.len / buffer.itemsize : 0);
  if (taken && rule.takes_numbers_as_bytes) {
    taken = rule.format == format;
    auto& room = next_free(views_, &views_used_, 1);
    room[0] = {static_cast<const char*>(buffer.buf), static_cast<std::size_t>(buffer.len)};
    values->kind = Kind::kBytes;
    values->bytes = room.data();
    values->count = 1;
  } else if (taken && std::strcmp(format, "f") == 0 && (rule.kind == Kind::kFloat || rule.kind == Kind::kNone)) {
    values->kind = Kind::kFloat;
    values->floats = static_cast<const float*>(buffer.buf);
    values->count = count;
  } else if (taken && is_int64_format(format) && (rule.kind == Kind::kInt64 || rule.kind == Kind::kNone)) {
    values->kind = Kind::kInt64;
    values->int64s = static_cast<const std::int64_t*>(buffer.buf);
    values->count = count;
  } else {
    taken = false;
  }
  if (taken) {
    buffers_.push_back(buffer);
  } else {
    PyBuffer_Release(&buffer);
  }
  return taken;
}

}  // namespace recordsmith
