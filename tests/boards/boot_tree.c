/* One board's own code (boot/boot.c, board/NAME/board.c, its drivers) on one device tree, in a program of Linux. Prints what it finds;
 * tests/boards/trees.t says what that must be.
 * usage: boot_tree TREE [hart=N] [fill=WORD] [mailbox=AT] [memory=BYTES] [revision=CODE] [domain=HARTS] [sbi=old] [twins] [end=off|restart]
 *                  [act=AT/CLEARS/SETS]... [AT=VALUE]... [AT]...   (hexadecimal) */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "board/block_device.h"
#include "board/board.h"
#include "board/drivers/dma/tree_window.h"
#include "board/left_out.h"
#include "boot/boot.h"
#include "memory.h"
#include "tests/alarm.h"
#include "tests/boards/boot_fake.h"

enum { MOST_TREE = 4 << 20 };

/* An image as the linker script describes it: its first address, and 4 MiB with its stacks. */
#define TEXT(number) TEXT_OF(number)
#define TEXT_OF(number) #number
__asm__(".globl image_start, stacks_start, image_device_tree_address\n"
        ".set image_start, " TEXT(
            BOARD_LOAD_ADDRESS) "\n"
                                ".set stacks_start, " TEXT(
                                    BOARD_LOAD_ADDRESS) " + 0x380000\n"
                                                        ".set image_device_tree_address, 0\n");

static _Alignas(4096) uint8_t tree[MOST_TREE];

static void start_core(void *arg)
{
    (void)arg;
}

/* Prints how the devices of a bus see memory. The bus has an alias, as the cards' driver asks for
 * it. */
static void print_window(const char *alias)
{
    struct dma_window window = tree_window(boot_tree(), alias, false);

    if (window.end != 0)
        printf("window %s %llx %llx\n", alias, (unsigned long long)window.offset,
               (unsigned long long)window.end);
}

/* Prints the machine after boot_start as the program gets it, then the storage that the board
 * finds. */
void image_main(const struct machine *machine)
{
    struct block_device *devices[BOARD_MAX_BLOCK] = { NULL };
    char left_out[512];
    unsigned n;

    printf("board %s\nbytes %llx\n", board.name, (unsigned long long)machine->ram_bytes);
    for (unsigned i = 0; i < machine->n_ram; i++)
        printf("ram %llx %llx\n", (unsigned long long)(uintptr_t)machine->ram[i].base,
               (unsigned long long)machine->ram[i].bytes);
    if (machine->initrd.bytes != 0)
        printf("initrd %llx %llx\n", (unsigned long long)(uintptr_t)machine->initrd.base,
               (unsigned long long)machine->initrd.bytes);
    for (unsigned i = 0; i < machine->n_cores; i++)
        printf("core %llx\n", (unsigned long long)machine->core_ids[i]);
    printf("arguments %s\n", machine->args);
    for (unsigned i = 1; i < machine->n_cores; i++)
        if (board.start_core(i, start_core, NULL) != ERR_OK)
            printf("refused %u\n", i);
    n = board.find_storage(devices);
    for (unsigned i = 0; i < n; i++)
        printf("storage %s: %s\n", devices[i]->name,
               devices[i]->error_message != NULL ? devices[i]->error_message : "fine");
    print_window("emmc2bus");
    left_out_tell(left_out, sizeof left_out);
    printf("left out: %s\n", left_out);
    printf("mailbox %u answered, %u stale\n", box.n_answers, box.n_stale);
    box_print_registers();
    if (box.ends == BOX_RESTARTS && board.restart != NULL)
        board.restart();
    if (box.ends == BOX_GOES_OFF)
        board.power_off(0);
    exit(0);
}

static void read_act(const char *text)
{
    unsigned long long at;
    unsigned clears, sets;

    if (box.n_acts < BOX_MOST_ACTS && sscanf(text, "%llx/%x/%x", &at, &clears, &sets) == 3)
        box.acts[box.n_acts++] = (struct box_act){ at, clears, sets };
}

static bool is_word(const char *word, const char *name)
{
    return strncmp(word, name, strlen(name)) == 0;
}

/* Whether it is the firmware's. False: somebody else's. */
static bool read_firmware(const char *word, uint64_t value)
{
    if (is_word(word, "domain="))
        box.sbi.domain = (uint32_t)value;
    else if (is_word(word, "sbi="))
        box.sbi.is_old = true;
    else if (is_word(word, "twins"))
        box.twins = true;
    else if (is_word(word, "end="))
        box.ends = strcmp(word, "end=off") == 0 ? BOX_GOES_OFF : BOX_RESTARTS;
    else if (is_word(word, "act="))
        read_act(word + 4);
    else
        return false;
    return true;
}

static void read_word(const char *word)
{
    struct box_register *r = &box.registers[box.n_registers];
    const char *equals = strchr(word, '=');
    uint64_t value = equals != NULL ? strtoull(equals + 1, NULL, 16) : 0;

    if (read_firmware(word, value))
        return;
    if (strncmp(word, "hart=", 5) == 0)
        box.hart = value;
    else if (strncmp(word, "fill=", 5) == 0)
        box.fill = (uint32_t)value;
    else if (strncmp(word, "mailbox=", 8) == 0)
        box.mailbox = value;
    else if (strncmp(word, "memory=", 7) == 0)
        box.memory[1] = (uint32_t)value;
    else if (strncmp(word, "revision=", 9) == 0)
        box.revision = (uint32_t)value;
    else if (box.n_registers < BOX_MOST_REGISTERS) {
        *r = (struct box_register){ strtoull(word, NULL, 16), (uint32_t)value, equals == NULL };
        box.n_registers++;
    }
}

int main(int argc, char **argv)
{
    FILE *file = argc > 1 ? fopen(argv[1], "rb") : NULL;
    size_t bytes;

    if (file == NULL) {
        fprintf(stderr, "boot_tree: cannot read the tree\n");
        return 1;
    }
    bytes = fread(tree, 1, sizeof tree, file);
    (void)fclose(file);
    box.sbi.domain = 0x1f;
    for (int i = 2; i < argc; i++)
        read_word(argv[i]);
    boot_start(bytes != 0 ? tree : NULL);
}
