/* Put before `florc replay` (LD_PRELOAD; other programs are left alone): the time of day is that of another year and runs half as fast again, and the processor's time
 * runs three times as fast, for everything in the process: the script, libraries and florc. The clocks that only ever go on are
 * left: they differ in every run anyway, and what waits for a while waits by them.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <semaphore.h>
#include <stddef.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#define SECOND 1000000000LL
/* 400 days, and so much that no digit stays what it was. */
#define LATER (34567891LL * SECOND + 234567891LL)

typedef int (*clock_fn)(clockid_t, struct timespec *);

static int is_replay;
static long long began;
static clock_fn next_clock;

static long long to_ns(const struct timespec *at) { return at->tv_sec * SECOND + at->tv_nsec; }

static struct timespec from_ns(long long ns) { return (struct timespec){.tv_sec = ns / SECOND, .tv_nsec = ns % SECOND}; }

/* glibc hands a constructor what `main` gets. */
__attribute__((constructor)) static void look(int count, char **words)
{
    for (int at = 1; at < count; at++)
        is_replay |= strcmp(words[at], "replay") == 0;
}

static void begin(void)
{
    struct timespec now;
    next_clock = (clock_fn)dlsym(RTLD_NEXT, "clock_gettime");
    next_clock(CLOCK_REALTIME, &now);
    began = to_ns(&now);
}

int clock_gettime(clockid_t clock, struct timespec *at)
{
    if (next_clock == NULL)
        begin();
    int failed = next_clock(clock, at);
    if (failed || !is_replay)
        return failed;
    if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)
        *at = from_ns(began + LATER + (to_ns(at) - began) / 2 * 3);
    else if (clock == CLOCK_PROCESS_CPUTIME_ID || clock == CLOCK_THREAD_CPUTIME_ID)
        *at = from_ns(to_ns(at) * 3);
    return 0;
}

int gettimeofday(struct timeval *restrict at, void *restrict zone)
{
    struct timespec now;
    (void)zone;
    if (clock_gettime(CLOCK_REALTIME, &now))
        return -1;
    at->tv_sec = now.tv_sec;
    at->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *at)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (at != NULL)
        *at = now.tv_sec;
    return now.tv_sec;
}

/* Who waits until a time of day asked the clock above for it; the kernel knows its own. */
static struct timespec of_the_kernel(const struct timespec *until)
{
    long long ns = to_ns(until);
    return !is_replay || ns < began ? *until : from_ns(began + (ns - LATER - began) / 3 * 2);
}

int sem_timedwait(sem_t *restrict sem, const struct timespec *restrict until)
{
    typedef int (*wait_fn)(sem_t *, const struct timespec *);
    struct timespec there = of_the_kernel(until);
    return ((wait_fn)dlsym(RTLD_NEXT, "sem_timedwait"))(sem, &there);
}
