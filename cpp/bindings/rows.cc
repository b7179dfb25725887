// Rows of Python being written.
//
// Rows usually have the same keys in the same order, and values of the types that the schema has. So a row is first
// read without looking its keys up, and its single values are written from prepared entries. A row for which that does
// not hold takes the general way, value by value, which asks Python about what it does not understand.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <algorithm>

#include "bindings/parts.h"
#include "bindings/python/gil.h"
#include "bindings/python/object_access.h"
#include "bindings/python/status.h"
#include "bindings/python/value_reader.h"
#include "columns/encoding/example_assembly.h"

namespace recordsmith {
namespace {

// What Python is asked about a row: passed with each call, because stored they would make a cycle that is never freed.
struct Questions {
  nb::callable convert;    // (row, row_number): the row, which is no dict, as one
  nb::callable normalize;  // (column, row_number, row): the canonical value if the value cannot be read here: None for
                           // an absent one, else a float32 or int64 array, bytes, or a list of bytes
  nb::callable complain;   // (row_number, row): raises about names that the schema does not have
};

// One plan column belongs to one name of the row.
class RowEncoder {
 public:
  // rules: one (takes_text, takes_numbers_as_bytes, format, shape | None) per column.
  RowEncoder(const Plan& plan, const nb::list& rules) : plan_(plan.plan), assembly_(*plan_) {
    for (std::size_t i = 0; i < plan_->columns().size(); ++i) {
      const PlanColumn& column = plan_->columns()[i];
      const auto given = nb::cast<nb::tuple>(rules[i]);
      ValueRule rule;
      rule.kind = column.kind;
      rule.takes_text = nb::cast<bool>(given[0]);
      rule.wants_utf8 = rule.takes_text;
      rule.takes_numbers_as_bytes = nb::cast<bool>(given[1]);
      rule.format = nb::cast<std::string>(given[2]);
      rule.any_shape = false;
      for (const nb::handle size : nb::cast<nb::tuple>(given[3])) {
        rule.shape.push_back(size.is_none() ? kVaries : nb::cast<std::int64_t>(size));
      }
      const bool is_single = rule.shape.empty() && !rule.takes_numbers_as_bytes;
      is_single_.push_back(is_single && assembly_.prepared(i).is_prepared());
      rules_.push_back(std::move(rule));
      PyObject* name = PyUnicode_FromStringAndSize(column.key.data(), static_cast<Py_ssize_t>(column.key.size()));
      if (name == nullptr) throw nb::python_error();
      PyUnicode_InternInPlace(&name);
      names_.append(nb::steal(name));
      column_of_[names_[i]] = i;
    }
    for (const std::size_t index : plan_->encoding_order()) {
      if (!is_single_[index] || plan_->columns()[index].kind == Kind::kBytes) read_first_.push_back(index);
    }
    values_.resize(kRowsAhead * rules_.size());
    strings_.resize(rules_.size());
  }

  void append(const nb::object& sink, const nb::list& rows, std::uint64_t first_number, const nb::callable& convert,
              const nb::callable& normalize, const nb::callable& complain) {
    RecordSink* const target = sink_of(sink);
    const Questions questions{convert, normalize, complain};
    for (std::size_t i = 0; i < rows.size();) {
      const std::size_t usual = gather_usual_rows(rows, i);
      std::size_t written = 0;
      while (written < usual && append_usual_row(target, values_.data() + written * rules_.size())) ++written;
      i += written;
      if (written == kRowsAhead || i == rows.size()) continue;
      // Python is asked, and may change everything: what was gathered is not used any more.
      nb::object row = nb::borrow(list_item(rows.ptr(), i));
      const std::uint64_t number = first_number + i++;
      if (!PyDict_CheckExact(row.ptr())) row = call_python(convert, row, number);
      append_row(target, row, number, questions);
      learn_keys(row.ptr());
    }
    reader_.clear();
  }

 private:
  // Rows are looked at ahead: their values are all over the memory, and are fetched at the same time.
  static constexpr std::size_t kRowsAhead = 8;

  // The values of the rows from `first` on that have the keys of the row before, in the same order; how many these are.
  std::size_t gather_usual_rows(const nb::list& rows, std::size_t first) {
    const std::size_t most = std::min(kRowsAhead, rows.size() - first);
    for (std::size_t i = 0; i < most; ++i) __builtin_prefetch(list_item(rows.ptr(), first + i));
    std::size_t count = 0;
    while (count < most &&
           gather_values(list_item(rows.ptr(), first + count), values_.data() + count * rules_.size())) {
      ++count;
    }
    return count;
  }

  bool gather_values(PyObject* row, PyObject** values) const {
    if (!PyDict_CheckExact(row)) return false;
    PyObject* key = nullptr;
    PyObject* value = nullptr;
    Py_ssize_t at = 0;
    std::size_t met = 0;
    for (; PyDict_Next(row, &at, &key, &value); ++met) {
      if (met == keys_.size() || key != keys_[met]) return false;
      __builtin_prefetch(value);
      values[columns_of_keys_[met]] = value;
    }
    return met == rules_.size();
  }

  // False if Python has to be asked about a value; the row is not appended then.
  bool append_usual_row(RecordSink* sink, PyObject* const* values_of_row) {
    reader_.clear();
    assembly_.start();
    for (const std::size_t index : read_first_) {
      const PlanColumn& column = plan_->columns()[index];
      if (is_single_[index]) {
        std::string_view& string = strings_[index];
        if (!ValueReader::as_bytes(values_of_row[index], rules_[index], &string)) return false;
        if (string.size() <= assembly_.prepared(index).most_value_bytes()) continue;
        FeatureValues& values = assembly_.measure(index, column.key);
        values.kind = Kind::kBytes;
        values.bytes = &string;
        values.count = 1;
        continue;
      }
      FeatureValues values;
      if (!reader_.read(values_of_row[index], rules_[index], &values) || !counts_fit(column, values)) return false;
      assembly_.measure(index, column.key) = values;
    }
    bool written = false;
    const Status status = assembly_.append(
        plan_->encoding_order(), [](std::size_t) { return false; },
        [&](std::size_t index, std::uint8_t* to) { return write_single(index, values_of_row[index], to); }, sink,
        &written);
    if (!status.is_ok() && status.failure().code == Code::kTooLarge) return false;
    raise_if_failed(status);
    return written;
  }

  std::uint8_t* write_single(std::size_t index, PyObject* value, std::uint8_t* to) const {
    const ScalarEntry& entry = assembly_.prepared(index);
    switch (plan_->columns()[index].kind) {
      case Kind::kFloat: {
        float number = 0;
        return ValueReader::as_float(value, &number) ? write_float(entry, number, to) : nullptr;
      }
      case Kind::kInt64: {
        std::int64_t number = 0;
        return ValueReader::as_int64(value, &number) ? write_int64(entry, number, to) : nullptr;
      }
      default:
        return write_string(entry, strings_[index], to);
    }
  }

  // The keys of a row, if it has all names of the schema and no other. They are kept, so that no other object can have
  // their address.
  void learn_keys(PyObject* row) {
    nb::list keys;
    std::vector<std::size_t> columns;
    PyObject* key = nullptr;
    PyObject* value = nullptr;
    for (Py_ssize_t at = 0; PyDict_Next(row, &at, &key, &value);) {
      if (!PyUnicode_CheckExact(key)) return;  // comparing it may run code of Python
      PyObject* const column = PyDict_GetItemWithError(column_of_.ptr(), key);
      if (column == nullptr) return;
      keys.append(nb::borrow(key));
      columns.push_back(nb::cast<std::size_t>(nb::handle(column)));
    }
    if (columns.size() != rules_.size()) return;
    kept_keys_ = std::move(keys);
    keys_.clear();
    for (const nb::handle kept : kept_keys_) keys_.push_back(kept.ptr());
    columns_of_keys_ = std::move(columns);
  }

  void append_row(RecordSink* sink, nb::handle row, std::uint64_t number, const Questions& questions) {
    reader_.clear();
    encoder_.start();
    nb::list kept;
    std::size_t met = 0;
    for (const std::size_t index : plan_->encoding_order()) {
      const PlanColumn& column = plan_->columns()[index];
      PyObject* name = list_item(names_.ptr(), index);
      PyObject* value = PyDict_CheckExact(row.ptr()) ? PyDict_GetItemWithError(row.ptr(), name) : nullptr;
      if (value != nullptr) ++met;
      FeatureValues values;
      if (value == nullptr || !reader_.read(value, rules_[index], &values) || !counts_fit(column, values)) {
        if (PyErr_Occurred()) throw nb::python_error();
        const nb::object canonical = call_python(questions.normalize, index, number, row);
        if (canonical.is_none()) continue;  // absent, and the schema allows it
        kept.append(canonical);
        ValueRule canonical_rule;
        canonical_rule.kind = column.kind;
        if (!reader_.read(canonical.ptr(), canonical_rule, &values)) {
          values = FeatureValues();  // an empty list has no kind of its own
          values.kind = column.kind;
        }
      }
      encoder_.add(column.key) = values;
    }
    if (static_cast<std::size_t>(PyObject_Length(row.ptr())) > met) call_python(questions.complain, number, row);
    const std::size_t size = encoder_.measure();
    if (size > kLargestMessage) call_python(questions.complain, number, row);
    std::uint8_t* payload = nullptr;
    raise_if_failed(sink->claim(size, &payload));
    encoder_.write(payload);
    sink->commit(size);
  }

  static bool counts_fit(const PlanColumn& column, const FeatureValues& values) {
    return column.count < 0 || values.count == static_cast<std::size_t>(column.count);
  }

  std::shared_ptr<const FeaturePlan> plan_;
  std::vector<ValueRule> rules_;
  nb::list names_;
  nb::dict column_of_;  // by name
  ValueReader reader_;
  ExampleEncoder encoder_;

  // Of rows like the one before.
  ExampleAssembly assembly_;
  std::vector<bool> is_single_;          // by column: one value, which is written from a prepared entry
  std::vector<std::size_t> read_first_;  // all columns but single numbers, in the order of their keys
  nb::list kept_keys_;                   // of the row before, in its order
  std::vector<PyObject*> keys_;          // the same
  std::vector<std::size_t> columns_of_keys_;
  std::vector<PyObject*> values_;          // by column, of the current row; borrowed
  std::vector<std::string_view> strings_;  // by column, of the current row
};

}  // namespace

void bind_rows(nb::module_& module) {
  nb::class_<RowEncoder>(module, "RowEncoder")
      .def(nb::init<const Plan&, const nb::list&>(), nb::arg("plan"), nb::arg("rules"))
      .def("append", &RowEncoder::append, nb::arg("sink"), nb::arg("rows"), nb::arg("first_number"), nb::arg("convert"),
           nb::arg("normalize"), nb::arg("complain"));
}

}  // namespace recordsmith
