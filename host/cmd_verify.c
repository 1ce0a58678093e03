#include <stdbool.h>
#include <stdio.h>

#include "host/commands.h"
#include "flash_image/pack/ingot_file.h"

#include "runtime/text/plural.h"

static int verify(const char *path)
{
    struct ingot_file f;
    char problem[512];
    unsigned damaged = 0;
    unsigned n;

    if (ingot_file_open(&f, path, problem, sizeof problem) != ERR_OK) {
        fprintf(stderr, "ingot: %s\n", problem);
        return EXIT_FAILED;
    }
    n = f.image.header->segments.count;
    for (unsigned i = 0; i < n; i++) {
        if (ingot_file_check_segment(&f, i) != ERR_OK || ingot_file_check_finite(&f, i) != ERR_OK) {
            fprintf(stderr, "ingot: %s: %s\n", path, f.image.problem);
            damaged++;
        }
    }
    if (damaged == 0) {
        printf("%s: header, 6 sections and %u %s are as they were written\n", path, n,
               plural(n, "segment", "segments"));
    }
    ingot_file_close(&f);
    return exit_status(damaged == 0);
}

struct arguments {
    const char *file;
};

static int run(int argc, char **argv)
{
    struct arguments a = { NULL };
    int status;

    if (!command_line_read(&cmd_verify, &a, argc, argv, &status)) {
        return status;
    }
    return verify(a.file);
}

const struct command cmd_verify = {
    .name = "verify",
    .operands = "FILE.ingot",
    .missing = "which file?",
    .summary = "check every checksum of an .ingot",
    .about = "Checks every checksum and every field of an .ingot file, and that no weight is\n"
             "infinite or NaN. Names each damaged part.\n"
             "Exit status: 0 all is well, 1 something is damaged.",
    .example = "ingot verify model.ingot",
    .operand_field = offsetof(struct arguments, file),
    .run = run,
};
