// Index files: building, writing and reading them.
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <optional>

#include "bindings/parts.h"
#include "bindings/python/array_export.h"
#include "bindings/python/index_parts.h"
#include "bindings/python/status.h"

namespace recordsmith {
namespace {

using Uint64Array = nb::ndarray<const std::uint64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

nb::tuple facts_tuple(const IndexFacts& facts) {
  return nb::make_tuple(identity_tuple(facts.file), compression_name(facts.compression), facts.content);
}

// The index of a file: its facts, and its offsets.
nb::tuple build(const nb::str& given, const std::string& compression) {
  const std::string path = path_of(given);
  IndexFacts facts;
  std::vector<std::uint64_t> offsets;
  run([&] {
    const auto add = [&offsets](std::uint64_t offset) {
      offsets.push_back(offset);
      return Status::ok();
    };
    return build_index({path, compression_of(compression)}, add, &facts);
  });
  return nb::make_tuple(facts_tuple(facts), export_offsets(offsets));
}

// The same into an index file, with hardly any memory.
void build_file(const nb::str& given, const std::string& compression, const nb::str& target) {
  const std::string path = path_of(given);
  const std::string to = path_of(target);
  run([&] {
    IndexFacts facts;
    std::unique_ptr<IndexWriter> writer;
    RECORDSMITH_RETURN_IF_ERROR(IndexWriter::create(to, &writer));
    const auto add = [&writer](std::uint64_t offset) { return writer->add(offset); };
    RECORDSMITH_RETURN_IF_ERROR(build_index({path, compression_of(compression)}, add, &facts));
    return writer->finish(facts);
  });
}

void write_file(const nb::str& target, const nb::tuple& identity, const std::string& compression, std::uint64_t content,
                Uint64Array offsets) {
  const std::string to = path_of(target);
  if (offsets.shape(0) == 0) throw nb::value_error("offsets need an entry for the end");
  const IndexFacts facts{identity_of(identity), compression_of(compression).value_or(Compression::kNone),
                         offsets.shape(0) - 1, content};
  run([&] {
    std::unique_ptr<IndexWriter> writer;
    RECORDSMITH_RETURN_IF_ERROR(IndexWriter::create(to, &writer));
    for (std::size_t i = 0; i < offsets.shape(0); ++i) RECORDSMITH_RETURN_IF_ERROR(writer->add(offsets.data()[i]));
    return writer->finish(facts);
  });
}

// An index file that fits a file; None if it does not fit or is not an index.
std::optional<SharedIndex> open_fitting(const nb::str& given, const nb::str& of) {
  const std::string path = path_of(given);
  const std::string data = path_of(of);
  std::unique_ptr<IndexFile> index;
  bool fits = false;
  run([&] {
    const Status opened = IndexFile::open(path, &index);
    return opened.is_ok() ? index->fits(data, &fits) : Status::ok();
  });
  if (!fits) return std::nullopt;
  return SharedIndex{std::move(index)};
}

// An index file, whatever it is the index of; None if it is not an index.
std::optional<SharedIndex> open_any(const nb::str& given) {
  std::unique_ptr<IndexFile> index;
  if (!IndexFile::open(path_of(given), &index).is_ok()) return std::nullopt;
  return SharedIndex{std::move(index)};
}

nb::object read_offsets(const SharedIndex& index, std::uint64_t first, std::uint64_t last) {
  if (first > last || last > index.file->count()) throw nb::index_error("the index has no such offsets");
  PooledArray<std::uint64_t> offsets;
  const auto many = static_cast<std::size_t>(last - first);
  offsets.reserve(many + 1, 0);
  MappedFile::arm();
  run([&] { return index.file->read(first, many, offsets.data()); });
  return export_uint64s(std::move(offsets), many);
}

}  // namespace

void bind_indexing(nb::module_& module) {
  nb::class_<SharedIndex>(module, "IndexFile")
      .def_static("open_fitting", &open_fitting, nb::arg("path"), nb::arg("data"))
      .def_static("open", &open_any, nb::arg("path"))
      .def("__len__", [](const SharedIndex& index) { return index.file->count(); })
      .def("read", &read_offsets, nb::arg("first"), nb::arg("last"))
      .def("is_sound",
           [](const SharedIndex& index) {
             MappedFile::arm();
             return index.file->is_sound();
           })
      .def_prop_ro("facts", [](const SharedIndex& index) { return facts_tuple(index.file->facts()); });
  module.def("build_index", &build, nb::arg("path"), nb::arg("compression"));
  module.def("build_index_file", &build_file, nb::arg("path"), nb::arg("compression"), nb::arg("target"));
  module.def("write_index_file", &write_file, nb::arg("target"), nb::arg("identity"), nb::arg("compression"),
             nb::arg("content"), nb::arg("offsets"));
}

}  // namespace recordsmith
