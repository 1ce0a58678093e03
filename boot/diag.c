#include "boot/diag.h"

#include <inttypes.h>
#include <string.h>

#include "board/facts.h"
#include "board/interrupt.h"
#include "board/left_out.h"
#include "board/min_max.h"
#include "boot/boot.h"
#include "boot/mmu.h"
#include "runtime/text/format_text.h"

/* A log line has at most TEXT_BYTES of text; a longer text continues in lines of the same
 * name. */
enum { TEXT_BYTES = 256, WORDS_BYTES = 160, NAME_BYTES = 32 };

static void say_number(void *context, const char *name, enum fact_kind kind, uint64_t value)
{
    char text[FORMAT_NUMBER_BYTES];

    switch (kind) {
    case FACT_HEX: console_log(context, "diag %s: 0x%" PRIx64, name, value); break;
    case FACT_COUNT: console_log(context, "diag %s: %" PRIu64, name, value); break;
    case FACT_HZ: console_log(context, "diag %s: %" PRIu64 " Hz", name, value); break;
    case FACT_BYTES: console_log(context, "diag %s: %s", name, format_bytes(text, value)); break;
    case FACT_MILLIDEGREES:
        console_log(context, "diag %s: %" PRId64 " mC", name, (int64_t)value);
        break;
    }
}

static void say_text(void *context, const char *name, const char *text)
{
    do {
        size_t bytes = min_size(strlen(text), TEXT_BYTES);

        console_log(context, "diag %s: %.*s", name, (int)bytes, text);
        text += bytes;
    } while (*text != '\0');
}

static void say_words(void *context, const char *name, const uint32_t *words, unsigned n)
{
    char text[WORDS_BYTES] = "";
    size_t at = 0;

    for (unsigned i = 0; i < n && at < sizeof text; i++)
        at += format_text(text + at, sizeof text - at, " %08x", (unsigned)words[i]);
    console_log(context, "diag %s:%s", name, text);
}

static void say_range(const struct facts *f, const char *name, uint64_t base, uint64_t bytes)
{
    char text[TEXT_BYTES];

    format_text(text, sizeof text, "0x%" PRIx64 " to 0x%" PRIx64, base, base + bytes);
    fact_text(f, name, text);
}

static void say_machine(const struct facts *f, const struct machine *machine)
{
    char name[NAME_BYTES];
    unsigned tables, most = 0;

    fact_text(f, "ingot", INGOT_VERSION_TEXT);
    fact_text(f, "board", board.name);
    fact_text(f, "boot arguments", machine->args);
    fact_number(f, "boot arguments bytes", FACT_COUNT, machine->args_bytes);
    say_range(f, "image", (uintptr_t)image_start,
              (uintptr_t)stacks_start + STACKS_BYTES - (uintptr_t)image_start);
    fact_number(f, "ram", FACT_BYTES, machine->ram_bytes);
    for (unsigned i = 0; i < machine->n_ram; i++) {
        format_text(name, sizeof name, "free ram %u", i);
        say_range(f, name, (uintptr_t)machine->ram[i].base, machine->ram[i].bytes);
    }
    if (machine->initrd.bytes != 0)
        say_range(f, "initrd", (uintptr_t)machine->initrd.base, machine->initrd.bytes);
    /* If the firmware keeps the page tables, most is 0. */
    tables = mmu_tables(&most);
    if (most != 0) {
        fact_number(f, "page tables", FACT_COUNT, tables);
        fact_number(f, "page tables at most", FACT_COUNT, most);
    }
    fact_number(f, "counter", FACT_HZ, board.ticks_hz());
    fact_number(f, "cores", FACT_COUNT, machine->n_cores);
    for (unsigned i = 0; i < machine->n_cores; i++) {
        format_text(name, sizeof name, "core %u id", i);
        fact_number(f, name, FACT_HEX, machine->core_ids[i]);
    }
    fact_text(f, "core 0", machine->cpu_name);
    fact_number(f, "second-level cache", FACT_BYTES, machine->cache_bytes);
}

static void say_strays(const struct facts *f)
{
    uint32_t line, strays = irq_strays(&line);

    fact_number(f, "stray interrupts", FACT_COUNT, strays);
    if (strays != 0)
        fact_number(f, "last stray interrupt", FACT_COUNT, line);
}

static void say_left_out(const struct facts *f)
{
    for (unsigned i = 0; i < LEFT_OUT_COUNT; i++)
        if (left_out_number((enum left_out)i) != 0) {
            fact_text(f, "left out", left_out_name((enum left_out)i));
            fact_number(f, "left out, how many", FACT_COUNT, left_out_number((enum left_out)i));
        }
}

static void say_device(const struct facts *f, const struct block_device *device)
{
    fact_text(f, "storage", device->name);
    if (device->error_message != NULL)
        fact_text(f, "storage problem", device->error_message);
    if (device->facts != NULL)
        device->facts(device->facts_of, f);
}

void diag_report(struct console *c, const struct machine *machine,
                 struct block_device *const devices[], unsigned n)
{
    const struct facts f = { c, say_number, say_text, say_words };

    /* Print first what every board has, then what single drivers know, and the devices last. */
    say_machine(&f, machine);
    say_strays(&f);
    say_left_out(&f);
    core_facts(&f);
    if (board.facts != NULL)
        board.facts(&f);
    facts_tell(&f);
    for (unsigned i = 0; i < n; i++)
        say_device(&f, devices[i]);
}
