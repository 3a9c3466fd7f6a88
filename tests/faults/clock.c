/* A wall clock that jumps as it is told; the clock that only counts on is left alone. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/time.h>
#include <time.h>

static int way; /* 0 is right; others below; from 10 on the seed of random jumps */
static long asked;
static unsigned long drawn;

void set_clock(int to) {
  way = to;
  asked = 0;
  drawn = to;
}

static long jumped(long now) {
  long hour = 3600, year = 8766 * hour;
  asked++;
  switch (way) {
    case 0: return now;
    case 1: return now - hour;
    case 2: return now + 13 * year;
    case 3: return 1500000000;
    case 4: return now - asked * hour;
    case 5: return asked % 2 ? now : now - year;
    case 6: return -86400 * 7;
  }
  drawn = drawn * 6364136223846793005UL + 1442695040888963407UL;
  return now + (long)(drawn >> 34) - (1L << 29);
}

int clock_gettime(clockid_t clock, struct timespec *found) {
  static int (*real)(clockid_t, struct timespec *);
  if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
  int code = real(clock, found);
  if (!code && clock == CLOCK_REALTIME) {
    found->tv_sec = jumped(found->tv_sec);
    if (way == 3) found->tv_nsec = 0;
  }
  return code;
}

time_t time(time_t *kept) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (kept) *kept = now.tv_sec;
  return now.tv_sec;
}

int gettimeofday(struct timeval *found, void *zone) {
  struct timespec now;
  (void)zone;
  clock_gettime(CLOCK_REALTIME, &now);
  found->tv_sec = now.tv_sec;
  found->tv_usec = now.tv_nsec / 1000;
  return 0;
}
