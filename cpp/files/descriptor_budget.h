// How many files stay open at a time, over all datasets of the process.
//
// A shuffled epoch goes through all shards at once, and a process may have 1,024 files open by default: as many as
// ImageNet has shards; a batch of many small shards read in order has parts of as many. Files that are read for records
// therefore lend their descriptor: one that was not used lately gives it back when there are too many. Such a file
// goes on reading from its mapping, and opens itself again where it needs more; that it is still the same file is
// checked then (file_identity.h).
//
// Any number of threads may use it.
#pragma once

namespace recordsmith {

class File;

namespace descriptor_budget {

// `file` has opened a descriptor; another file may have to give up its own.
void add(const File* file);
// `file` is going away.
void remove(const File* file);
// All files give up their descriptors: the process has no more.
void release_all();

}  // namespace descriptor_budget
}  // namespace recordsmith
