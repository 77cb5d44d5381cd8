/* SPDX-License-Identifier: MIT */

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "config.h"
#include "util/parse.h"
#include "util/text.h"
#include "worker/session.h"

#define FD_DEFAULT 3

static const char help[] =
        "Usage: plateau-worker [--fd N]\n"
        "\n"
        "Runs one job on one block device for plateaud, which starts it with a socket as\n"
        "file descriptor 3. It is of no use by hand: start runs with `plateau start`.\n"
        "\n"
        "  --fd N      the socket's file descriptor (default 3)\n"
        "  --help      show this\n"
        "  --version   show the version\n";

/* -1: goes on; else the exit status. */
static int arguments_parse(int argc, char **argv, int *ret_fd) {
        static const struct option options[] = {
                { "fd", required_argument, NULL, 'f' },
                { "help", no_argument, NULL, 'h' },
                { "version", no_argument, NULL, 'V' },
                {},
        };
        uint64_t fd;
        int c;

        while ((c = getopt_long(argc, argv, "h", options, NULL)) >= 0)
                switch (c) {
                case 'f':
                        if (parse_u64_range(optarg, 0, INT32_MAX, &fd) < 0) {
                                fprintf(stderr, "plateau-worker: --fd takes the number of a file descriptor\n");
                                return ERROR_USAGE;
                        }
                        *ret_fd = (int) fd;
                        break;
                case 'h':
                        fputs(help, stdout);
                        return 0;
                case 'V':
                        printf("plateau-worker %s\n", PLATEAU_VERSION);
                        return 0;
                default:
                        return ERROR_USAGE;
                }

        if (optind < argc) {
                fprintf(stderr, "plateau-worker: takes no arguments; see --help\n");
                return ERROR_USAGE;
        }

        return -1;
}

/* Someone who tries it by hand has anything else there, and must learn what to do instead. */
static bool fd_is_service(int fd) {
        int type;
        socklen_t size = sizeof(type);
        struct sockaddr address;
        socklen_t address_size = sizeof(address);

        return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_SEQPACKET &&
               getpeername(fd, &address, &address_size) == 0 && address.sa_family == AF_UNIX;
}

static void complain(const Error *error) {
        _cleanup_free_ char *text = text_escape(error_message(error));

        fprintf(stderr, "plateau-worker: %s\n", text ?: "out of memory");
}

int main(int argc, char **argv) {
        _cleanup_error_ Error error = ERROR_INIT;
        int fd = FD_DEFAULT;

        int status = arguments_parse(argc, argv, &fd);
        if (status >= 0)
                return status;
        if (!fd_is_service(fd)) {
                fprintf(stderr, "plateau-worker: file descriptor %d is no socket to plateaud, which alone can start "
                        "this program; to start a run, see `plateau start --help`\n", fd);
                return ERROR_USAGE;
        }

        /* A journal that is restarted must not take runs with it. */
        signal(SIGPIPE, SIG_IGN);
        int r = session_run(fd, &error);
        if (r < 0)
                complain(&error);

        /* Under the system-call filter there is no more than this: no atexit() handlers, nor the sanitizers' own. */
        fflush(stderr);
        _exit(r < 0 ? EXIT_FAILURE : EXIT_SUCCESS);
}
