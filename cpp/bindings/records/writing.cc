// Files being written: payloads, columns and rows.
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "bindings/parts.h"
#include "bindings/python/array_export.h"
#include "bindings/python/callbacks.h"
#include "bindings/python/frames.h"
#include "bindings/python/gil.h"
#include "bindings/python/object_access.h"
#include "bindings/python/status.h"
#include "columns/encoding/column_dealing.h"
#include "columns/encoding/column_encoder.h"
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
  Sink(const nb::str& path, const std::string& compression, int level, std::size_t threads) {
    const Compression chosen = compression_of(compression).value_or(Compression::kNone);
    raise_if_failed(RecordSink::create(path_of(path), chosen, level, &sink_, threads));
  }

  // Without a file: the records stay in memory until take().
  Sink() : sink_(RecordSink::in_memory()) {}

  // `digest`: an object of hashlib. It gets all bytes of the file, and releases the GIL while it works on them.
  void digest_with(const nb::object& digest) {
    const std::shared_ptr<void> update = shared_object(digest.attr("update"));
    sink_->observe([update](std::span<const std::uint8_t> bytes) {
      return in_python([&] {
        auto* const data = reinterpret_cast<char*>(const_cast<std::uint8_t*>(bytes.data()));
        const auto view = nb::steal(PyMemoryView_FromMemory(data, static_cast<Py_ssize_t>(bytes.size()), PyBUF_READ));
        if (!view.is_valid()) throw nb::python_error();
        call_python(static_cast<PyObject*>(update.get()), view);
      });
    });
  }

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
    run([&] {
      // The first rows say how much memory all of them take.
      constexpr std::size_t kSampleRows = 64;
      const std::size_t sampled = std::min(rows, kSampleRows);
      const std::uint64_t before = sink_->bytes();
      RECORDSMITH_RETURN_IF_ERROR(encoder.append(arguments.sources(), 0, sampled, sink_.get()));
      const std::uint64_t sample_bytes = sink_->bytes() - before;
      if (sampled < rows) sink_->expect(static_cast<std::size_t>(sample_bytes / sampled * (rows - sampled) * 17 / 16));
      return encoder.append(arguments.sources(), sampled, rows, sink_.get());
    });
  }

  void append_frames(const FrameBytes& frames) {
    bool sound = false;
    run([&] { return sink_->append_frames(frames.data(), frames.size(), &sound); });
    if (!sound) throw nb::value_error("these are not whole records with their framing");
  }

  void append_every(const FrameBytes& bytes, const FrameOffsets& offsets, std::size_t first, std::size_t step) {
    const Frames frames = frames_of(bytes, offsets);
    if (step == 0) throw nb::value_error("step must be at least 1");
    bool sound = true;
    run([&] { return recordsmith::append_every(frames, first, step, sink_.get(), &sound); });
    if (!sound) throw nb::value_error("these are not whole records with their framing");
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

void deal_to_sinks(const nb::list& sinks, const Plan& plan, const nb::list& parts, std::size_t rows,
                   std::size_t first_sink, std::size_t threads) {
  if (sinks.size() == 0) throw nb::value_error("there must be a sink");
  const ColumnArguments arguments(*plan.plan, parts, rows);
  std::vector<RecordSink*> targets;
  for (const nb::handle sink : sinks) targets.push_back(sink_of(sink));
  run([&] { return deal_columns(plan.plan, arguments.sources(), rows, first_sink, targets, threads); });
}

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

RecordSink* sink_of(nb::handle sink) { return nb::cast<Sink&>(sink).get(); }

void bind_writing(nb::module_& module) {
  nb::class_<Sink>(module, "RecordSink")
      .def(nb::init<const nb::str&, const std::string&, int, std::size_t>(), nb::arg("path"), nb::arg("compression"),
           nb::arg("level"), nb::arg("threads"))
      .def(nb::init<>())
      .def("digest_with", &Sink::digest_with, nb::arg("digest"))
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

  module.def("deal_columns", &deal_to_sinks, nb::arg("sinks"), nb::arg("plan"), nb::arg("parts"), nb::arg("rows"),
             nb::arg("first_sink"), nb::arg("threads"));
  module.def("digest_frames", &digest_frames, nb::arg("frames"), nb::arg("offsets"), nb::arg("ignored"));
}

}  // namespace recordsmith
