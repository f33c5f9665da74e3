/*
 * The server that the probers of the benchmarks ask: it answers each HTTP request with 200 and closes the connection;
 * on the second port it accepts and closes when the peer has. Prints `HTTP-PORT TCP-PORT`; ends with its standard
 * input. In C, so that two cores are enough for a prober and what it probes.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define EVENTS 256
#define BACKLOG 4096

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

/* A TCP probe sends nothing, so only an HTTP request is answered. */
static void take(int fd) {
  char request[4096];
  ssize_t length = read(fd, request, sizeof request);
  if (length < 0 && errno == EAGAIN) return;
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
      if (fd == STDIN_FILENO) return 0;
      if (fd != http && fd != tcp) take(fd);
      else
        while ((accepted = accept4(fd, NULL, NULL, SOCK_NONBLOCK)) >= 0) watch(epoll, accepted);
    }
  }
}
