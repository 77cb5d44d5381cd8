/* SPDX-License-Identifier: MIT */

#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "remote.h"
#include "util/text.h"

/* ssh's own failures; plateau has no such status. */
#define SSH_EXIT_FAILED 255

/* sshd hands the command to the user's shell. -ENOMEM. */
static int write_word(FILE *f, char before, const char *s) {
        _cleanup_free_ char *word = text_shell_word(s);

        if (!word)
                return -ENOMEM;
        fprintf(f, "%c%s", before, word);
        return 0;
}

static int make_command(char **ret, const Verb *verb, const Arguments *arguments) {
        char *text = NULL;
        size_t length;
        int r = 0;

        FILE *f = open_memstream(&text, &length);
        if (!f)
                return -ENOMEM;

        fprintf(f, "plateau %s", verb->name);
        for (size_t i = 0; r >= 0 && i < arguments->n_values; i++) {
                const ArgumentValue *v = &arguments->values[i];

                if (strcmp(v->option->name, "host") == 0)
                        continue;
                fprintf(f, " --%s", v->option->name);
                if (v->value)
                        r = write_word(f, '=', v->value);
        }
        fputs(" --", f);
        for (size_t i = 0; r >= 0 && i < arguments->n_words; i++)
                r = write_word(f, ' ', arguments->words[i]);

        if (fclose(f) != 0 || r < 0) {
                free(text);
                return -ENOMEM;
        }
        *ret = text;
        return 0;
}

static int spawn_ssh(pid_t *ret, const Cli *cli, const char *host, char *command) {
        bool terminal = !cli->json && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
        char *argv[6];
        size_t n = 0;
        posix_spawnattr_t attributes;
        sigset_t defaults;

        argv[n++] = (char *) "ssh";
        if (terminal)
                argv[n++] = (char *) "-t";
        argv[n++] = (char *) "--";
        argv[n++] = (char *) host;
        argv[n++] = command;
        argv[n] = NULL;

        int r = posix_spawnattr_init(&attributes);
        if (r != 0)
                return -r;
        sigemptyset(&defaults);
        sigaddset(&defaults, SIGPIPE);
        sigaddset(&defaults, SIGINT);
        posix_spawnattr_setsigdefault(&attributes, &defaults);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
        r = posix_spawnp(ret, "ssh", NULL, &attributes, argv, environ);
        posix_spawnattr_destroy(&attributes);
        return -r;
}

static int wait_for(pid_t pid) {
        int status;

        while (waitpid(pid, &status, 0) < 0)
                if (errno != EINTR)
                        return -errno;
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int remote_run(const Cli *cli, const char *host, const Verb *verb, const Arguments *arguments, Error *error) {
        _cleanup_free_ char *command = NULL;
        pid_t pid;

        int r = make_command(&command, verb, arguments);
        if (r < 0)
                return r;

        /* Ctrl-C is for the other side; its answer is what counts. */
        signal(SIGINT, SIG_IGN);
        r = spawn_ssh(&pid, cli, host, command);
        if (r < 0)
                return error_set(error, ERROR_UNREACHABLE, -r, "cannot run ssh: %s; -H needs an ssh client",
                                 strerror(-r));

        r = wait_for(pid);
        if (r == SSH_EXIT_FAILED)
                return error_set(error, ERROR_UNREACHABLE, ECONNREFUSED, "ssh to %s failed; see its message above",
                                 host);
        return r;
}
