// Records at places that an index gives, and by their numbers.
#include "records/record_access.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <thread>

#include "bindings/parts.h"
#include "bindings/python/array_export.h"
#include "bindings/python/index_parts.h"
#include "bindings/python/object_access.h"
#include "bindings/python/status.h"
#include "columns/record_decoding.h"
#include "records/framing/frame_reading.h"

namespace recordsmith {
namespace {

using Uint32Array = nb::ndarray<const std::uint32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Uint64Array = nb::ndarray<const std::uint64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Int64Array = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Plain files that stay open, and their records.
class OpenFiles {
 public:
  // Releases the pages of all files.
  void forget() {
    touched_.forget(list());
    forget_indexes();
  }

 protected:
  ~OpenFiles() = default;
  virtual const FileList& list() const = 0;
  Files files() const { return list().files(); }
  virtual void forget_indexes() {}

  nb::object payloads_at(const std::vector<RecordPlace>& places, bool verify) {
    std::uint64_t total = 0;
    raise_if_failed(check_places(files(), places, &total));
    // The bytes objects are filled in place: nobody else knows them yet.
    const nb::object payloads = nb::steal(PyList_New(static_cast<Py_ssize_t>(places.size())));
    if (!payloads.is_valid()) throw nb::python_error();
    std::vector<std::uint8_t*> targets(places.size());
    for (std::size_t i = 0; i < places.size(); ++i) {
      PyObject* payload = PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(places[i].length));
      if (payload == nullptr) throw nb::python_error();
      fill_list_item(payloads.ptr(), i, payload);
      targets[i] = reinterpret_cast<std::uint8_t*>(bytes_data(payload));
    }
    run([&] { return read_payloads(files(), places, verify, std::thread::hardware_concurrency(), targets); });
    count_pages(places.size(), total);
    return payloads;
  }

  // The records with their framing, one after the other.
  nb::object frames_at(const std::vector<RecordPlace>& places, bool verify) {
    Buffer bytes;
    std::vector<RecordView> records;
    std::uint64_t total = 0;
    const bool is_read = are_better_read(files(), places);
    run([&] {
      RECORDSMITH_RETURN_IF_ERROR(check_places(files(), places, &total));
      if (is_read) return read_frames(files(), places, &bytes);
      return read_records(files(), places, verify, &bytes, &records);
    });
    if (!is_read) count_pages(places.size(), total);
    return export_bytes(std::move(bytes), static_cast<std::size_t>(total));
  }

  // `find` gives the places, and is called without the GIL.
  template <typename Find>
  nb::list columns_at(const Plan& plan, bool verify, Find find) {
    std::unique_ptr<BatchDecoder> decoder = take_decoder(plan.plan);
    std::vector<RecordPlace> places;
    std::uint64_t bytes = 0;
    run([&] {
      RECORDSMITH_RETURN_IF_ERROR(find(&places));
      return decode_places(files(), places, verify, decoder.get(), &bytes);
    });
    count_pages(places.size(), bytes);
    ColumnBatch batch = decoder->finish();
    if (decoders_.size() < kMostDecoders) decoders_.push_back(std::move(decoder));
    return export_columns(std::move(batch));
  }

 private:
  static constexpr std::size_t kMostDecoders = 64;

  void count_pages(std::size_t records, std::uint64_t bytes) {
    if (touched_.add(list(), records, bytes)) forget();
  }

  // One that has decoded records with this plan before, and so knows what they look like; or a new one.
  std::unique_ptr<BatchDecoder> take_decoder(const std::shared_ptr<const FeaturePlan>& plan) {
    while (!decoders_.empty()) {
      std::unique_ptr<BatchDecoder> last = std::move(decoders_.back());
      decoders_.pop_back();
      if (last->plan() == plan) return last;
    }
    return std::make_unique<BatchDecoder>(plan);
  }

  std::vector<std::unique_ptr<BatchDecoder>> decoders_;  // that no call uses now; the GIL guards them
  TouchedPages touched_;
};

// Records at places that the caller knows.
class FileSet final : public OpenFiles {
 public:
  FileSet(const nb::list& paths, const std::optional<nb::list>& known)
      : files_(paths_of(paths), known.has_value() ? identities_of(*known) : std::vector<FileIdentity>()) {
    if (known.has_value() && known->size() != paths.size())
      throw nb::value_error("known must have an entry for each file");
  }

  nb::object read(Uint32Array files, Uint64Array offsets, Uint64Array lengths, Uint64Array numbers, bool verify) {
    return payloads_at(places_of(files, offsets, lengths, numbers), verify);
  }
  nb::object frames(Uint32Array files, Uint64Array offsets, Uint64Array lengths, Uint64Array numbers, bool verify) {
    return frames_at(places_of(files, offsets, lengths, numbers), verify);
  }
  nb::list decode(const Plan& plan, Uint32Array files, Uint64Array offsets, Uint64Array lengths, Uint64Array numbers,
                  bool verify) {
    std::vector<RecordPlace> given = places_of(files, offsets, lengths, numbers);
    return columns_at(plan, verify, [&](std::vector<RecordPlace>* places) {
      *places = std::move(given);
      return Status::ok();
    });
  }

 private:
  const FileList& list() const override { return files_; }

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
      raise_if_failed(files_.open(places[i].file));
    }
    return places;
  }

  FileList files_;
};

// Records by number, counted over all files, each of which has an index: an array of offsets, or an IndexFile.
class IndexedFiles final : public OpenFiles {
 public:
  IndexedFiles(const nb::list& paths, const nb::list& known, const nb::list& indexes)
      : table_(paths_of(paths), identities_of(known), offsets_of(indexes, &arrays_)) {
    if (indexes.size() != paths.size() || known.size() != paths.size())
      throw nb::value_error("each file needs an index");
  }

  nb::object read(Int64Array numbers, bool verify) { return payloads_at(places_of(numbers), verify); }
  nb::list decode(const Plan& plan, Int64Array numbers, bool verify) {
    const std::span<const std::int64_t> wanted = checked(numbers);
    return columns_at(plan, verify, [&](std::vector<RecordPlace>* places) { return table_.find(wanted, places); });
  }
  // Tells the stores of remote files that these records are read soon.
  void announce(Int64Array numbers) {
    const std::vector<RecordPlace> places = places_of(numbers);
    run([&] { return announce_records(files(), places); });
  }

 private:
  const FileList& list() const override { return table_.files(); }

  std::span<const std::int64_t> checked(const Int64Array& numbers) const {
    const std::span<const std::int64_t> wanted(numbers.data(), numbers.shape(0));
    for (const std::int64_t number : wanted) {
      if (number < 0 || static_cast<std::uint64_t>(number) >= table_.records()) {
        throw nb::index_error(("there is no record " + std::to_string(number) + ": the dataset has " +
                               std::to_string(table_.records()) + " now")
                                  .c_str());
      }
    }
    return wanted;
  }

  std::vector<RecordPlace> places_of(const Int64Array& numbers) {
    const std::span<const std::int64_t> wanted = checked(numbers);
    std::vector<RecordPlace> places;
    run([&] { return table_.find(wanted, &places); });
    return places;
  }

  static std::vector<std::shared_ptr<const Offsets>> offsets_of(const nb::list& indexes,
                                                                std::vector<Uint64Array>* arrays) {
    std::vector<std::shared_ptr<const Offsets>> all;
    for (const nb::handle index : indexes) {
      if (nb::isinstance<SharedIndex>(index)) {
        all.push_back(nb::cast<const SharedIndex&>(index).file);
      } else {
        const Uint64Array& array = arrays->emplace_back(nb::cast<Uint64Array>(index));
        all.push_back(std::make_shared<GivenOffsets>(std::span(array.data(), array.shape(0))));
      }
    }
    return all;
  }

  void forget_indexes() override { table_.forget(); }

  std::vector<Uint64Array> arrays_;  // kept alive: they are not copied
  RecordTable table_;
};

// Record numbers from Python ints that count within a range of rows (`count` rows from `start` in steps of `step`);
// negative ones count from the end. None if one is not an int or is outside of the range: Python then raises the error.
nb::object record_numbers(const nb::list& keys, std::int64_t start, std::int64_t step, std::int64_t count) {
  PooledArray<std::int64_t> numbers;
  numbers.reserve(keys.size() + 1, 0);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    PyObject* key = list_item(keys.ptr(), i);
    if (!PyLong_CheckExact(key)) return nb::none();
    int overflow = 0;
    const std::int64_t given = PyLong_AsLongLongAndOverflow(key, &overflow);
    if (overflow != 0 || given < -count || given >= count) return nb::none();
    numbers[i] = start + (given < 0 ? given + count : given) * step;
  }
  return export_int64s(std::move(numbers), keys.size());
}

}  // namespace

void bind_record_access(nb::module_& module) {
  nb::class_<FileSet>(module, "FileSet")
      .def(nb::init<const nb::list&, const std::optional<nb::list>&>(), nb::arg("paths"), nb::arg("known") = nb::none())
      .def("read", &FileSet::read, nb::arg("files"), nb::arg("offsets"), nb::arg("lengths"), nb::arg("numbers"),
           nb::arg("verify"))
      .def("forget", &FileSet::forget)
      .def("frames", &FileSet::frames, nb::arg("files"), nb::arg("offsets"), nb::arg("lengths"), nb::arg("numbers"),
           nb::arg("verify"))
      .def("decode", &FileSet::decode, nb::arg("plan"), nb::arg("files"), nb::arg("offsets"), nb::arg("lengths"),
           nb::arg("numbers"), nb::arg("verify"));

  nb::class_<IndexedFiles>(module, "IndexedFiles")
      .def(nb::init<const nb::list&, const nb::list&, const nb::list&>(), nb::arg("paths"), nb::arg("known"),
           nb::arg("indexes"))
      .def("read", &IndexedFiles::read, nb::arg("numbers"), nb::arg("verify"))
      .def("decode", &IndexedFiles::decode, nb::arg("plan"), nb::arg("numbers"), nb::arg("verify"))
      .def("announce", &IndexedFiles::announce, nb::arg("numbers"));

  module.def("record_numbers", &record_numbers, nb::arg("keys"), nb::arg("start"), nb::arg("step"), nb::arg("count"));
}

}  // namespace recordsmith
