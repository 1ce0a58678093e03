/* The machine as the runtime sees it. The image and the Linux program fill this struct from their
 * board (boot/platform.h, board/host/host_platform.h), the library from its user's functions
 * (library/machine.c).
 *
 * A platform is constant once it is filled, and outlives everything that has a pointer to it or
 * to one of its groups. Each group has a context, which is the first argument of all of its
 * functions. A function may be NULL if its comment says so. Functions are called only on core 0,
 * unless the comment says "any core". No function may call the runtime. */
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
struct file;

struct platform_clock {
    void *context;
    uint64_t (*ticks)(void *context); /* any core; the count never goes back and is the same on
                                       * every core; never NULL */
    uint64_t hz;                      /* ticks a second, at least 1 */
    uint64_t start;                   /* ticks at time 0 of the log */
    uint64_t date; /* wall-clock time at `start`, seconds since 1970; 0: unknown */
};

/* Plain data: no function, no context. */
struct platform_memory {
    struct memory_range arena; /* free RAM for models and all work space; any alignment */
    struct memory_range spare[BOARD_MAX_RAM - 1]; /* free RAM outside the arena; bytes is 0 in
                                                   * unused entries */
    struct memory_range initrd; /* an .ingot that is already in memory; bytes is 0 if there is
                                 * none */
    size_t ram_bytes;           /* RAM of the whole machine, for messages */
};

struct platform_cores {
    void *context;
    unsigned n; /* 1 .. BOARD_MAX_CORES. With 1, start, wait and wake may be NULL */
    /* How many microseconds a worker core polls for a job before it sleeps. The time is longer than
     * a wake-up takes if every core has its own processor, and 0 if cores share processors. */
    uint32_t spin_micros;
    const char *name;         /* "Cortex-A72", for messages */
    const uint32_t *capacity; /* (n) relative speed of each core, at least 1; NULL: unknown */
    size_t cache_bytes;       /* size of core 0's second-level cache, shared or not; 0:
                                         * unknown */
    const struct kernel_tuning *tuning; /* tuning of core 0 (kernels/tuning.h); never NULL */
    /* Return the bits of enum cpu_feature that the first n cores have in common. Called when these
     * cores run. Never NULL. */
    uint32_t (*features)(void *context, unsigned n);
    /* Start `core` (1 to n - 1) in entry(arg), on a stack of its own, with caches and floating
     * point on. entry returns only after workers_stop. ERR_NO_DEVICE: the core does not start. */
    enum err (*start)(void *context, unsigned core, void (*entry)(void *arg), void *arg);
    /* Any core: sleep until *word may differ from `old`. May return early. */
    void (*wait)(void *context, const _Atomic uint32_t *word, uint32_t old);
    /* Any core: wake every core that waits on *word; called after *word was changed. */
    void (*wake)(void *context, const _Atomic uint32_t *word);
    /* Sleep for at most `micros` microseconds, while waiting for a device that is polled. May be
     * NULL. */
    void (*rest)(void *context, uint32_t micros);
    /* Any core, in a waiting loop: let other programs use this processor. May be NULL. */
    void (*yield)(void *context);
    /* Return the unused time of all processors since the last call, in thousandths of one
     * processor, or a negative number if it is unknown. May be NULL. */
    int (*idle_processors)(void *context);
};

struct platform_console {
    void *context;
    void (*putc)(void *context, char c); /* blocks while the transmitter is full; never NULL */
    /* Says that log and progress lines follow (on), or the conversation (off). NULL if both go to
     * the same place. */
    void (*to_log)(void *context, bool on);
    int (*getc)(void *context);         /* the next byte that arrived, or -1; never NULL */
    void (*idle)(void *context);        /* sleeps until a byte may have arrived; may be NULL */
    void (*nap)(void *context);         /* sleeps at most some hundredths of a second; may be
                                         * NULL */
    bool (*interrupted)(void *context); /* true once for each Ctrl-C that getc left out; may be
                                         * NULL */
    uint32_t (*lost)(void *context);    /* number of received bytes lost since the last call; may be
                                      * NULL */
    void (*flow_control)(void *context, bool on);   /* XON/XOFF, off at the start; may be NULL */
    void (*set_baud)(void *context, uint32_t baud); /* sends pending bytes first; may be NULL */
    /* Return the highest usual rate up to `most` that the UART's clock gives within 2 %. NULL if
     * the line has no rate. */
    uint32_t (*best_baud)(void *context, uint32_t most);
    /* Set the layout of keyboards (enum keyboard_layout_name) before storage is found. May be
     * NULL. */
    void (*set_keyboard)(void *context, unsigned layout);
};

/* A display that shows what the console writes. */
struct platform_screen {
    void *context;
    uint32_t columns, rows; /* in characters; 0 without a display: the functions are then NULL */
    /* Take a byte of output, as a terminal does, control sequences included. This draws nothing. */
    void (*show)(void *context, char c);
    /* Draw now, or only if enough time has passed since the last drawing. */
    void (*refresh)(void *context, bool now);
};

struct platform_storage {
    void *context;
    /* Find devices once and put them into devices[], cards before flash; returns how many. NULL if
     * there are no devices. */
    unsigned (*find)(void *context, struct block_device *devices[BOARD_MAX_BLOCK]);
    /* Call after find, while no read is waiting. Returns a device that is new, has another
     * `error_message`, or is unusable and can only be reported; NULL if there is none. The function
     * reads in_use of the known devices; the slot of a device that is not in use may be reused. The
     * function itself may be NULL if devices never come or go. */
    struct block_device *(*look)(void *context);
    /* Open a file of a server on the network, "http://HOST[:PORT]/PATH", as a device that holds one
     * .ingot. The call may take a minute. After an error it returns NULL, and *why says why. A
     * device that was returned earlier is reused unless one of the n_open files is on that device.
     * The function is NULL without a network. */
    struct block_device *(*fetch)(void *context, const char *address,
                                  const struct file *const *open, unsigned n_open,
                                  const char **why);
    /* Call before find. After the call, a core instead of DMA moves the data of cards. NULL if the
     * machine has no choice. */
    void (*use_pio)(void *context);
    /* Call before find. The DMA of cards is then used only for addresses below `end`. NULL if DMA
     * has no limit. */
    void (*limit_dma)(void *context, uint64_t end);
    /* Call before find. Set the highest generation of the PCIe link, 2 or 3. NULL if the generation
     * is fixed. */
    void (*set_pcie)(void *context, unsigned generation);
    /* True if a core moves some device's data (if use_pio is not NULL, only after a call of
     * use_pio). One of several cores may then leave the workers and only move data
     * (runtime/storage/io_core.h). */
    bool needs_cpu;
};

struct platform_power {
    void *context;
    /* Restart the machine if `alive` is not called for `millis` milliseconds (at most 15000; 0
     * means never). `doing` is a constant text for the log of the next start. May be NULL. */
    void (*watchdog)(void *context, uint32_t millis, const char *doing);
    void (*alive)(void *context); /* says that core 0 is alive; fast. May be NULL */
    void (*last_run)(void *context, struct board_last_run *last); /* how the last run ended; may be
                                                                   * NULL */
    bool (*is_emulated)(void *context);                           /* NULL if watchdog is NULL */
    void (*restart)(void *context);         /* restarts; returns if the machine cannot. May be
                                             * NULL */
    void (*off)(void *context, int status); /* 0: success, otherwise failure. Does not return;
                                             * never NULL */
};

struct platform_health {
    void *context;
    /* Read the machine's condition; this takes up to a few milliseconds. May be NULL. */
    void (*read)(void *context, struct board_health *health);
};

/* The LED, and the GPIO lines, to which a person may connect something. */
struct platform_pins {
    void *context;
    /* Note that a read from a card begins (true) or ends. Reads may overlap, and each read that
     * begins also ends. The call takes little time. May be NULL. */
    void (*activity)(void *context, bool active);
    /* GPIO lines by the board's numbers. Either all four are set, or the board has no lines and all
     * are NULL. Only runtime/features/acting/pins.c calls the last three. */
    const char *(*error_message)(void *context,
                                 unsigned line); /* returns why a line must not be used, or
                                                  * NULL */
    /* Make a permitted line an output with the level `high`, or an input. */
    void (*setup)(void *context, unsigned line, bool output, bool high);
    void (*write)(void *context, unsigned line, bool high);
    bool (*read)(void *context, unsigned line);
};

/* I2C buses by the board's numbers. Either all three are set, or the board has no buses and
 * all are NULL. Only runtime/features/acting/sensors.c calls them. */
struct platform_i2c {
    void *context;
    /* Claim the bus for sensors. Returns NULL, or the reason why the bus cannot be claimed, as a
     * sentence without a full stop. */
    const char *(*claim)(void *context, unsigned bus);
    /* Transfer 1 to 16 bytes with a device on a claimed bus. ERR_NO_DEVICE: no device answers;
     * ERR_TIMEOUT: something holds the bus. */
    enum err (*write)(void *context, unsigned bus, unsigned address, const uint8_t *bytes,
                      unsigned n);
    enum err (*read)(void *context, unsigned bus, unsigned address, uint8_t *bytes, unsigned n);
};

/* Sends and receives Ethernet frames by polling. A frame begins with the destination address and
 * lacks the checksum at its end. Either all functions are set, or all are NULL because Ingot has no
 * driver for this board's network. */
struct platform_network {
    void *context;
    /* Find the device, start it, and set address to its MAC address. Returns NULL, or the reason
     * for a failure, as a sentence without a full stop. Call the other functions only after
     * success. */
    const char *(*open)(void *context, uint8_t address[6]);
    bool (*is_up)(void *context); /* false if the device knows that no cable is connected */
    /* Send a frame (14 to 1514 bytes), which is copied. Returns false if the frame is lost, because
     * the queue is full or the device has failed. */
    bool (*send)(void *context, const uint8_t *frame, size_t bytes);
    /* Copy the next received frame to `to` (room >= 1514 bytes). 0: there is none. */
    size_t (*receive)(void *context, uint8_t *to, size_t room);
};

struct platform {
    const char *name; /* name of the board: "virt-arm64" */
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

/* Wall-clock time, seconds since 1970; 0: unknown. */
static inline uint64_t platform_date(const struct platform_clock *clock)
{
    if (clock->date == 0) {
        return 0;
    }
    return clock->date + (platform_ticks(clock) - clock->start) / clock->hz;
}

/* The next three do nothing if the platform has no such function. */
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
