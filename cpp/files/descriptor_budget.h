// A limit on the files that are open at a time, over all datasets of the process.
//
// A shuffled epoch reads from all shards at once, and a process may have 1,024 open files by default: as many as
// ImageNet has shards. Files that are read for records therefore lend their descriptor: when too many are open, one
// that was not used lately closes its own. Such a file continues to read from its mapping, and opens itself again when
// it needs more; it then checks that it is still the same file (file_identity.h).
//
// Thread-safe.
#pragma once

namespace recordsmith {

class File;

namespace descriptor_budget {

// `file` has opened a descriptor; another file may have to close its own.
void add(const File* file);
// `file` is about to be destroyed.
void remove(const File* file);
// All files close their descriptors: the process has reached its limit.
void release_all();

}  // namespace descriptor_budget
}  // namespace recordsmith
