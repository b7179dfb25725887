// Files: records in order, batches, offsets, verification, and the census for schema inference.
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>
#include <thread>
#include <utility>

#include "bindings/parts.h"
#include "bindings/python/array_export.h"
#include "bindings/python/index_parts.h"
#include "bindings/python/status.h"
#include "columns/batch_stream.h"
#include "columns/feature_census.h"
#include "records/framing/framing.h"
#include "records/record_stream.h"
#include "records/verification.h"

namespace recordsmith {
namespace {

// What Python calls RecordStream.
class Records {
 public:
  Records(const nb::str& path, const std::string& compression, bool verify, const std::optional<nb::tuple>& known) {
    InputFile input{path_of(path), compression_of(compression)};
    if (known.has_value()) input.known = KnownFile{identity_of(*known)};
    run([&] { return RecordStream::open(input, verify, &stream_); });
  }

  // The next payload, or None at the end.
  nb::object next() {
    std::optional<RecordView> record;
    if (stream_->is_ready()) {
      raise_if_failed(stream_->next(&record));
    } else {
      run([&] { return stream_->next(&record); });
    }
    if (!record.has_value()) return nb::none();
    return nb::bytes(record->data, static_cast<std::size_t>(record->length));
  }

  // The next records with their framing and where each begins, as (frames, offsets); None at the end.
  nb::object next_frames(std::size_t target_bytes) {
    RecordBlock block;
    run([&] { return stream_->next_block(target_bytes, &block); });
    if (block.empty()) return nb::none();
    std::vector<std::uint64_t> offsets;
    offsets.reserve(block.size() + 1);
    for (std::size_t i = 0; i < block.size(); ++i) offsets.push_back(block[i].offset - block[0].offset);
    offsets.push_back(offsets.back() + block[block.size() - 1].length + kFramingBytes);
    const std::size_t begin = block.begin();
    return nb::make_tuple(export_bytes(block.release(), static_cast<std::size_t>(offsets.back()), begin),
                          export_offsets(offsets));
  }

  bool recover() {
    bool found = false;
    run([&] { return stream_->recover(&found); });
    return found;
  }

  std::uint64_t offset() const { return stream_->offset(); }
  std::uint64_t number() const { return stream_->number(); }
  const char* compression() const { return compression_name(stream_->compression()); }

 private:
  std::unique_ptr<RecordStream> stream_;
};

std::vector<InputFile> inputs_of(const nb::list& paths, const std::vector<std::string>& compressions) {
  std::vector<InputFile> inputs;
  for (std::size_t i = 0; i < paths.size(); ++i)
    inputs.push_back({path_of(paths[i]), compression_of(compressions.at(i))});
  return inputs;
}

// A stream of batches and its threads. A fork leaves the threads behind. In the child process the copy of the stream is
// leaked, because its destructor would wait for them for ever.
class ThreadedBatches {
 public:
  explicit ThreadedBatches(std::unique_ptr<BatchStream> stream) : stream_(std::move(stream)), process_(getpid()) {}
  ThreadedBatches(const ThreadedBatches&) = delete;
  ThreadedBatches& operator=(const ThreadedBatches&) = delete;
  ~ThreadedBatches() {
    if (getpid() != process_) {
      static_cast<void>(stream_.release());
      return;
    }
    const GilRelease released;  // a thread that reads a remote file needs it before it can end
    stream_.reset();
  }

  nb::object next() {
    if (getpid() != process_) throw std::runtime_error("this stream belongs to another process");
    std::optional<ColumnBatch> batch;
    run([&] { return stream_->next(&batch); });
    if (!batch.has_value()) return nb::none();
    const std::size_t rows = batch->rows;
    return nb::make_tuple(rows, export_columns(std::move(*batch)));
  }

 private:
  std::unique_ptr<BatchStream> stream_;
  const pid_t process_;
};

nb::tuple scan(const nb::str& given, const std::string& compression, bool verify) {
  const std::string path = path_of(given);
  std::vector<std::uint64_t> offsets;
  Compression found = Compression::kNone;
  run([&] {
    std::shared_ptr<const File> file;
    RECORDSMITH_RETURN_IF_ERROR(open_input({path, compression_of(compression)}, &file, &found));
    return scan_offsets(file, found, verify, &offsets);
  });
  return nb::make_tuple(export_offsets(offsets), compression_name(found));
}

std::uint64_t verify(const nb::list& paths, const std::vector<std::string>& compressions, unsigned threads) {
  std::uint64_t records = 0;
  const std::vector<InputFile> inputs = inputs_of(paths, compressions);
  run([&] { return verify_files(inputs, {.threads = threads}, &records); });
  return records;
}

nb::dict kinds_of(const FeatureFacts& facts) {
  nb::dict kinds;
  for (const Kind kind : {Kind::kNone, Kind::kBytes, Kind::kFloat, Kind::kInt64}) {
    const std::uint64_t times = facts.kinds[static_cast<std::size_t>(kind)];
    if (times > 0) kinds[kind_name(kind)] = times;
  }
  return kinds;
}

nb::dict payloads_of(const Census& census) {
  nb::dict payloads;
  for (std::size_t i = 0; i < kPayloadKinds; ++i) {
    if (census.payloads[i] > 0) payloads[payload_kind_name(static_cast<PayloadKind>(i))] = census.payloads[i];
  }
  return payloads;
}

Census census_of(const nb::list& paths, const std::vector<std::string>& compressions, std::uint64_t records_per_file,
                 std::uint64_t bytes_per_file, bool verify, bool stop_at_damage) {
  Census census;
  const std::vector<InputFile> inputs = inputs_of(paths, compressions);
  const CensusLimits limits{records_per_file, bytes_per_file, verify, stop_at_damage,
                            std::thread::hardware_concurrency()};
  run([&] { return take_census(inputs, limits, &census); });
  return census;
}

void bind_census(nb::module_& module) {
  nb::class_<FeatureFacts>(module, "CensusFeature")
      .def_prop_ro("key", [](const FeatureFacts& self) { return nb::str(self.key.data(), self.key.size()); })
      .def_ro("in_steps", &FeatureFacts::in_steps)
      .def_ro("records", &FeatureFacts::records)
      .def_prop_ro("kinds", &kinds_of)
      .def_prop_ro("counts",
                   [](const FeatureFacts& self) {
                     return std::make_pair(std::min(self.min_count, self.max_count), self.max_count);
                   })
      .def_prop_ro("lengths",
                   [](const FeatureFacts& self) {
                     return std::make_pair(std::min(self.min_bytes, self.max_bytes), self.max_bytes);
                   })
      .def_ro("is_text", &FeatureFacts::all_text);
  nb::class_<Census>(module, "Census")
      .def_ro("records", &Census::records)
      .def_ro("is_complete", &Census::is_complete)
      .def_prop_ro("payloads", &payloads_of)
      .def_ro("features", &Census::features);
  module.def("census", &census_of, nb::arg("paths"), nb::arg("compressions"), nb::arg("records_per_file"),
             nb::arg("bytes_per_file"), nb::arg("verify"), nb::arg("stop_at_damage"));
}

}  // namespace

void bind_reading(nb::module_& module) {
  nb::class_<Records>(module, "RecordStream")
      .def(nb::init<const nb::str&, const std::string&, bool, const std::optional<nb::tuple>&>(), nb::arg("path"),
           nb::arg("compression"), nb::arg("verify"), nb::arg("known") = nb::none())
      .def("next", &Records::next)
      .def("next_frames", &Records::next_frames, nb::arg("target_bytes"))
      .def("recover", &Records::recover)
      .def_prop_ro("offset", &Records::offset)
      .def_prop_ro("number", &Records::number)
      .def_prop_ro("compression", &Records::compression);

  nb::class_<ThreadedBatches>(module, "BatchStream")
      .def(
          "__init__",
          [](ThreadedBatches* self, const nb::list& paths, const std::vector<std::string>& compressions,
             const Plan& plan, std::size_t batch_size, bool verify_data, bool drop_last, unsigned threads,
             const std::optional<nb::list>& known) {
            if (batch_size == 0) throw nb::value_error("a batch must have at least one row");
            std::vector<InputFile> inputs = inputs_of(paths, compressions);
            for (std::size_t i = 0; known.has_value() && i < inputs.size(); ++i) {
              const auto of_file = nb::cast<nb::tuple>((*known)[i]);
              inputs[i].known = KnownFile{identity_of(nb::cast<nb::tuple>(of_file[0])),
                                          nb::cast<std::uint64_t>(of_file[1]), nb::cast<std::uint64_t>(of_file[2])};
            }
            new (self) ThreadedBatches(std::make_unique<BatchStream>(
                std::move(inputs), plan.plan, BatchOptions{batch_size, verify_data, drop_last, threads}));
          },
          nb::arg("paths"), nb::arg("compressions"), nb::arg("plan"), nb::arg("batch_size"), nb::kw_only(),
          nb::arg("verify"), nb::arg("drop_last"), nb::arg("threads"), nb::arg("known") = nb::none())
      .def("next", &ThreadedBatches::next);

  module.def("scan_offsets", &scan, nb::arg("path"), nb::arg("compression"), nb::arg("verify"));
  module.def("verify_files", &verify, nb::arg("paths"), nb::arg("compressions"), nb::arg("threads"));
  bind_census(module);
  module.def(
      "detect_compression",
      [](const nb::str& given) {
        const std::string path = path_of(given);
        Compression found = Compression::kNone;
        run([&] {
          std::shared_ptr<const File> file;
          return open_input({path, std::nullopt}, &file, &found);
        });
        return compression_name(found);
      },
      nb::arg("path"));
}

}  // namespace recordsmith
