/* The Linux program: `ingot COMMAND ...`. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/crc32c.h"
#include "runtime/base/sha256.h"

#include "flash_image/source/map_file.h"
#include "host/cli/commands.h"
#include "host/app/host_faults.h"
#include "board/host/host_board.h"
#include "board/host/host_cpu.h"
#include "board/host/host_terminal.h"
#include "host/args/shown_streams.h"

static bool is_one_of(const char *word, const char *a, const char *b)
{
    return strcmp(word, a) == 0 || strcmp(word, b) == 0;
}

static int run(int argc, char **argv)
{
    const struct command *command;

    if (argc < 2) {
        shown_streams_lines(true);
        command_list(stderr);
        shown_streams_lines(false);
        return EXIT_USAGE;
    }
    if (is_one_of(argv[1], "--help", "-h")) {
        command_list(stdout);
        return EXIT_FINE;
    }
    if (is_one_of(argv[1], "--version", "-V")) {
        puts("ingot " INGOT_VERSION_TEXT);
        return EXIT_FINE;
    }
    command = command_find(argv[1]);
    if (command == NULL) {
        return EXIT_USAGE;
    }
    return command->run(argc - 1, argv + 1);
}

/* Fail if a mapped file has changed, because the result of a command that read it is
 * wrong. */
static int check_inputs(int status)
{
    char error_message[640];

    if (status != EXIT_FINE || mapping_check_all(error_message, sizeof error_message) == ERR_OK) {
        return status;
    }
    fprintf(stderr, "ingot: %s\n", error_message);
    return EXIT_FAILED;
}

/* Fail if output was not written, because the disk is full or the reader is gone. */
static int close_output(int status)
{
    int error;

    host_console_flush();
    host_terminal_close();
    error = host_console_error();
    if (error == 0 && fflush(stdout) != 0) {
        error = errno;
    }
    if (error == 0 && close(1) != 0 && errno != EBADF) {
        error = errno;
    }
    if (error == 0 && !ferror(stdout)) {
        return status;
    }
    fprintf(stderr, "ingot: standard output: %s\n",
            error != 0 ? strerror(error) : "could not be written completely");
    return status == EXIT_FINE ? EXIT_FAILED : status;
}

int main(int argc, char **argv)
{
    static struct kernels kernels;

    shown_streams_open();
    host_faults_watch();
    kernels_select(&kernels, host_cpu_features());
    crc32c_use(&kernels); /* used for every file that a command reads or writes */
    sha256_use(&kernels);
    signal(SIGPIPE, SIG_IGN); /* the failing write reports the error */
    signal(SIGXFSZ, SIG_IGN);
    return close_output(check_inputs(run(argc, argv)));
}
