// What is inside Python's own objects. A build for one version of Python reads its structures directly; a build with
// the stable ABI, which serves all versions, calls Python's functions.
#pragma once

#include <Python.h>

#include <cstddef>
#include <string_view>

namespace recordsmith {

inline char* bytes_data(PyObject* bytes) {
#ifdef Py_LIMITED_API
  return PyBytes_AsString(bytes);
#else
  return PyBytes_AS_STRING(bytes);
#endif
}

inline std::string_view bytes_view(PyObject* bytes) {
#ifdef Py_LIMITED_API
  return {PyBytes_AsString(bytes), static_cast<std::size_t>(PyBytes_Size(bytes))};
#else
  return {PyBytes_AS_STRING(bytes), static_cast<std::size_t>(PyBytes_GET_SIZE(bytes))};
#endif
}

inline double float_value(PyObject* number) {
#ifdef Py_LIMITED_API
  return PyFloat_AsDouble(number);
#else
  return PyFloat_AS_DOUBLE(number);
#endif
}

// Borrowed.
inline PyObject* list_item(PyObject* list, std::size_t place) {
#ifdef Py_LIMITED_API
  return PyList_GetItem(list, static_cast<Py_ssize_t>(place));
#else
  return PyList_GET_ITEM(list, static_cast<Py_ssize_t>(place));
#endif
}

// Takes the reference. The place has no item yet.
inline void fill_list_item(PyObject* list, std::size_t place, PyObject* item) {
#ifdef Py_LIMITED_API
  PyList_SetItem(list, static_cast<Py_ssize_t>(place), item);
#else
  PyList_SET_ITEM(list, static_cast<Py_ssize_t>(place), item);
#endif
}

// The items of a list or of a tuple, borrowed.
class SequenceItems {
 public:
#ifdef Py_LIMITED_API
  explicit SequenceItems(PyObject* sequence)
      : sequence_(sequence),
        item_(PyList_CheckExact(sequence) ? PyList_GetItem : PyTuple_GetItem),
        size_(static_cast<std::size_t>(PySequence_Size(sequence))) {}

  PyObject* operator[](std::size_t place) const { return item_(sequence_, static_cast<Py_ssize_t>(place)); }
#else
  explicit SequenceItems(PyObject* sequence)
      : items_(PySequence_Fast_ITEMS(sequence)), size_(static_cast<std::size_t>(PySequence_Fast_GET_SIZE(sequence))) {}

  PyObject* operator[](std::size_t place) const { return items_[place]; }
#endif
  std::size_t size() const { return size_; }

 private:
#ifdef Py_LIMITED_API
  PyObject* sequence_;
  PyObject* (*item_)(PyObject*, Py_ssize_t);
#else
  PyObject** items_;
#endif
  std::size_t size_;
};

}  // namespace recordsmith
