#include <stdbool.h>
#include <stdio.h>

#include "host/cli/commands.h"
#include "host/args/shown_streams.h"
#include "flash_image/adapter/adapter.h"
#include "flash_image/pack/ingot_file.h"
#include "flash_image/signing/sign_file.h"
#include "flash_image/source/map_file.h"

#include "runtime/text/plural.h"

struct arguments {
    const char *file, *public_key;
};

/* Check the checksums of a model. */
static bool check_sums(const char *path)
{
    struct ingot_file f;
    char error_message[512];
    unsigned damaged = 0;
    unsigned n;

    if (ingot_file_open(&f, path, error_message, sizeof error_message) != ERR_OK) {
        fprintf(stderr, "ingot: %s\n", error_message);
        return false;
    }
    n = f.image.header->segments.count;
    for (unsigned i = 0; i < n; i++) {
        if (ingot_file_check_segment(&f, i) != ERR_OK || ingot_file_check_finite(&f, i) != ERR_OK) {
            fprintf(stderr, "ingot: %s: %s\n", path, f.image.error_message);
            damaged++;
        }
    }
    if (mapping_check(error_message, sizeof error_message) != ERR_OK) {
        fprintf(stderr, "ingot: %s\n", error_message);
        damaged++;
    }
    if (damaged == 0) {
        printf("%s: header, 6 sections and %u %s are as they were written\n", name_shown(path), n,
               plural(n, "segment", "segments"));
    }
    ingot_file_close(&f);
    return damaged == 0;
}

/* Check the signature, if the file has one or the user asks for it. */
static bool check_signature(const struct arguments *a)
{
    char error_message[512];
    struct sign_checked c;
    struct sign_key k;
    const struct signing *key = NULL;

    if (a->public_key != NULL) {
        if (sign_key_open(&k, a->public_key, false, error_message, sizeof error_message) !=
            ERR_OK) {
            fprintf(stderr, "ingot: %s\n", error_message);
            return false;
        }
        key = &k.signing;
    }
    if (sign_check(&c, key, a->file, error_message, sizeof error_message) != ERR_OK) {
        fprintf(stderr, "ingot: %s\n", error_message);
        return false;
    }
    if (c.state == SIGN_HOLDS) {
        printf("%s: signed by key %s, and all %u parts are unchanged since then\n",
               name_shown(a->file), name_shown(c.name), c.n_parts);
    } else if (c.state == SIGN_MATCHES) {
        printf("%s: claims to be signed by key %s: --public-key FILE checks that\n",
               name_shown(a->file), name_shown(c.name));
    }
    return true;
}

/* Verify the file. An adapter is only loaded, which checks its checksums. */
static bool verify(const struct arguments *a)
{
    return (adapter_is(a->file) || check_sums(a->file)) && check_signature(a);
}

static int run(int argc, char **argv)
{
    struct arguments a = { NULL };
    int status;

    if (!command_line_read(&cmd_verify, &a, argc, argv, &status)) {
        return status;
    }
    return exit_status(verify(&a));
}

static const struct command_option public_key = {
    .name = "--public-key",
    .value = "FILE",
    .help = "the file must be signed by this key, and unchanged since",
    .field = offsetof(struct arguments, public_key),
};
static const struct command_option *const options[] = { &public_key, NULL };

const struct command cmd_verify = {
    .name = "verify",
    .operands = "FILE.ingot",
    .missing = "which file?",
    .summary = "check checksums and signature of an .ingot",
    .about =
        "Checks every checksum and every field of an .ingot file, and that no weight is infinite\n"
        "or NaN. Names each damaged part. The signature of a signed file must be valid; with\n"
        "--public-key it must be made with that key. Adapters are checked for their signature\n"
        "only. Exit status: 0 all is well, 1 something is damaged, altered or not signed.",
    .example = "ingot verify model.ingot\ningot verify model.ingot --public-key public.pem",
    .options = options,
    .operand_field = offsetof(struct arguments, file),
    .run = run,
};
