/* The machine as the runtime sees it. The image and the Linux program fill this struct from their
 * board (boot/platform.h, board/host/host_platform.h), the library from its user's functions
 * (library/machine.c).
 *
 * A platform is constant once it is filled, and outlives everything that has a pointer to it or
 * to one of its groups. Each group has a context, the first argument of all of its functions. A
 * function may be NULL where its comment says so. Functions are called on core 0 alone, unless
 * the comment says "any core". None may call the runtime. */
#ifndef INGOT_RUNTIME_PLATFORM_H
#define INGOT_RUNTIME_PLATFORM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "board/block_device.h"
#include "board/err.h"
#include "board/machine.h"

struct kernel_tuning;

struct platform_clock {
    void *context;
    uint64_t (*ticks)(void *context); /* any core; never goes back, the same count on every core;
                                       * never NULL */
    uint64_t hz;                      /* ticks a second, at least 1 */
    uint64_t start;                   /* ticks at which log lines count from 0 */
    uint64_t date; /* seconds since 1970 at `start`, of the clock on the wall; 0: not known */
};

/* Plain data: no function, no context. */
struct platform_memory {
    struct memory_range arena; /* free RAM, bytes, any alignment: models and all work space */
    struct memory_range spare[BOARD_MAX_RAM - 1]; /* free RAM beside the arena; bytes 0: none */
    struct memory_range initrd; /* an .ingot that is in memory already; bytes 0: none */
    size_t ram_bytes;           /* of the whole machine, for messages */
};

struct platform_cores {
    void *context;
    unsigned n; /* 1 .. BOARD_MAX_CORES. With 1 start, wait and wake may be NULL */
    /* How long a core of the workers looks at its word before it sleeps, microseconds: longer
     * than a wake-up takes, where every core has a processor of its own; 0 where they share. */
    uint32_t spin_micros;
    const char *name; /* "Cortex-A72", for messages */
    const uint32_t *
        capacity; /* (n) what a core does in a time beside the others, at least 1; NULL: not known */
    size_t cache_bytes;                 /* of core 0's second level, shared or not; 0: not known */
    const struct kernel_tuning *tuning; /* of core 0 (kernels/tuning.h); never NULL */
    /* Bits of enum cpu_feature that cores 0 .. n - 1 have in common; all of them run by then.
     * Never NULL. */
    uint32_t (*features)(void *context, unsigned n);
    /* Start core (1 .. n-1) in entry(arg), on a stack of its own, with caches and floating point
     * on. entry returns after workers_stop alone. ERR_NO_DEVICE: it does not start. */
    enum err (*start)(void *context, unsigned core, void (*entry)(void *arg), void *arg);
    /* Any core: sleep until *word may differ from `old`. May return early. */
    void (*wait)(void *context, const _Atomic uint32_t *word, uint32_t old);
    /* Any core: wake every core that waits on *word; called after *word was changed. */
    void (*wake)(void *context, const _Atomic uint32_t *word);
    /* Sleep for so many microseconds at most, in a wait for a device that is polled. Or NULL. */
    void (*rest)(void *context, uint32_t micros);
    /* Any core: let others have this processor, in a loop that waits. Or NULL. */
    void (*yield)(void *context);
    /* Thousandths of a processor, of all together, that no program used since it was last asked; negative: not
     * known. Or NULL. */
    int (*idle_processors)(void *context);
};

struct platform_console {
    void *context;
    void (*putc)(void *context, char c); /* blocks while the transmitter is full; never NULL */
    /* Text from here on is log and progress lines (on), or the conversation again. NULL:
     * all of it goes one way. */
    void (*to_log)(void *context, bool on);
    int (*getc)(void *context);         /* the next byte that arrived, -1: none; never NULL */
    void (*idle)(void *context);        /* sleep until a byte may have arrived; or NULL */
    void (*nap)(void *context);         /* some hundredths of a second of that at most; or NULL */
    bool (*interrupted)(void *context); /* once for each Ctrl-C that getc leaves out; or NULL */
    uint32_t (*lost)(void *context); /* bytes lost on the way in since it was last asked; or NULL */
    void (*flow_control)(void *context, bool on);   /* XON/XOFF, off at the start; or NULL */
    void (*set_baud)(void *context, uint32_t baud); /* drains first; or NULL */
    /* The highest usual rate up to `most` that the UART's clock gives within 2 %. NULL: rates have no meaning. */
    uint32_t (*best_baud)(void *context, uint32_t most);
    /* Before storage is looked for: the keys of keyboards, enum keyboard_layout_name; or NULL. */
    void (*set_keyboard)(void *context, unsigned layout);
};

/* A display that shows what the console writes. */
struct platform_screen {
    void *context;
    uint32_t columns, rows; /* of characters; 0: there is none, and the rest is NULL */
    /* A byte of what goes to a terminal, control sequences too. Cheap: nothing is drawn. */
    void (*show)(void *context, char c);
    /* Draw it: now, or if enough time has gone by since it was drawn last. */
    void (*refresh)(void *context, bool now);
};

struct platform_storage {
    void *context;
    /* Find devices once, cards before flash: fills devices[], returns how many. Or NULL: none. */
    unsigned (*find)(void *context, struct block_device *devices[BOARD_MAX_BLOCK]);
    /* After find, while no read is waiting: returns a device that is new, whose `error_message` has changed, or that is unusable and is
     * only named; NULL: there is none. It reads in_use of the known devices; the slot of one that is not in use may be reused.
     * The function itself may be NULL if devices never come or go. */
    struct block_device *(*look)(void *context);
    /* Before find: from now on a core moves the data of cards, in place of DMA. NULL: there is
     * no choice. */
    void (*use_pio)(void *context);
    /* Before find: the DMA of cards reaches addresses below `end` alone. NULL: it has no limit. */
    void (*limit_dma)(void *context, uint64_t end);
    /* Before find: the highest generation of the PCIe link, 2 or 3. NULL: there is no choice. */
    void (*set_pcie)(void *context, unsigned generation);
    /* A core moves the data of some device (with use_pio not NULL: after it was called). One
     * core of several may then leave the workers for that alone (runtime/storage/io_core.h). */
    bool needs_cpu;
};

struct platform_power {
    void *context;
    /* Restart the machine unless alive is called every `millis` milliseconds (at most 15000); 0:
     * never. doing: a constant text for the log of the next start. Or NULL. */
    void (*watchdog)(void *context, uint32_t millis, const char *doing);
    void (*alive)(void *context); /* core 0 came by; cheap. Or NULL */
    void (*last_run)(void *context, struct board_last_run *last); /* how it ended. Or NULL */
    bool (*is_emulated)(void *context);                           /* NULL where watchdog is */
    void (*restart)(void *context);         /* returns where there is no way. Or NULL */
    void (*off)(void *context, int status); /* 0: fine, else failed. Does not return; never NULL */
};

struct platform_health {
    void *context;
    /* The condition of the machine; takes up to a few milliseconds. Or NULL. */
    void (*read)(void *context, struct board_health *health);
};

/* The LED, and the numbered lines that a person may wire something to. */
struct platform_pins {
    void *context;
    /* A read of a card begins (true) or ends. Reads overlap, and each that begins ends. Cheap. Or
     * NULL. */
    void (*activity)(void *context, bool active);
    /* Lines by the board's numbers. All four, or all NULL: there are none. Nothing but
     * runtime/features/acting/pins.c calls the last three. */
    const char *(*error_message)(void *context,
                                 unsigned line); /* why it is not to be touched; NULL: it may */
    /* A line that may be touched becomes an output that is `high` or not, or an input. */
    void (*setup)(void *context, unsigned line, bool output, bool high);
    void (*write)(void *context, unsigned line, bool high);
    bool (*read)(void *context, unsigned line);
};

/* I2C buses by the board's numbers. All three, or all NULL: there are none. Nothing but
 * runtime/features/acting/sensors.c calls them. */
struct platform_i2c {
    void *context;
    /* It is for sensors from here on; NULL: it is, else why not, an error message without a full stop. */
    const char *(*claim)(void *context, unsigned bus);
    /* One transfer of 1 to 16 bytes with a device of a claimed bus. ERR_NO_DEVICE: nobody answers; ERR_TIMEOUT:
     * somebody holds the bus. */
    enum err (*write)(void *context, unsigned bus, unsigned address, const uint8_t *bytes,
                      unsigned n);
    enum err (*read)(void *context, unsigned bus, unsigned address, uint8_t *bytes, unsigned n);
};

/* Ethernet frames by polling: from the destination's address on, without the checksum at the end. All of it, or all
 * NULL: the board has no network that we know. */
struct platform_network {
    void *context;
    /* Find the device and start it; address: its own. NULL: it works; else why not, an error message without a full stop.
     * Before it succeeded none of the others is called. */
    const char *(*open)(void *context, uint8_t address[6]);
    bool (*is_up)(void *context); /* whether a cable is connected, as far as the device knows */
    /* The frame (14 .. 1514 bytes) is copied. False: the queue is full, or the device has failed: the frame is lost. */
    bool (*send)(void *context, const uint8_t *frame, size_t bytes);
    /* The next frame that came, copied to `to` (room >= 1514 bytes). 0: none. */
    size_t (*receive)(void *context, uint8_t *to, size_t room);
};

struct platform {
    const char *name; /* of the board: "virt-arm64" */
    struct platform_clock clock;
    struct platform_memory memory;
    struct platform_cores cores;
    struct platform_console console;
    struct platform_screen screen;
    struct platform_storage storage;
    struct platform_power power;
    struct platform_health health;
    struct platform_pins pins;
    struct platform_i2c i2c;
    struct platform_network network;
};

static inline uint64_t platform_ticks(const struct platform_clock *clock)
{
    return clock->ticks(clock->context);
}

/* Seconds since 1970, of the clock on the wall; 0: not known. */
static inline uint64_t platform_date(const struct platform_clock *clock)
{
    if (clock->date == 0) {
        return 0;
    }
    return clock->date + (platform_ticks(clock) - clock->start) / clock->hz;
}

/* The next three do nothing where the platform has no such function. */
static inline void platform_yield(const struct platform_cores *cores)
{
    if (cores->yield != NULL) {
        cores->yield(cores->context);
    }
}

static inline void platform_alive(const struct platform_power *power)
{
    if (power->alive != NULL) {
        power->alive(power->context);
    }
}

static inline void platform_show_activity(const struct platform_pins *pins, bool active)
{
    if (pins->activity != NULL) {
        pins->activity(pins->context, active);
    }
}

#endif
