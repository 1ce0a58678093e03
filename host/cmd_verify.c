#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "host/commands.h"
#include "flash_image/pack/ingot_file.h"

enum { FINE = 0, FAILED = 1, USAGE = 2 };

static void help(void)
{
    puts(
        "usage: ingot verify FILE.ingot\n"
        "Check every checksum and every field of an .ingot file, and that no weight is infinite or\n"
        "NaN. Names each damaged part.\n"
        "Exit status: 0 all is well, 1 something is damaged.");
}

static int verify(const char *path)
{
    struct ingot_file f;
    char problem[512];
    unsigned damaged = 0;
    unsigned n;

    if (ingot_file_open(&f, path, problem, sizeof problem) != ERR_OK) {
        fprintf(stderr, "ingot: %s\n", problem);
        return FAILED;
    }
    n = f.image.header->segments.count;
    for (unsigned i = 0; i < n; i++) {
        if (ingot_file_check_segment(&f, i) != ERR_OK || ingot_file_check_finite(&f, i) != ERR_OK) {
            fprintf(stderr, "ingot: %s: %s\n", path, f.image.problem);
            damaged++;
        }
    }
    if (damaged == 0) {
        printf("%s: header, 6 sections and %u segments are as they were written\n", path, n);
    }
    ingot_file_close(&f);
    return exit_status(damaged == 0);
}

int cmd_verify(int argc, char **argv)
{
    if (argc == 2 && (strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "--help") == 0)) {
        help();
        return FINE;
    }
    if (argc != 2 || argv[1][0] == '-') {
        fprintf(stderr, "ingot: verify takes one file; see `ingot verify --help`\n");
        return USAGE;
    }
    return verify(argv[1]);
}
