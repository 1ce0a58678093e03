#include "host/line/serial_line.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "host/line/serial_socket.h"

enum { DEFAULT_BAUD = 115200, XON = 0x11, XOFF = 0x13 };
enum { DRAIN_MS = 10000, DRAIN_STEP_MS = 20 };

static const struct {
    uint32_t baud;
    speed_t speed;
} speeds[] = {
    { 300, B300 },         { 600, B600 },         { 1200, B1200 },       { 2400, B2400 },
    { 4800, B4800 },       { 9600, B9600 },       { 19200, B19200 },     { 38400, B38400 },
    { 57600, B57600 },     { 115200, B115200 },   { 230400, B230400 },   { 460800, B460800 },
    { 500000, B500000 },   { 576000, B576000 },   { 921600, B921600 },   { 1000000, B1000000 },
    { 1152000, B1152000 }, { 1500000, B1500000 }, { 2000000, B2000000 }, { 2500000, B2500000 },
    { 3000000, B3000000 }, { 3500000, B3500000 }, { 4000000, B4000000 },
};

uint64_t serial_millis(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static bool find_speed(struct serial_line *s, uint32_t baud, speed_t *speed)
{
    for (size_t i = 0; i < sizeof speeds / sizeof speeds[0]; i++) {
        if (speeds[i].baud == baud) {
            *speed = speeds[i].speed;
            return true;
        }
    }
    snprintf(
        s->error_message, sizeof s->error_message,
        "--baud %u is a rate that this system does not know: use 9600, 115200, 921600 or another "
        "common one",
        (unsigned)baud);
    return false;
}

static bool refuse_device(struct serial_line *s, int error)
{
    const char *cure = strerror(error);

    if (error == EACCES) {
        cure = "no permission: `sudo usermod -aG dialout $USER`, then log in again";
    } else if (error == ENOENT || error == ENODEV || error == ENXIO) {
        cure = "no such device: plug the adapter in; `ls /dev/ttyUSB* /dev/ttyACM* "
               "/dev/serial/by-id/*` shows what there is";
    } else if (error == EBUSY) {
        cure = "another program has it open: close that terminal";
    } else if (error == ENOTTY) {
        cure = "not a serial device";
    }
    if (serial_socket_is(s->path)) {
        cure = error == EINVAL ? "a socket is unix:PATH, tcp:HOST:PORT or http://HOST"
                               : strerror(error);
        cure = error == EACCES ? "the board wants its token: set INGOT_TOKEN" : cure;
        cure = error == EPROTO ? "the address is not a board with a network" : cure;
    }
    snprintf(s->error_message, sizeof s->error_message, "%.250s: %s", s->path, cure);
    return false;
}

static bool set_raw(int fd, speed_t speed)
{
    struct termios t;

    if (tcgetattr(fd, &t) != 0) {
        return false;
    }
    cfmakeraw(&t);
    t.c_iflag |= IXON | IXOFF;
    t.c_cflag &= ~(tcflag_t)(CSTOPB | PARENB | CRTSCTS);
    t.c_cflag |= CS8 | CLOCAL | CREAD;
    cfsetispeed(&t, speed);
    cfsetospeed(&t, speed);
    return tcsetattr(fd, TCSANOW, &t) == 0 && tcflush(fd, TCIFLUSH) == 0;
}

static bool open_socket(struct serial_line *s)
{
    s->fd = serial_socket_open(s->path);
    if (s->fd < 0 || fcntl(s->fd, F_SETFL, O_NONBLOCK) != 0) {
        return refuse_device(s, errno);
    }
    s->heard_ms = serial_millis();
    return true;
}

/* Like refuse_device(), but also closes the device. */
static bool close_refused(struct serial_line *s, int error)
{
    close(s->fd);
    return refuse_device(s, error);
}

bool serial_open(struct serial_line *s, const char *path, uint32_t baud)
{
    speed_t speed;

    memset(s, 0, sizeof *s);
    s->path = path;
    if (serial_socket_is(path)) {
        return open_socket(s);
    }
    if (baud == 0) {
        baud = DEFAULT_BAUD;
    }
    if (!find_speed(s, baud, &speed)) {
        return false;
    }
    s->fd = open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    if (s->fd < 0) {
        return refuse_device(s, errno);
    }
    if (!isatty(s->fd)) {
        return close_refused(s, ENOTTY);
    }
    /* TIOCEXCL does not stop root; the lock, which pyserial uses too, does. */
    if (flock(s->fd, LOCK_EX | LOCK_NB) != 0) {
        return close_refused(s, errno == EWOULDBLOCK ? EBUSY : errno);
    }
    if (ioctl(s->fd, TIOCEXCL) != 0 || !set_raw(s->fd, speed)) {
        return close_refused(s, errno);
    }
    s->heard_ms = serial_millis();
    return true;
}

bool serial_send(struct serial_line *s, const char *bytes, size_t n)
{
    if (n > sizeof s->out - s->n_out) {
        return false;
    }
    memcpy(s->out + s->n_out, bytes, n);
    s->n_out += n;
    return true;
}

static void take_byte(struct serial_line *s, char byte,
                      void (*take)(void *context, char *line, size_t bytes), void *context)
{
    if (byte == XOFF || byte == XON) { /* no event contains these bytes */
        s->paused = byte == XOFF;
    } else if (byte == '\n') {
        take(context, s->in, s->n_in);
        s->n_in = 0;
    } else if (byte != '\r' && s->n_in + 1 < sizeof s->in) {
        s->in[s->n_in++] = byte;
    }
    s->in[s->n_in] = '\0';
}

static void take_raw(struct serial_line *s, char *bytes, size_t n,
                     void (*take)(void *context, char *line, size_t bytes), void *context)
{
    size_t kept = 0;

    for (size_t i = 0; i < n; i++) {
        if (bytes[i] == XOFF || bytes[i] == XON) {
            s->paused = bytes[i] == XOFF;
        } else {
            bytes[kept++] = bytes[i];
        }
    }
    take(context, bytes, kept);
}

static bool gone(struct serial_line *s, const char *why)
{
    snprintf(s->error_message, sizeof s->error_message, "%.60s: was the adapter pulled out?", why);
    return false;
}

static bool receive(struct serial_line *s, void (*take)(void *context, char *line, size_t bytes),
                    void *context)
{
    char bytes[4096];
    ssize_t n = read(s->fd, bytes, sizeof bytes);

    if (n == 0) {
        return gone(s, "the other end closed the line");
    }
    if (n < 0) {
        return errno == EAGAIN || errno == EINTR || gone(s, strerror(errno));
    }
    if (s->raw) {
        take_raw(s, bytes, (size_t)n, take, context);
    }
    for (ssize_t i = 0; i < n && !s->raw; i++) {
        take_byte(s, bytes[i], take, context);
    }
    s->heard_ms = serial_millis();
    return true;
}

static bool transmit(struct serial_line *s)
{
    ssize_t n = write(s->fd, s->out, s->n_out);

    if (n < 0) {
        return errno == EAGAIN || errno == EINTR || gone(s, strerror(errno));
    }
    s->n_out -= (size_t)n;
    memmove(s->out, s->out + n, s->n_out);
    return true;
}

void serial_ask(struct serial_line *s)
{
    if (s->heard_ms != 0 && serial_millis() - s->heard_ms > SERIAL_DEAF_MS) {
        (void)serial_send(s, "\3", 1);
    } else {
        (void)serial_send(s, "\5\n", 2);
    }
}

size_t serial_mode_line(char *out, uint32_t silence_s, unsigned tried)
{
    enum { BYTES = 32 };
    int n = silence_s != 0 && tried % 2 == 0
                ? snprintf(out, BYTES, "/mode json %u\n", (unsigned)silence_s)
                : snprintf(out, BYTES, "/mode json\n");

    return (size_t)n;
}

bool serial_step(struct serial_line *s, int timeout_ms, bool *typed,
                 void (*take)(void *context, char *line, size_t bytes), void *context)
{
    struct pollfd fds[2] = { { .fd = s->fd, .events = POLLIN }, { .fd = -1, .events = POLLIN } };

    if (s->n_out != 0 && !s->paused) {
        fds[0].events |= POLLOUT;
    }
    if (typed != NULL) {
        fds[1].fd = s->watched;
    }
    if (poll(fds, 2, timeout_ms) < 0) {
        return errno == EINTR || gone(s, strerror(errno));
    }
    if (typed != NULL) {
        *typed = fds[1].revents != 0;
    }
    if ((fds[0].revents & POLLOUT) != 0 && !transmit(s)) {
        return false;
    }
    return (fds[0].revents & ~POLLOUT) == 0 || receive(s, take, context);
}

static void take_nothing(void *context, char *line, size_t bytes)
{
    (void)context;
    (void)line;
    (void)bytes;
}

bool serial_set_baud(struct serial_line *s, uint32_t baud)
{
    uint64_t start = serial_millis();
    struct termios t;
    speed_t speed;

    while (s->n_out != 0 && serial_millis() - start < DRAIN_MS) {
        if (!serial_step(s, DRAIN_STEP_MS, NULL, take_nothing, NULL)) {
            return false;
        }
    }
    if (serial_socket_is(s->path)) {
        return true;
    }
    if (!find_speed(s, baud == 0 ? DEFAULT_BAUD : baud, &speed)) {
        return false;
    }
    if (tcdrain(s->fd) != 0 || tcgetattr(s->fd, &t) != 0) {
        return gone(s, strerror(errno));
    }
    cfsetispeed(&t, speed);
    cfsetospeed(&t, speed);
    return tcsetattr(s->fd, TCSADRAIN, &t) == 0 || gone(s, strerror(errno));
}
