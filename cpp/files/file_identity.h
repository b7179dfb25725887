// What a file was when it was first seen, so that a change is noticed.
//
//   inode, size, modified, changed   what the system says; times in nanoseconds. `changed` (ctime) moves with every
//                                    change and, unlike `modified`, cannot be set back. The device is left out: its
//                                    number differs from one boot or mount to the next.
//   sample                           a digest of four blocks: the file's head, its tail, and two between them
//   noted                            when all this was recorded
//
// The rule by which a file is unchanged (File::check_unchanged):
//
//   - inode, size and both times are the same: yes.
//   - size and `modified` are the same, the others are not: if the sample is the same. The file was copied or
//     linked, or its mode was changed.
//   - the inode is the same, the size has grown: if the sample of its former bytes is the same. Records were appended.
//   - anything else: no.
//
// A system's clock for files may stand still for some milliseconds. A file that changed so shortly before it was noted
// is not settled: a second change might not show, and until then the sample is compared in any case.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

struct stat;

namespace recordsmith {

struct FileFacts {
  std::uint64_t inode = 0;
  std::uint64_t size = 0;
  std::int64_t modified = 0;
  std::int64_t changed = 0;

  bool operator==(const FileFacts&) const = default;
};

struct FileIdentity {
  FileFacts facts;
  std::uint64_t sample = 0;
  std::int64_t noted = 0;

  bool is_settled() const;
};

FileFacts facts_of(const struct stat& status);
// What the system says of a file that is not open; nothing if it is missing or not a regular file.
std::optional<FileFacts> look_at(const std::string& path);
// Whether a file may be unchanged, by what the system says.
bool may_be_same(const FileFacts& before, const FileFacts& now);
std::int64_t nanoseconds_now();
// The digest of four blocks of an open file's first `size` bytes. Returns errno, or 0; a file that has become shorter
// has another digest.
int sample_file(int descriptor, std::uint64_t size, std::uint64_t* sample);

}  // namespace recordsmith
