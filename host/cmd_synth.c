/* `ingot synth`: a model with random weights in a named shape. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/commands.h"
#include "host/host_args.h"
#include "flash_image/pack/pack.h"

static int usage(FILE *to)
{
    fputs("usage: ingot synth --shape NAME -o OUT [--type TYPE] [--seed N]\n"
          "Writes a model of a real shape with random weights, the same every time: for tests and\n"
          "figures. Shapes: tiny untied deep narrow wordy s15m smol135 tl2 tinyllama 4g.\n"
          "Types: f32 f16 q8_0 (unless said) q4_0 q4_k q6_k q4_k_m\n",
          to);
    return to == stdout ? EXIT_FINE : EXIT_USAGE;
}

int cmd_synth(int argc, char **argv)
{
    struct pack_options o = { .type = INGOT_Q8_0, .type_given = true };
    char problem[512];
    uint32_t seed = 1;

    for (int i = 1; i < argc; i += 2) {
        const char *value = argv[i + 1]; /* NULL: argv ends here */

        if (strcmp(argv[i], "-h") == 0 || strcmp(argv[i], "--help") == 0) {
            return usage(stdout);
        }
        if (value == NULL) {
            return usage(stderr);
        }
        if (strcmp(argv[i], "--shape") == 0) {
            o.input = value;
        } else if (strcmp(argv[i], "-o") == 0 || strcmp(argv[i], "--output") == 0) {
            o.output = value;
        } else if (strcmp(argv[i], "--seed") == 0) {
            seed = (uint32_t)strtoul(value, NULL, 0);
        } else if (strcmp(argv[i], "--type") != 0 || !pack_parse_type(value, &o)) {
            return usage(stderr);
        }
    }
    if (o.input == NULL || o.output == NULL) {
        return usage(stderr);
    }
    if (pack_synth(&o, seed, problem, sizeof problem) != ERR_OK) {
        fprintf(stderr, "ingot: %s\n", problem);
        return EXIT_FAILED;
    }
    return EXIT_FINE;
}
