#include "files/mapped_file.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <thread>
#include <vector>

#include "records/record_access.h"
#include "tests/made_records.h"

namespace recordsmith::testing {
namespace {

Content filled(const std::string& text) { return {text.begin(), text.end()}; }

struct OpenFile {
  explicit OpenFile(const std::string& path) : descriptor(::open(path.c_str(), O_RDWR)) {}
  ~OpenFile() { ::close(descriptor); }
  int descriptor;
};

TEST(copies_give_the_bytes_of_the_file) {
  const TemporaryFolder folder;
  folder.write("made", filled(std::string(5000, 'a') + "needle" + std::string(5000, 'b')));
  const OpenFile file(folder.file("made"));
  MappedFile::arm();
  const auto mapped = MappedFile::map(file.descriptor, 0, 10006, MappedFile::Access::kRandom);
  CHECK(mapped != nullptr);
  std::string copy(6, '?');
  CHECK(mapped->copy(5000, copy.data(), copy.size()));
  CHECK(copy == "needle");
  CHECK(!mapped->copy(10001, copy.data(), 6));
  CHECK(!mapped->copy(~std::uint64_t{0}, copy.data(), 6));
  CHECK(mapped->copy(10006, copy.data(), 0));
}

TEST(a_file_cut_short_while_it_is_mapped_is_a_failed_copy) {
  const TemporaryFolder folder;
  folder.write("made", filled(std::string(1 << 20, 'a')));
  const OpenFile file(folder.file("made"));
  MappedFile::arm();
  const auto mapped = MappedFile::map(file.descriptor, 0, 1 << 20, MappedFile::Access::kInOrder);
  CHECK(ftruncate(file.descriptor, 4096) == 0);
  std::vector<std::thread> threads;
  std::vector<int> copied(8, 0);
  for (std::size_t i = 0; i < copied.size(); ++i) {
    threads.emplace_back([&, i] {
      std::string copy(10000, '?');
      for (int times = 0; times < 100; ++times) copied[i] += mapped->copy(500000, copy.data(), copy.size());
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const int times : copied) CHECK_EQUAL(times, 0);
  std::string copy(4096, '?');
  CHECK(mapped->copy(0, copy.data(), copy.size()));
}

TEST(records_of_a_file_cut_short_are_a_status) {
  const TemporaryFolder folder;
  folder.write("made", framed({std::string(9000, 'a'), std::string(9000, 'b'), std::string(9000, 'c')}));
  std::shared_ptr<File> opened;
  CHECK_OK(File::open(folder.file("made"), &opened));
  const std::vector<std::shared_ptr<const File>> files{opened};
  const std::vector<RecordPlace> places{{0, 2 * 9016, 9000, 2}, {0, 0, 9000, 0}};
  Buffer memory;
  std::vector<RecordView> records;
  CHECK_OK(read_records(files, places, true, &memory, &records));
  CHECK_EQUAL(records.size(), 2u);
  CHECK(records[0].data[0] == 'c' && records[1].data[0] == 'a');

  // The places were checked against the whole file; then it is cut.
  CHECK(truncate(folder.file("made").c_str(), 5000) == 0);
  std::string first(9000, '?');
  std::string second(9000, '?');
  const std::vector<std::uint8_t*> targets{reinterpret_cast<std::uint8_t*>(first.data()),
                                           reinterpret_cast<std::uint8_t*>(second.data())};
  const Status status = read_payloads(files, places, true, 1, targets);
  CHECK(!status.is_ok() && status.failure().code == Code::kChanged);
}

TEST(a_handler_that_was_there_before_gets_the_other_faults) {
  const pid_t child = fork();
  if (child == 0) {
    struct sigaction theirs = {};
    theirs.sa_sigaction = [](int, siginfo_t*, void*) { _exit(42); };
    theirs.sa_flags = SA_SIGINFO;
    sigaction(SIGBUS, &theirs, nullptr);
    MappedFile::arm();
    raise(SIGBUS);
    _exit(1);
  }
  int outcome = 0;
  CHECK(waitpid(child, &outcome, 0) == child);
  CHECK(WIFEXITED(outcome) && WEXITSTATUS(outcome) == 42);
}

TEST(a_fault_of_someone_else_still_ends_the_process) {
  const pid_t child = fork();
  if (child == 0) {
    struct sigaction standard = {};
    standard.sa_handler = SIG_DFL;
    sigaction(SIGBUS, &standard, nullptr);
    MappedFile::arm();
    const TemporaryFolder folder;
    folder.write("made", filled(std::string(8192, 'a')));
    const OpenFile file(folder.file("made"));
    const auto* data =
        static_cast<const volatile char*>(mmap(nullptr, 8192, PROT_READ, MAP_SHARED, file.descriptor, 0));
    if (ftruncate(file.descriptor, 0) != 0) _exit(2);
    _exit(data[5000] == 0 ? 1 : 3);
  }
  int outcome = 0;
  CHECK(waitpid(child, &outcome, 0) == child);
  CHECK(WIFSIGNALED(outcome) && WTERMSIG(outcome) == SIGBUS);
}

}  // namespace
}  // namespace recordsmith::testing
