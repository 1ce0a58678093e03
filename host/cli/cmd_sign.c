#include <stdbool.h>
#include <stdio.h>

#include "host/cli/commands.h"
#include "host/args/shown_streams.h"
#include "flash_image/signing/sign_file.h"

struct arguments {
    const char *file, *key, *output;
};

static bool sign(const struct arguments *a)
{
    char error_message[512];
    struct sign_key k;
    bool good = sign_key_open(&k, a->key, true, error_message, sizeof error_message) == ERR_OK &&
                sign_file(&k, a->file, a->output, error_message, sizeof error_message) == ERR_OK;

    if (good) {
        printf("%s: signed by key %s\n", name_shown(a->output != NULL ? a->output : a->file),
               name_shown(k.name));
    } else {
        fprintf(stderr, "ingot: %s\n", error_message);
    }
    sign_key_clear(&k);
    return good;
}

static int run(int argc, char **argv)
{
    struct arguments a = { NULL };
    int status;

    if (!command_line_read(&cmd_sign, &a, argc, argv, &status)) {
        return status;
    }
    if (a.key == NULL) {
        return command_refuse(&cmd_sign, "--key",
                              "give the file of the private key, as in --key key.pem");
    }
    return exit_status(sign(&a));
}

#define FIELD(member) offsetof(struct arguments, member)

static const struct command_option key = {
    .name = "--key",
    .value = "FILE",
    .help = "the private key, of P-256 in PEM, without a password",
    .field = FIELD(key),
};
static const struct command_option output = {
    .name = "--output",
    .letter = "-o",
    .value = "FILE",
    .help = "the signed file to write (default: the input itself is signed)",
    .field = FIELD(output),
};
static const struct command_option *const options[] = { &key, &output, NULL };

const struct command cmd_sign = {
    .name = "sign",
    .operands = "FILE.ingot",
    .missing = "which model or adapter?",
    .summary = "sign a model or an adapter",
    .about =
        "Signs a model or an adapter for images that were built with the public half of the key\n"
        "(make image KEY=public.pem) and accept no other files. A block is added at the end of\n"
        "the file; signing again replaces it. Make a key with\n"
        "  openssl ecparam -name prime256v1 -genkey -noout -out key.pem\n"
        "  openssl pkey -in key.pem -pubout -out public.pem",
    .example = "ingot sign model.ingot --key key.pem\n"
               "ingot verify model.ingot --public-key public.pem",
    .options = options,
    .operand_field = FIELD(file),
    .run = run,
};
