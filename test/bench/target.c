/*
 * The server that the probers of the benchmarks ask: it answers each HTTP request with 200 and closes the connection;
 * on the second port it accepts and closes when the peer has. Prints `HTTP-PORT TCP-PORT`; ends with its standard
 * input. In C, so that two cores are enough for a prober and what it probes.
 *
 * Requests for `/t/N` are paced ones: their arrivals are kept. On the input, `reset` forgets them and `report MS` prints
 * `{"arrivals":N,"paths":N,"latenessP99Ms":N,"lastMs":N}`. Late is an arrival behind the best phase of its path at that
 * period; `lastMs`: when, after the reset, the last of the paths came for the first time.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define EVENTS 256
#define BACKLOG 4096

#define PATHS 20000
#define ARRIVALS 128

static double arrived[PATHS][ARRIVALS];
static int arrivals[PATHS];
static double reset_at;

static const char answer[] =
    "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok";

static void fail(const char *what) {
  perror(what);
  exit(1);
}

static int listening(int *port) {
  int on = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_ANY)};
  socklen_t size = sizeof at;
  if (fd < 0) fail("socket");
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind(fd, (struct sockaddr *)&at, sizeof at) || listen(fd, BACKLOG)) fail("listen");
  if (getsockname(fd, (struct sockaddr *)&at, &size)) fail("getsockname");
  *port = ntohs(at.sin_port);
  return fd;
}

static void watch(int epoll, int fd) {
  struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
  if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event)) fail("epoll_ctl");
}

static double now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1e3 + now.tv_nsec / 1e6;
}

static void note(const char *request, ssize_t length) {
  int path;
  if (length < 7 || memcmp(request, "GET /t/", 7) || (path = atoi(request + 7)) < 0 || path >= PATHS) return;
  if (arrivals[path] < ARRIVALS) arrived[path][arrivals[path]++] = now_ms();
}

static int compared(const void *one, const void *other) {
  double difference = *(const double *)one - *(const double *)other;
  return difference < 0 ? -1 : difference > 0;
}

static void report(double period) {
  static double late[PATHS * ARRIVALS];
  int count = 0, paths = 0;
  double last = reset_at;
  for (int path = 0; path < PATHS; path++) {
    double best = INFINITY, offset[ARRIVALS];
    for (int at = 0; at < arrivals[path]; at++) {
      double since = arrived[path][at] - arrived[path][0];
      offset[at] = since - round(since / period) * period;
      if (offset[at] < best) best = offset[at];
    }
    for (int at = 0; at < arrivals[path]; at++) late[count++] = offset[at] - best;
    if (arrivals[path] > 0 && arrived[path][0] > last) last = arrived[path][0];
    paths += arrivals[path] > 0;
  }
  qsort(late, count, sizeof *late, compared);
  printf("{\"arrivals\":%d,\"paths\":%d,\"latenessP99Ms\":%.3f,\"lastMs\":%.1f}\n", count, paths,
         count ? late[(int)(count * 0.99)] : 0, last - reset_at);
  fflush(stdout);
}

/* 0: the input has ended. Several commands may have come at once. */
static int command(void) {
  char lines[256];
  ssize_t length = read(STDIN_FILENO, lines, sizeof lines - 1);
  if (length <= 0) return 0;
  lines[length] = 0;
  for (char *line = strtok(lines, "\n"); line; line = strtok(NULL, "\n")) {
    if (!strncmp(line, "report ", 7)) report(atof(line + 7));
    else {
      memset(arrivals, 0, sizeof arrivals);
      reset_at = now_ms();
    }
  }
  return 1;
}

/* A TCP probe sends nothing, so only an HTTP request is answered. */
static void take(int fd) {
  char request[4096];
  ssize_t length = read(fd, request, sizeof request);
  if (length < 0 && errno == EAGAIN) return;
  note(request, length);
  if (length > 0 && write(fd, answer, sizeof answer - 1) < 0) length = -1;
  close(fd);
}

int main(void) {
  int http_port, tcp_port, epoll = epoll_create1(0);
  int http = listening(&http_port), tcp = listening(&tcp_port);
  struct epoll_event events[EVENTS];
  watch(epoll, http);
  watch(epoll, tcp);
  watch(epoll, STDIN_FILENO);
  printf("%d %d\n", http_port, tcp_port);
  fflush(stdout);
  for (;;) {
    int count = epoll_wait(epoll, events, EVENTS, -1);
    for (int at = 0; at < count; at++) {
      int fd = events[at].data.fd, accepted;
      if (fd == STDIN_FILENO) {
        if (!command()) return 0;
      } else if (fd != http && fd != tcp) take(fd);
      else
        while ((accepted = accept4(fd, NULL, NULL, SOCK_NONBLOCK)) >= 0) watch(epoll, accepted);
    }
  }
}
