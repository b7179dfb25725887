// Files: records in order, batches, offsets, records at places, and the census for schema inference.
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <thread>

#include "../batch_stream.h"
#include "../feature_census.h"
#include "../framing.h"
#include "../inflate_source.h"
#include "../record_access.h"
#include "../verification.h"
#include "array_export.h"
#include "parts.h"
#include "status.h"

namespace recordsmith {
namespace {

constexpr std::size_t kBlockBytes = std::size_t{256} << 10;

// Runs `work` without the GIL and raises what it reports.
template <typename Work>
void run(Work work) {
  Status status;
  {
    const nb::gil_scoped_release released;
    status = work();
  }
  raise_if_failed(status);
}

nb::bytes bytes_of(const RecordView& record) { return nb::bytes(record.data, static_cast<std::size_t>(record.length)); }

// One file, record by record.
class RecordStream {
 public:
  RecordStream(const nb::str& given, const std::string& compression, bool verify) : verify_(verify) {
    const std::string path = path_of(given);
    run([&] {
      RECORDSMITH_RETURN_IF_ERROR(open_input({path, compression_of(compression)}, &file_, &compression_));
      cursor_ = std::make_unique<RecordCursor>(open_stream(file_, compression_), path);
      return Status::ok();
    });
  }

  // The next payload, or None at the end.
  nb::object next() {
    if (position_ == block_.size()) {
      position_ = 0;
      block_ = RecordBlock();
      run([&] { return cursor_->next_block(~std::size_t{0}, kBlockBytes, &block_); });
      if (block_.empty()) return nb::none();
    }
    const RecordView record = block_[position_];
    if (verify_) raise_if_failed(check_payload(record, file_->path()));
    ++position_;
    return bytes_of(record);
  }

  // After a failure: passes over the damaged record. False if nothing sound follows.
  bool recover() {
    if (position_ + 1 < block_.size()) {  // a bad data CRC, and a sound header where the length says
      ++position_;
      return true;
    }
    bool found = false;
    run([&] {
      if (position_ < block_.size()) {
        const std::uint64_t damaged = block_[position_].offset;
        const std::uint64_t number = block_[position_].number + 1;
        block_ = RecordBlock();
        position_ = 0;
        // The length can be trusted only if a sound header, or the end, is where it leads.
        if (cursor_->next_block(~std::size_t{0}, kBlockBytes, &block_).is_ok()) {
          found = !block_.empty();
          return Status::ok();
        }
        if (file_->is_seekable()) RECORDSMITH_RETURN_IF_ERROR(restart_at(damaged, number));
      }
      return cursor_->resynchronise(&found);
    });
    return found;
  }

  std::uint64_t offset() const { return position_ < block_.size() ? block_[position_].offset : cursor_->offset(); }
  std::uint64_t number() const { return position_ < block_.size() ? block_[position_].number : cursor_->number(); }
  const char* compression() const { return compression_name(compression_); }

 private:
  // A new cursor at an offset of the (inflated) file; a compressed one is inflated up to there again.
  Status restart_at(std::uint64_t offset, std::uint64_t number) {
    std::unique_ptr<ByteStream> stream;
    if (compression_ == Compression::kNone) {
      stream = std::make_unique<FileStream>(file_, offset);
    } else {
      stream = open_stream(file_, compression_);
      const Buffer discarded(kBlockBytes);
      for (std::uint64_t left = offset; left > 0;) {
        std::size_t got = 0;
        const std::size_t wanted = static_cast<std::size_t>(std::min<std::uint64_t>(left, kBlockBytes));
        RECORDSMITH_RETURN_IF_ERROR(stream->read(discarded.data(), wanted, &got));
        if (got == 0) break;
        left -= got;
      }
    }
    cursor_ = std::make_unique<RecordCursor>(std::move(stream), file_->path(), offset, number);
    return Status::ok();
  }

  bool verify_;
  std::shared_ptr<const File> file_;
  Compression compression_ = Compression::kNone;
  std::unique_ptr<RecordCursor> cursor_;
  RecordBlock block_;
  std::size_t position_ = 0;
};

std::vector<InputFile> inputs_of(const nb::list& paths, const std::vector<std::string>& compressions) {
  std::vector<InputFile> inputs;
  for (std::size_t i = 0; i < paths.size(); ++i)
    inputs.push_back({path_of(paths[i]), compression_of(compressions.at(i))});
  return inputs;
}

nb::object next_batch(BatchStream& stream) {
  std::optional<ColumnBatch> batch;
  run([&] { return stream.next(&batch); });
  if (!batch.has_value()) return nb::none();
  const std::size_t rows = batch->rows;
  return nb::make_tuple(rows, export_columns(std::move(*batch)));
}

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

using Uint32Array = nb::ndarray<const std::uint32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Uint64Array = nb::ndarray<const std::uint64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Plain files kept open for reading records at places that an index gives.
class FileSet {
 public:
  explicit FileSet(const nb::list& paths) : paths_(paths_of(paths)), files_(paths_.size()) {}

  nb::list read(Uint32Array files, Uint64Array offsets, Uint64Array lengths, Uint64Array numbers, bool verify) {
    const std::vector<RecordPlace> places = places_of(files, offsets, lengths, numbers);
    const std::vector<std::shared_ptr<const File>> open_files = files_;
    std::uint64_t total = 0;
    raise_if_failed(check_places(open_files, places, &total));
    // The bytes objects are filled in place: nobody else knows them yet.
    nb::list payloads;
    std::vector<std::uint8_t*> targets;
    targets.reserve(places.size());
    for (const RecordPlace& place : places) {
      PyObject* payload = PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(place.length));
      if (payload == nullptr) throw nb::python_error();
      payloads.append(nb::steal(payload));
      targets.push_back(reinterpret_cast<std::uint8_t*>(PyBytes_AS_STRING(payload)));
    }
    run([&] { return read_payloads(open_files, places, verify, std::thread::hardware_concurrency(), targets); });
    count_pages(places.size(), total);
    return payloads;
  }

  // The records with their framing, one after the other.
  nb::object frames(Uint32Array files, Uint64Array offsets, Uint64Array lengths, Uint64Array numbers, bool verify) {
    Buffer bytes;
    std::vector<RecordView> records;
    const std::vector<RecordPlace> places = places_of(files, offsets, lengths, numbers);
    const std::vector<std::shared_ptr<const File>> open_files = files_;
    std::uint64_t total = 0;
    run([&] {
      RECORDSMITH_RETURN_IF_ERROR(check_places(open_files, places, &total));
      return read_records(open_files, places, verify, &bytes, &records);
    });
    count_pages(places.size(), total);
    return export_bytes(std::move(bytes), static_cast<std::size_t>(total));
  }

  // Lets go of the pages of all files, unless they are few.
  void forget() {
    touched_ = 0;
    std::uint64_t mapped = 0;
    for (const std::shared_ptr<const File>& file : files_) {
      std::uint64_t size = 0;
      if (file != nullptr && file->size(&size).is_ok()) mapped += size;
    }
    if (mapped <= kPagesBudget) return;
    for (const std::shared_ptr<const File>& file : files_) {
      if (file != nullptr) file->forget();
    }
  }

  nb::list decode(const Plan& plan, Uint32Array files, Uint64Array offsets, Uint64Array lengths, Uint64Array numbers,
                  bool verify) {
    Buffer bytes;
    std::vector<RecordView> records;
    const std::vector<RecordPlace> places = places_of(files, offsets, lengths, numbers);
    const std::vector<std::shared_ptr<const File>> open_files = files_;
    BatchDecoder decoder(plan.plan);
    run([&] {
      RECORDSMITH_RETURN_IF_ERROR(read_records(open_files, places, verify, &bytes, &records));
      decoder.start(records.size());
      for (std::size_t i = 0; i < records.size(); ++i) {
        Status status = decoder.add(records[i].data, records[i].length);
        if (!status.is_ok()) {
          return std::move(status).at(paths_[files.data()[i]], records[i].offset, records[i].number);
        }
      }
      return Status::ok();
    });
    count_pages(places.size(), bytes.capacity());
    return export_columns(decoder.finish());
  }

 private:
  // Pages of a mapping count as memory of the process until they are let go of; and those that are still there are
  // worth keeping, because random places are asked for again. `touched` is what may have been added to them.
  static constexpr std::uint64_t kPage = 4096;
  static constexpr std::uint64_t kPagesBudget = std::uint64_t{128} << 20;

  void count_pages(std::size_t records, std::uint64_t bytes) {
    touched_ += records * kPage + bytes;
    if (touched_ >= kPagesBudget) forget();
  }

  // The places, with their files open.
  std::vector<RecordPlace> places_of(Uint32Array files, Uint64Array offsets, Uint64Array lengths, Uint64Array numbers) {
    const std::size_t count = files.shape(0);
    if (offsets.shape(0) != count || lengths.shape(0) != count || numbers.shape(0) != count) {
      throw nb::value_error("the arrays of places differ in length");
    }
    std::vector<RecordPlace> places(count);
    for (std::size_t i = 0; i < count; ++i) {
      places[i] = {files.data()[i], offsets.data()[i], lengths.data()[i], numbers.data()[i]};
      if (places[i].file >= files_.size()) throw nb::index_error("no such file in the set");
      if (files_[places[i].file] == nullptr) {
        std::shared_ptr<File> opened;
        raise_if_failed(File::open(paths_[places[i].file], &opened));
        files_[places[i].file] = std::move(opened);
      }
    }
    return places;
  }

  std::uint64_t touched_ = 0;  // bytes of the mappings since they were last let go of
  std::vector<std::string> paths_;
  std::vector<std::shared_ptr<const File>> files_;
};

nb::dict census_of(const nb::list& paths, const std::vector<std::string>& compressions, std::uint64_t records_per_file,
                   std::uint64_t bytes_per_file, bool verify, bool stop_at_damage) {
  Census census;
  const std::vector<InputFile> inputs = inputs_of(paths, compressions);
  run([&] {
    Status status = take_census(inputs, {records_per_file, bytes_per_file, verify}, &census);
    if (!status.is_ok() && stop_at_damage && census.records > 0) {
      census.is_complete = false;
      return Status::ok();
    }
    return status;
  });
  nb::list features;
  for (const FeatureFacts& facts : census.features) {
    nb::dict kinds;
    for (const Kind kind : {Kind::kNone, Kind::kBytes, Kind::kFloat, Kind::kInt64}) {
      const std::uint64_t times = facts.kinds[static_cast<std::size_t>(kind)];
      if (times > 0) kinds[kind_name(kind)] = times;
    }
    nb::dict feature;
    feature["key"] = nb::str(facts.key.data(), facts.key.size());
    feature["steps"] = facts.in_steps;
    feature["records"] = facts.records;
    feature["kinds"] = kinds;
    feature["min_count"] = facts.values_seen > 0 ? facts.min_count : 0;
    feature["max_count"] = facts.max_count;
    feature["min_bytes"] = facts.min_bytes == kUnknown ? 0 : facts.min_bytes;
    feature["max_bytes"] = facts.max_bytes;
    feature["text"] = facts.all_text;
    features.append(feature);
  }
  nb::dict payloads;
  for (std::size_t i = 0; i < kPayloadKinds; ++i) {
    if (census.payloads[i] > 0) payloads[payload_kind_name(static_cast<PayloadKind>(i))] = census.payloads[i];
  }
  nb::dict result;
  result["records"] = census.records;
  result["complete"] = census.is_complete;
  result["payloads"] = payloads;
  result["features"] = features;
  return result;
}

}  // namespace

void bind_reading(nb::module_& module) {
  nb::class_<RecordStream>(module, "RecordStream")
      .def(nb::init<const nb::str&, const std::string&, bool>(), nb::arg("path"), nb::arg("compression"),
           nb::arg("verify"))
      .def("next", &RecordStream::next)
      .def("recover", &RecordStream::recover)
      .def_prop_ro("offset", &RecordStream::offset)
      .def_prop_ro("number", &RecordStream::number)
      .def_prop_ro("compression", &RecordStream::compression);

  nb::class_<BatchStream>(module, "BatchStream")
      .def(
          "__init__",
          [](BatchStream* self, const nb::list& paths, const std::vector<std::string>& compressions, const Plan& plan,
             std::size_t batch_size, bool verify_data, bool drop_last, unsigned threads) {
            if (batch_size == 0) throw nb::value_error("a batch has at least one row");
            new (self) BatchStream(inputs_of(paths, compressions), plan.plan,
                                   BatchOptions{batch_size, verify_data, drop_last, threads});
          },
          nb::arg("paths"), nb::arg("compressions"), nb::arg("plan"), nb::arg("batch_size"), nb::kw_only(),
          nb::arg("verify"), nb::arg("drop_last"), nb::arg("threads"))
      .def("next", &next_batch);

  nb::class_<FileSet>(module, "FileSet")
      .def(nb::init<const nb::list&>(), nb::arg("paths"))
      .def("read", &FileSet::read, nb::arg("files"), nb::arg("offsets"), nb::arg("lengths"), nb::arg("numbers"),
           nb::arg("verify"))
      .def("forget", &FileSet::forget)
      .def("frames", &FileSet::frames, nb::arg("files"), nb::arg("offsets"), nb::arg("lengths"), nb::arg("numbers"),
           nb::arg("verify"))
      .def("decode", &FileSet::decode, nb::arg("plan"), nb::arg("files"), nb::arg("offsets"), nb::arg("lengths"),
           nb::arg("numbers"), nb::arg("verify"));

  module.def("scan_offsets", &scan, nb::arg("path"), nb::arg("compression"), nb::arg("verify"));
  module.def("verify_files", &verify, nb::arg("paths"), nb::arg("compressions"), nb::arg("threads"));
  module.def("census", &census_of, nb::arg("paths"), nb::arg("compressions"), nb::arg("records_per_file"),
             nb::arg("bytes_per_file"), nb::arg("verify"), nb::arg("stop_at_damage"));
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
