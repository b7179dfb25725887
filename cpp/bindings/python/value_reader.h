// Python values as the values of a Feature, for the types that data usually comes in.
//
// Exact floats, ints, bytes and str, flat lists of them, and arrays whose memory can be used as it is. Everything else,
// and everything doubtful (an int that a float32 cannot hold, a str where bytes are wanted), is left to Python, which
// converts it or explains why not. Nothing is copied that does not have to be: what read() returns points into the
// Python objects and into the reader, and lasts until clear().
#pragma once

#include <nanobind/nanobind.h>

#include <cmath>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "bindings/python/object_access.h"
#include "examples/example_encoder.h"

namespace recordsmith {

namespace nb = nanobind;

// What a value has to be to be taken without asking Python.
struct ValueRule {
  Kind kind = Kind::kNone;              // kNone: whatever the value suggests
  bool takes_text = true;               // str is encoded as UTF-8
  bool wants_utf8 = false;              // bytes are taken only if they are text
  bool takes_numbers_as_bytes = false;  // an array's memory becomes one byte value (bytes kind)
  std::string format;                   // of an array's elements, as the buffer protocol names it; empty: any usual one
  bool any_shape = true;
  std::vector<std::int64_t> shape;  // kVaries where free
};

class ValueReader {
 public:
  // Remembers numpy's types: only the memory of exact arrays and of numpy's scalars is used as it is. Subclasses, such
  // as masked arrays, mean more than their memory says.
  static void learn_numpy_types();

  ~ValueReader() { clear(); }
  void clear();
  // False: ask Python.
  bool read(PyObject* value, const ValueRule& rule, FeatureValues* values);

  // Single values, of which nothing is kept. False: ask Python.
  static bool as_float(PyObject* value, float* out);
  static bool as_int64(PyObject* value, std::int64_t* out);
  static bool as_bytes(PyObject* value, const ValueRule& rule, std::string_view* out);

 private:
  bool read_sequence(PyObject* sequence, const ValueRule& rule, FeatureValues* values);
  bool read_buffer(PyObject* object, const ValueRule& rule, FeatureValues* values);

  std::vector<Py_buffer> buffers_;
  // Deques, because what has been handed out must not move.
  std::deque<std::vector<float>> floats_;
  std::deque<std::vector<std::int64_t>> int64s_;
  std::deque<std::vector<std::string_view>> views_;
  std::size_t floats_used_ = 0;
  std::size_t int64s_used_ = 0;
  std::size_t views_used_ = 0;
};

inline bool ValueReader::as_float(PyObject* value, float* out) {
  if (PyFloat_Check(value)) {  // numpy's float64 is one too
    const double number = float_value(value);
    *out = static_cast<float>(number);
    return !std::isinf(*out) || std::isinf(number);
  }
  if (!PyLong_CheckExact(value)) return false;
  int overflow = 0;
  const long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
  constexpr long long kExact = 1 << 24;  // up to here a float32 holds every integer
  if (overflow != 0 || number > kExact || number < -kExact) return false;
  *out = static_cast<float>(number);
  return true;
}

inline bool ValueReader::as_int64(PyObject* value, std::int64_t* out) {
  if (!PyLong_CheckExact(value)) return false;
  int overflow = 0;
  *out = PyLong_AsLongLongAndOverflow(value, &overflow);
  return overflow == 0;
}

}  // namespace recordsmith
