// Files being written: payloads, columns and rows.
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "bindings/parts.h"
#include "bindings/python/array_export.h"
#include "bindings/python/frames.h"
#include "bindings/python/gil.h"
#include "bindings/python/object_access.h"
#include "bindings/python/status.h"
#include "bindings/python/value_reader.h"
#include "columns/column_encoder.h"
#include "columns/rows/offsets.h"
#include "examples/record_digest.h"
#include "records/record_sink.h"

namespace recordsmith {
namespace {

template <typename T>
using Flat = nb::ndarray<const T, nb::c_contig, nb::device::cpu>;

// Columns from Python, checked, and kept alive while the core reads them without the GIL.
class ColumnArguments {
 public:
  ColumnArguments(const FeaturePlan& plan, const nb::list& parts, std::size_t records)
      : records_(records), rows_(records) {
    if (parts.size() != plan.columns().size())
      throw nb::value_error("there must be one part for each column of the plan");
    if (records > kMostRows) throw nb::value_error("too many rows at once");
    sources_.resize(parts.size());
    views_.resize(parts.size());
    for (std::size_t i = 0; i < parts.size(); ++i) {
      take(plan.columns()[i], nb::cast<nb::tuple>(parts[i]), &sources_[i], &views_[i]);
    }
  }

  const std::vector<ColumnSource>& sources() const { return sources_; }

 private:
  // Multiplied by the values that a row can have (feature_plan.cc), this does not overflow.
  static constexpr std::size_t kMostRows = std::size_t{1} << 32;

  template <typename T>
  Flat<T> keep(nb::handle array) {
    auto flat = nb::cast<Flat<T>>(array);
    kept_.append(array);
    return flat;
  }

  const std::int64_t* offsets(nb::handle array, std::size_t entries, std::size_t limit, const PlanColumn& spec) {
    const Flat<std::int64_t> flat = keep<std::int64_t>(array);
    if (flat.size() != entries || !offsets_fit({flat.data(), entries}, limit)) complain(spec, "offsets");
    return flat.data();
  }

  [[noreturn]] static void complain(const PlanColumn& spec, const char* what) {
    throw nb::value_error(("the " + std::string(what) + " of column '" + spec.key + "' do not fit its rows").c_str());
  }

  void take(const PlanColumn& spec, const nb::tuple& part, ColumnSource* source, std::vector<std::string_view>* views) {
    const nb::object values = part[0];
    if (!part[2].is_none()) {
      const Flat<bool> present = keep<bool>(part[2]);
      if (present.size() != records_) complain(spec, "presence flags");
      source->present = reinterpret_cast<const std::uint8_t*>(present.data());
    }
    rows_ = records_;
    if (spec.in_steps) {
      if (part.size() < 4) complain(spec, "steps");
      source->step_offsets = offsets(part[3], records_ + 1, kMostRows, spec);
      rows_ = static_cast<std::size_t>(source->step_offsets[records_]);
    }
    if (spec.kind == Kind::kFloat) return take_numbers<float>(spec, values, part[1], &source->floats, source);
    if (spec.kind == Kind::kInt64) return take_numbers<std::int64_t>(spec, values, part[1], &source->int64s, source);

    if (nb::isinstance<nb::list>(values)) {
      const auto list = nb::tuple(nb::cast<nb::list>(values));  // a copy that nobody else can change
      kept_.append(list);
      if (list.size() != rows_) complain(spec, "values");
      views->reserve(rows_);
      for (const nb::handle value : list) {
        if (!PyBytes_Check(value.ptr())) complain(spec, "values (which must be bytes)");
        views->push_back(bytes_view(value.ptr()));
      }
      source->views = views->data();
      return;
    }
    if (spec.has_many_bytes()) {
      const auto pair = nb::cast<nb::tuple>(values);
      const Flat<std::uint8_t> data = keep<std::uint8_t>(pair[0]);
      const Flat<std::int64_t> inner = nb::cast<Flat<std::int64_t>>(pair[1]);
      source->bytes = data.data();
      if (inner.size() == 0) complain(spec, "value offsets");
      source->value_offsets = offsets(pair[1], inner.size(), data.size(), spec);
      source->offsets = offsets(part[1], rows_ + 1, inner.size() - 1, spec);
      check_counts(spec, *source);
      return;
    }
    const Flat<std::uint8_t> data = keep<std::uint8_t>(values);
    source->bytes = data.data();
    if (spec.row_bytes >= 0) {
      if (data.size() != rows_ * static_cast<std::size_t>(spec.row_bytes)) complain(spec, "values");
    } else {
      source->offsets = offsets(part[1], rows_ + 1, data.size(), spec);
    }
  }

  template <typename T>
  void take_numbers(const PlanColumn& spec, nb::handle values, nb::handle row_offsets, const T** out,
                    ColumnSource* source) {
    const Flat<T> flat = keep<T>(values);
    *out = flat.data();
    if (spec.count >= 0) {
      if (flat.size() != rows_ * static_cast<std::size_t>(spec.count)) complain(spec, "values");
    } else {
      source->offsets = offsets(row_offsets, rows_ + 1, flat.size(), spec);
    }
  }

  void check_counts(const PlanColumn& spec, const ColumnSource& source) const {
    for (std::size_t i = 0; spec.count >= 0 && i < rows_; ++i) {
      if (source.present != nullptr && !spec.in_steps && source.present[i] == 0) continue;  // absent: nothing is stored
      if (source.offsets[i + 1] - source.offsets[i] != spec.count) complain(spec, "values per row");
    }
  }

  std::size_t records_;
  std::size_t rows_;  // of the current column: steps where it is in steps
  nb::list kept_;
  std::vector<ColumnSource> sources_;
  std::vector<std::vector<std::string_view>> views_;
};

class Sink {
 public:
  Sink(const nb::str& path, const std::string& compression, int level) {
    raise_if_failed(
        RecordSink::create(path_of(path), compression_of(compression).value_or(Compression::kNone), level, &sink_));
  }

  // Without a file: the records stay in memory until take().
  Sink() : sink_(RecordSink::in_memory()) {}

  void append(const nb::bytes& payload) {
    const auto* data = static_cast<const std::uint8_t*>(payload.data());
    const std::size_t size = payload.size();
    if (size < kWorthReleasing) {
      raise_if_failed(sink_->append(data, size));
    } else {
      run([&] { return sink_->append(data, size); });
    }
  }

  void append_columns(const Plan& plan, const nb::list& parts, std::size_t rows) {
    const ColumnArguments arguments(*plan.plan, parts, rows);
    ColumnEncoder encoder(plan.plan);
    run([&] { return encoder.append(arguments.sources(), 0, rows, sink_.get()); });
  }

  void append_frames(const FrameBytes& frames) {
    bool sound = false;
    run([&] { return sink_->append_frames(frames.data(), frames.size(), &sound); });
    if (!sound) throw nb::value_error("these are not whole records with their framing");
  }

  void append_every(const FrameBytes& bytes, const FrameOffsets& offsets, std::size_t first, std::size_t step) {
    const Frames frames = frames_of(bytes, offsets);
    if (step == 0) throw nb::value_error("step must be at least 1");
    run([&] { return recordsmith::append_every(frames, first, step, sink_.get()); });
  }

  void append_chosen(const FrameBytes& bytes, const FrameOffsets& offsets, const FrameNumbers& numbers) {
    const Frames frames = frames_of(bytes, offsets);
    const std::span<const std::int64_t> chosen(numbers.data(), numbers.size());
    for (const std::int64_t number : chosen) {
      if (static_cast<std::uint64_t>(number) >= frames.count()) throw nb::index_error("no such record");
    }
    bool sound = true;
    run([&] { return recordsmith::append_chosen(frames, chosen, sink_.get(), &sound); });
    if (!sound) throw nb::value_error("these are not whole records with their framing");
  }

  nb::tuple take() {
    std::vector<std::uint64_t> offsets;
    Buffer frames = sink_->take(&offsets);
    const auto size = static_cast<std::size_t>(offsets.back());
    return nb::make_tuple(export_bytes(std::move(frames), size), export_offsets(offsets));
  }

  void flush() {
    run([&] { return sink_->flush(); });
  }
  void close(bool sync) {
    run([&] { return sink_->close(sync); });
  }
  std::uint64_t records() const { return sink_->records(); }
  std::uint64_t bytes() const { return sink_->bytes(); }

  RecordSink* get() const { return sink_.get(); }

 private:
  static constexpr std::size_t kWorthReleasing = 64 << 10;

  std::unique_ptr<RecordSink> sink_;
};

// Python rows written by a plan. One plan column belongs to one name of the row.
class RowEncoder {
 public:
  // rules: one (takes_text, takes_numbers_as_bytes, format, shape | None) per column.
  RowEncoder(const Plan& plan, const nb::list& rules) : plan_(plan.plan) {
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
      rules_.push_back(std::move(rule));
      PyObject* name = PyUnicode_FromStringAndSize(column.key.data(), static_cast<Py_ssize_t>(column.key.size()));
      if (name == nullptr) throw nb::python_error();
      PyUnicode_InternInPlace(&name);
      names_.append(nb::steal(name));
    }
  }

  // normalize(column, row_number, row): the canonical value if the value cannot be read here: None for an absent
  // one, else a float32 or int64 array, bytes, or a list of bytes. complain(row_number, row): raises about names that
  // the schema does not have. Both are passed with each call: stored, they would make a cycle that is never freed.
  void append(Sink& sink, const nb::list& rows, std::uint64_t first_number, const nb::callable& normalize,
              const nb::callable& complain) {
    std::uint64_t number = first_number;
    for (const nb::handle row : rows) append_row(sink.get(), row, number++, normalize, complain);
    reader_.clear();
  }

 private:
  void append_row(RecordSink* sink, nb::handle row, std::uint64_t number, const nb::callable& normalize,
                  const nb::callable& complain) {
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
        const nb::object canonical = call_python(normalize, index, number, row);
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
    if (static_cast<std::size_t>(PyObject_Length(row.ptr())) > met) call_python(complain, number, row);
    const std::size_t size = encoder_.measure();
    if (size > kLargestMessage) call_python(complain, number, row);
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
  ValueReader reader_;
  ExampleEncoder encoder_;
};

// One digest per record (record_digest.h).
nb::object digest_frames(const FrameBytes& bytes, const FrameOffsets& offsets,
                         const std::vector<std::string>& ignored) {
  const Frames frames = frames_of(bytes, offsets);
  PooledArray<std::uint64_t> digests;
  digests.reserve(offsets.size(), 0);
  {
    const GilRelease released;
    const std::vector<std::string_view> names(ignored.begin(), ignored.end());
    for (std::size_t i = 0; i < frames.count(); ++i) {
      digests[i] = digest_record(frames.payload(i).data(), frames.payload(i).size(), names);
    }
  }
  return export_uint64s(std::move(digests), frames.count());
}

}  // namespace

void bind_writing(nb::module_& module) {
  nb::class_<Sink>(module, "RecordSink")
      .def(nb::init<const nb::str&, const std::string&, int>(), nb::arg("path"), nb::arg("compression"),
           nb::arg("level"))
      .def(nb::init<>())
      .def("append", &Sink::append, nb::arg("payload"))
      .def("append_frames", &Sink::append_frames, nb::arg("frames"))
      .def("append_every", &Sink::append_every, nb::arg("frames"), nb::arg("offsets"), nb::arg("first"),
           nb::arg("step"))
      .def("append_chosen", &Sink::append_chosen, nb::arg("frames"), nb::arg("offsets"), nb::arg("numbers"))
      .def("take", &Sink::take)
      .def("append_columns", &Sink::append_columns, nb::arg("plan"), nb::arg("parts"), nb::arg("rows"))
      .def("flush", &Sink::flush)
      .def("close", &Sink::close, nb::arg("sync"))
      .def_prop_ro("records", &Sink::records)
      .def_prop_ro("bytes", &Sink::bytes);

  nb::class_<RowEncoder>(module, "RowEncoder")
      .def(nb::init<const Plan&, const nb::list&>(), nb::arg("plan"), nb::arg("rules"))
      .def("append", &RowEncoder::append, nb::arg("sink"), nb::arg("rows"), nb::arg("first_number"),
           nb::arg("normalize"), nb::arg("complain"));

  module.def("digest_frames", &digest_frames, nb::arg("frames"), nb::arg("offsets"), nb::arg("ignored"));
}

}  // namespace recordsmith
