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
    .help = "the image to write; `dd` or Raspberry Pi Imager writes it to a card",
    .field = FIELD(out),
};
static const struct command_option size = {
    .name = "--size",
    .value = "SIZE",
    .takes = "a size such as 4G (K, M and G are known)",
    .help = "size of the card (default: what its contents need)",
    .set = set_size,
};
static const struct command_option save = {
    .name = "--save",
    .value = "MIB",
    .takes = "a whole number of MiB from 0 to 4095",
    .help = "room for each saved conversation (default: the model's whole context, from 8\n"
            "to 1024); 0: none",
    .set = set_mib,
    .field = FIELD(save),
};
static const struct command_option names = {
    .name = "--names",
    .value = "A,B",
    .help = "names of saved conversations, as in /save A (default: chat, which /save\n"
            "without a name uses)",
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
    .help = "room for the newest turns with log=on",
    .set = set_mib,
    .field = FIELD(log),
};
static const struct command_option kept = {
    .name = "--kept",
    .value = "MIB",
    .takes = "a whole number of MiB from 0 to 4095",
    .help = "room for prompts with kept=SIZE, so that no start computes them again",
    .set = set_mib,
    .field = FIELD(kept),
};
static const struct command_option cmdline = {
    .name = "--cmdline",
    .value = "WORDS",
    .help = "boot options, on boards that read them from the card",
    .field = FIELD(words),
};
static const struct command_option system_prompt = {
    .name = "--system",
    .value = "TEXT",
    .help = "the system prompt; its state is computed here for the first model, so that\n"
            "the board starts faster",
    .field = FIELD(system),
};
static const struct command_option firmware = {
    .name = "--firmware",
    .value = "FOLDER-OR-ZIP",
    .help = "firmware of the board's maker: the mounted bootfs of a\n"
            "Raspberry Pi OS card, a folder, or the zip of github.com/raspberrypi/firmware;\n"
            "or the payload file that a first loader starts",
    .field = FIELD(firmware),
};
static const struct command_option type = {
    .name = "--type",
    .value = "TYPE",
    .choices = pack_types,
    .takes = pack_types_taken,
    .help = "weight type of models that are packed, as `ingot pack --type`",
    .set = pack_type_set,
    .field = FIELD(pack),
};
static const struct command_option sign = {
    .name = "--sign",
    .value = "KEY",
    .help = "sign models and adapters with this private key, for images with its public\n"
            "half (make image KEY=)",
    .field = FIELD(sign),
};
static const struct command_option boards = {
    .name = "--boards",
    .value = "FOLDER",
    .help = "the folder with the boards' files (default: of this release or checkout)",
    .field = FIELD(boards),
};
static const struct command_option format = {
    .name = "--format",
    .value = "FORMAT",
    .choices = "fat32 exfat",
    .takes = "fat32 or exfat",
    .help = "format of the partition with the models: fat32 (default), or exfat for files\n"
            "of 4 GiB and more; the board then starts from a FAT32 partition in front",
    .set = command_take_choice,
    .field = FIELD(format),
};
static const struct command_option table = {
    .name = "--table",
    .value = "TABLE",
    .choices = "mbr gpt",
    .takes = "mbr or gpt",
    .help = "partition table: mbr (default), which every board can read, or gpt",
    .set = command_take_choice,
    .field = FIELD(table),
};
static const struct command_option power_of_two = {
    .name = "--power-of-two",
    .help = "round the size up to a power of two, which QEMU needs for an SD card",
    .field = FIELD(power_of_two),
};
const struct command_option *const card_args_options[] = {
    &output,        &size,    &format,   &table, &save, &names,  &kv,           &turn_log, &kept,
    &system_prompt, &cmdline, &firmware, &type,  &sign, &boards, &power_of_two, NULL,
};
