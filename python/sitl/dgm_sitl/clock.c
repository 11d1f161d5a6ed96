/* The clock of the simulation, for a firmware that runs as a program of this computer (LD_PRELOAD).
 *
 * Betaflight's SITL counts CLOCK_MONOTONIC, scaled by how fast packets of the simulation arrive: two that arrive together let its
 * clock leap, and a busy computer lets it miss most of its control loops. Here time is that of the packets. Behind each packet the
 * firmware's main thread has the time up to the next one, half a microsecond for each look at the clock; then its clock stands, and
 * the next packet is taken. So every control loop runs, at its time, however busy the computer is. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PACKET (18 * sizeof(double)) /* of a state; its first number is the time, s */
#define LOOK 0.5e-6                  /* s */
#define WAIT 20000                   /* ns, of the computer */
#define LONGEST 0.1                  /* s, from one packet to the next */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static double simulated, offset, step, passed; /* s: of the last packet, of the clock from it, to the next packet, since then */
static int begun, states = -1;                 /* states: the socket of packets */
static __thread int takes;                     /* this thread takes packets */

static void pause_briefly(void) {
    struct timespec t = {0, WAIT};
    syscall(SYS_nanosleep, &t, NULL);
}

static int stands(void) {
    pthread_mutex_lock(&lock);
    int yes = !begun || passed >= step;
    pthread_mutex_unlock(&lock);
    return yes;
}

static double computer(void) {
    struct timespec t;
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

ssize_t recvfrom(int fd, void *restrict buffer, size_t size, int flags, struct sockaddr *restrict from, socklen_t *restrict length) {
    static ssize_t (*next)(int, void *, size_t, int, struct sockaddr *, socklen_t *);
    if (!next)
        next = (ssize_t (*)(int, void *, size_t, int, struct sockaddr *, socklen_t *))dlsym(RTLD_NEXT, "recvfrom");
    while (fd == states && !stands())
        pause_briefly();
    ssize_t n = next(fd, buffer, size, flags, from, length);
    if (n == (ssize_t)PACKET) {
        double t;
        memcpy(&t, buffer, sizeof t);
        pthread_mutex_lock(&lock);
        if (!begun)
            offset = computer() - t;
        else if (t > simulated && t - simulated < LONGEST)
            step = t - simulated;
        simulated = t;
        passed = 0;
        states = fd;
        begun = takes = 1;
        pthread_mutex_unlock(&lock);
    }
    return n;
}

int clock_gettime(clockid_t id, struct timespec *out) {
    if (id != CLOCK_MONOTONIC || !begun)
        return (int)syscall(SYS_clock_gettime, id, out);
    pthread_mutex_lock(&lock);
    double t = simulated + offset;
    if (!takes) {
        if (passed < step && syscall(SYS_gettid) == getpid())
            passed = passed + LOOK < step ? passed + LOOK : step;
        t += passed;
    }
    pthread_mutex_unlock(&lock);
    out->tv_sec = (time_t)t;
    out->tv_nsec = (long)((t - (double)out->tv_sec) * 1e9);
    return 0;
}

/* The main thread rests between its loops, but where its clock stands. */
int nanosleep(const struct timespec *asked, struct timespec *left) {
    if (!begun || asked->tv_sec > 0 || asked->tv_nsec > 1000000)
        return (int)syscall(SYS_nanosleep, asked, left);
    if (stands())
        pause_briefly();
    return 0;
}
