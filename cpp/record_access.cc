#include "record_access.h"

namespace recordsmith {

Status read_records(std::span<const std::shared_ptr<const File>> files, std::span<const RecordPlace> places,
                    bool verify, Buffer* bytes, std::vector<RecordView>* records) {
  // The places are only claims until they have been held against the files: no memory is taken for them before that.
  std::vector<std::uint64_t> sizes(files.size(), kUnknown);
  std::uint64_t total = 0;
  for (const RecordPlace& place : places) {
    std::uint64_t& size = sizes[place.file];
    if (size == kUnknown) RECORDSMITH_RETURN_IF_ERROR(files[place.file]->size(&size));
    if (place.offset > size || size - place.offset < kFramingBytes ||
        place.length > size - place.offset - kFramingBytes) {
      Failure failure;
      failure.code = Code::kChanged;
      return Status(std::move(failure)).at(files[place.file]->path(), place.offset, place.number);
    }
    total += place.length + kFramingBytes;
  }
  *bytes = Buffer(static_cast<std::size_t>(total));
  records->clear();
  records->reserve(places.size());

  std::uint8_t* to = bytes->data();
  for (std::size_t first = 0; first < places.size();) {
    std::size_t last = first;
    std::uint64_t end = places[first].offset + places[first].length + kFramingBytes;
    while (last + 1 < places.size() && places[last + 1].file == places[first].file && places[last + 1].offset == end) {
      ++last;
      end += places[last].length + kFramingBytes;
    }
    const File& file = *files[places[first].file];
    const auto wanted = static_cast<std::size_t>(end - places[first].offset);
    std::size_t got = 0;
    RECORDSMITH_RETURN_IF_ERROR(file.read_at(places[first].offset, to, wanted, &got));
    for (; first <= last; ++first) {
      const RecordPlace& place = places[first];
      std::uint64_t length = 0;
      if (got < place.length + kFramingBytes || !read_header(to, &length) || length != place.length) {
        Failure failure;
        failure.code = Code::kChanged;
        return Status(std::move(failure)).at(file.path(), place.offset, place.number);
      }
      const RecordView record{to + kHeaderBytes, place.length, place.offset, place.number};
      if (verify) RECORDSMITH_RETURN_IF_ERROR(check_payload(record, file.path()));
      records->push_back(record);
      to += place.length + kFramingBytes;
      got -= static_cast<std::size_t>(place.length + kFramingBytes);
    }
  }
  return Status::ok();
}

}  // namespace recordsmith
