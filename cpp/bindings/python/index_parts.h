// What of indexes goes between Python and the core.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <vector>

#include "records/record_index.h"

namespace recordsmith {

namespace nb = nanobind;

// What Python calls IndexFile.
struct SharedIndex {
  std::shared_ptr<const IndexFile> file;
};

// (inode, size, modified, changed, sample, noted)
inline nb::tuple identity_tuple(const FileIdentity& identity) {
  const FileFacts& facts = identity.facts;
  return nb::make_tuple(facts.inode, facts.size, facts.modified, facts.changed, identity.sample, identity.noted);
}

inline FileIdentity identity_of(const nb::tuple& of) {
  if (of.size() != 6) throw nb::value_error("an identity has six numbers");
  return {{nb::cast<std::uint64_t>(of[0]), nb::cast<std::uint64_t>(of[1]), nb::cast<std::int64_t>(of[2]),
           nb::cast<std::int64_t>(of[3])},
          nb::cast<std::uint64_t>(of[4]),
          nb::cast<std::int64_t>(of[5])};
}

inline std::vector<FileIdentity> identities_of(const nb::list& tuples) {
  std::vector<FileIdentity> identities;
  for (const nb::handle of : tuples) identities.push_back(identity_of(nb::cast<nb::tuple>(of)));
  return identities;
}

}  // namespace recordsmith
