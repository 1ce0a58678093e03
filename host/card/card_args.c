#include "host/card/card_args.h"

#include <stddef.h>

#include "runtime/options/options.h"

enum { MOST_MIB = 4095 };

bool card_args_operand(void *arguments, const char *word)
{
    struct card_args *a = arguments;

    if (a->board == NULL) {
        a->board = word;
        return true;
    }
    if (a->n_models == CARD_MOST_MODELS) {
        return false;
    }
    a->models[a->n_models++] = word;
    return true;
}

static enum option_result set_size(void *arguments, const struct command_option *o,
                                   const char *value)
{
    struct card_args *a = arguments;

    (void)o;
    return options_read_u64(value, true, &a->size) && a->size >= 1u << 20 ? OPTION_TAKEN
                                                                          : OPTION_REFUSED;
}

static enum option_result set_mib(void *arguments, const struct command_option *o,
                                  const char *value)
{
    uint64_t *mib = (uint64_t *)((char *)arguments + o->field);

    return options_read_u64(value, false, mib) && *mib <= MOST_MIB ? OPTION_TAKEN : OPTION_REFUSED;
}

#define FIELD(member) offsetof(struct card_args, member)

static const struct command_option output = {
    .name = "--output",
    .letter = "-o",
    .value = "FILE",
    .help = "the image to write; dd writes it to a card",
    .field = FIELD(out),
};
static const struct command_option size = {
    .name = "--size",
    .value = "SIZE",
    .takes = "a size such as 4G (K, M and G are known)",
    .help = "of the card (default: what its contents need)",
    .set = set_size,
};
static const struct command_option save = {
    .name = "--save",
    .value = "MIB",
    .takes = "a whole number of MiB from 0 to 4095",
    .help = "room for each conversation that /save keeps (default: a whole context of the\n"
            "model, from 8 to 1024); 0: none",
    .set = set_mib,
    .field = FIELD(save),
};
static const struct command_option names = {
    .name = "--names",
    .value = "A,B",
    .help = "what the saved conversations are called: /save A (default chat, which is\n"
            "that of /save alone)",
    .field = FIELD(names),
};
static const struct command_option kv = {
    .name = "--kv",
    .value = "MIB",
    .takes = "a whole number of MiB from 0 to 4095",
    .help = "room for keys and values with kv=card, as `ingot plan` says",
    .set = set_mib,
    .field = FIELD(kv),
};
static const struct command_option turn_log = {
    .name = "--log",
    .value = "MIB",
    .takes = "a whole number of MiB from 0 to 4095",
    .help = "room for turns with log=on, the newest of which stay",
    .set = set_mib,
    .field = FIELD(log),
};
static const struct command_option cmdline = {
    .name = "--cmdline",
    .value = "WORDS",
    .help = "boot arguments, on boards that read them from the card",
    .field = FIELD(words),
};
static const struct command_option system_prompt = {
    .name = "--system",
    .value = "TEXT",
    .help = "the system prompt: a boot argument, and what the first model computes of it,\n"
            "so that no start computes it again",
    .field = FIELD(system),
};
static const struct command_option firmware = {
    .name = "--firmware",
    .value = "FOLDER-OR-ZIP",
    .help = "the files of the board's maker, which it starts from: the mounted bootfs of a\n"
            "Raspberry Pi OS card, a folder, or the zip of github.com/raspberrypi/firmware",
    .field = FIELD(firmware),
};
static const struct command_option type = {
    .name = "--type",
    .value = "TYPE",
    .choices = pack_types,
    .takes = pack_types_taken,
    .help = "of the models that are packed on the way, as `ingot pack` takes it",
    .set = pack_type_set,
    .field = FIELD(pack),
};
static const struct command_option sign = {
    .name = "--sign",
    .value = "KEY",
    .help = "sign models and adapters by this private key (`ingot sign`), as images with its\n"
            "public half want it (make image KEY=)",
    .field = FIELD(sign),
};
static const struct command_option boards = {
    .name = "--boards",
    .value = "FOLDER",
    .help = "where the boards are (default: those of this release or checkout)",
    .field = FIELD(boards),
};
static const struct command_option format = {
    .name = "--format",
    .value = "FORMAT",
    .choices = "fat32 exfat",
    .takes = "fat32 or exfat",
    .help = "of the partition with the models: fat32 (default), or exfat for files of 4 GiB\n"
            "and more, behind one of FAT32 with what the board starts from",
    .set = command_take_choice,
    .field = FIELD(format),
};
static const struct command_option table = {
    .name = "--table",
    .value = "TABLE",
    .choices = "mbr gpt",
    .takes = "mbr or gpt",
    .help = "of partitions: mbr (default), which every board's loader reads, or gpt",
    .set = command_take_choice,
    .field = FIELD(table),
};
static const struct command_option power_of_two = {
    .name = "--power-of-two",
    .help = "round the size up to a power of two, as QEMU wants it of an SD card",
    .field = FIELD(power_of_two),
};
const struct command_option *const card_args_options[] = {
    &output,        &size,    &format,   &table, &save, &names,  &kv,           &turn_log,
    &system_prompt, &cmdline, &firmware, &type,  &sign, &boards, &power_of_two, NULL,
};
