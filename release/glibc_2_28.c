// What the static libstdc++ of GCC 12 asks of glibc and glibc 2.28 does not have yet. Linked into the wheels of
// build_wheels.py, hidden, so that nothing outside the module sees it.
#include <pthread.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

#define HIDDEN __attribute__((visibility("hidden")))

// 2.32. A hint that atomic operations may be left out; they never are.
HIDDEN char __libc_single_threaded = 0;

// 2.36
HIDDEN unsigned arc4random(void) {
  unsigned value;
  if (getrandom(&value, sizeof value, 0) != (ssize_t)sizeof value) abort();
  return value;
}

// 2.30. Waits by the clock of the system instead: setting that clock may end the wait early or late.
HIDDEN int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                                  const struct timespec* until) {
  struct timespec there, here;
  clock_gettime(clock, &there);
  clock_gettime(CLOCK_REALTIME, &here);
  const long nanoseconds = until->tv_nsec - there.tv_nsec + here.tv_nsec;  // between -10^9 and 2 * 10^9
  const long carried = nanoseconds < 0 ? -1 : nanoseconds / 1000000000;
  const struct timespec same = {until->tv_sec - there.tv_sec + here.tv_sec + carried,
                                nanoseconds - carried * 1000000000};
  return pthread_cond_timedwait(condition, mutex, &same);
}
