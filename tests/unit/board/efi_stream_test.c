/* The plan's prediction of streaming through firmware, against the time it takes: the real driver, stream and plan run over a
 * firmware and kernels that move a clock. A read and a product have fixed costs here, so no emulator's or computer's time is
 * in the result. */
#include "board/efi/efi_call.h"
#include "board/efi/efi_disk.h"
#include "board/isa.h"
#include "board/min_max.h"
#include "runtime/stream/calibrate_storage.h"
#include "tests/unit/rig_expected.h"

enum {
    HZ = 1000000000,
    LOOK_NS = 1000,    /* at the clock */
    CALL_NS = 5000,    /* a call of the firmware, whatever it does */
    RATE = 10000000,   /* bytes a second of the drive */
    TICK_NS = 1000000, /* EDK2 polls for ended reads so often (efi_storage.c) */
    FLIGHTS = 16,
    BLOCK_BYTES = 512,
    WORST_PERCENT = 15, /* how far the prediction may be off */
    ROUNDS = 3
};

/* ---- time ------------------------------------------------------------------------------------ */

static uint64_t sim_ns;

static uint64_t sim_ticks(void *context)
{
    (void)context;
    sim_ns += LOOK_NS;
    return sim_ns;
}

static uint64_t sim_ps; /* a byte of a matrix */
static void (*real_gemv)(float *restrict y, const void *restrict w,
                         const struct block_q8 *restrict x, size_t rows, size_t cols, size_t ahead);

static void timed_gemv(float *restrict y, const void *restrict w, const struct block_q8 *restrict x,
                       size_t rows, size_t cols, size_t ahead)
{
    real_gemv(y, w, x, rows, cols, ahead);
    sim_ns += rows * image_type_row_bytes(INGOT_Q8_0, (uint32_t)cols) * sim_ps / 1000;
}

/* ---- the firmware ---------------------------------------------------------------------------- */

bool core_interrupts_mask(void)
{
    return false;
}

void core_interrupts_restore(bool on)
{
    (void)on;
}

static struct {
    struct efi_system_table system;
    struct efi_boot_services boot;
    struct efi_block block;
    struct efi_block2 block2;
    struct efi_block_media media;
    bool flies; /* it has BlockIO2 */
    struct {
        struct efi_block_token *token;
        uint64_t due;
    } flights[FLIGHTS];
    uint64_t drive; /* it is busy until then */
    unsigned n_reads, n_flown;
} fw;

static uint64_t transfer_ns(uint64_t bytes)
{
    return bytes * HZ / RATE;
}

static void copy(uint64_t lba, uint64_t bytes, void *to)
{
    uint64_t at = lba * BLOCK_BYTES;

    memset(to, 0, bytes);
    if (at < rig.packed_bytes)
        memcpy(to, rig.packed + at, min_u64(bytes, rig.packed_bytes - at));
}

static efi_status EFI_API read_now(struct efi_block *block, uint32_t id, uint64_t lba,
                                   uint64_t bytes, void *to)
{
    (void)block, (void)id;
    copy(lba, bytes, to);
    sim_ns += CALL_NS + transfer_ns(bytes);
    fw.n_reads++;
    return EFI_SUCCESS;
}

/* The bytes are there at once; the caller looks at them when the event has come. */
static efi_status EFI_API read_later(struct efi_block2 *block, uint32_t id, uint64_t lba,
                                     struct efi_block_token *token, uint64_t bytes, void *to)
{
    (void)block, (void)id;
    sim_ns += CALL_NS;
    for (unsigned i = 0; i < FLIGHTS; i++) {
        if (fw.flights[i].token != NULL)
            continue;
        copy(lba, bytes, to);
        fw.drive = max_u64(fw.drive, sim_ns) + transfer_ns(bytes);
        fw.flights[i].token = token;
        fw.flights[i].due = (fw.drive + TICK_NS - 1) / TICK_NS * TICK_NS;
        fw.n_flown++;
        return EFI_SUCCESS;
    }
    return EFI_OUT_OF_RESOURCES;
}

static efi_status EFI_API make_event(uint32_t type, uint64_t tpl, void *notify, void *context,
                                     efi_event *event)
{
    static uint8_t events[4096];
    static unsigned n;

    (void)type, (void)tpl, (void)notify, (void)context;
    *event = &events[n++ % sizeof events];
    return EFI_SUCCESS;
}

static efi_status EFI_API close_event(efi_event event)
{
    (void)event;
    return EFI_SUCCESS;
}

static efi_status EFI_API look_at_event(efi_event event)
{
    sim_ns += LOOK_NS;
    for (unsigned i = 0; i < FLIGHTS; i++) {
        struct efi_block_token *token = fw.flights[i].token;

        if (token == NULL || token->event != event || fw.flights[i].due > sim_ns)
            continue;
        token->status = EFI_SUCCESS;
        fw.flights[i].token = NULL;
        return EFI_SUCCESS;
    }
    return EFI_NOT_READY;
}

static efi_status EFI_API handle_protocol(efi_handle handle, const struct efi_guid *guid,
                                          void **interface)
{
    (void)handle;
    if (memcmp(guid, &efi_block_guid, sizeof *guid) == 0)
        *interface = &fw.block;
    else if (fw.flies && memcmp(guid, &efi_block2_guid, sizeof *guid) == 0)
        *interface = &fw.block2;
    else
        return EFI_UNSUPPORTED;
    return EFI_SUCCESS;
}

static efi_status EFI_API set_watchdog(uint64_t seconds, uint64_t code, uint64_t bytes, void *data)
{
    (void)seconds, (void)code, (void)bytes, (void)data;
    return EFI_SUCCESS;
}

static struct efi_disk disk;

static void power_up(bool flies)
{
    memset(&fw, 0, sizeof fw);
    memset(&disk, 0, sizeof disk);
    fw.flies = flies;
    fw.boot.create_event = make_event;
    fw.boot.close_event = close_event;
    fw.boot.check_event = look_at_event;
    fw.boot.handle_protocol = handle_protocol;
    fw.boot.set_watchdog = set_watchdog;
    fw.system.boot = &fw.boot;
    fw.media = (struct efi_block_media){ .id = 1,
                                         .present = true,
                                         .block_bytes = BLOCK_BYTES,
                                         .last_block = RIG_MOST_BYTES / BLOCK_BYTES - 1 };
    fw.block = (struct efi_block){ .media = &fw.media, .read = read_now };
    fw.block2 = (struct efi_block2){ .media = &fw.media, .read = read_later };
    efi_call_open((efi_handle)1, &fw.system);
    if (!efi_disk_open(&disk, (efi_handle)2, 0))
        rig_die("the disk does not open");
    rig.device = &disk.device;
}

/* ---- the model ------------------------------------------------------------------------------- */

static struct platform platform = { .clock = { .ticks = sim_ticks, .hz = HZ } };

/* The model streams. The drive's rates are measured as at a start; the others are the costs of the
 * kernels. */
static void start(bool flies, size_t limit, uint64_t ps)
{
    static _Alignas(4096) uint8_t room[2 << 20];
    struct plan *plan = &rig.model.plan;

    power_up(flies);
    sim_ps = 0;
    if (rig_start(limit, 0, false) != ERR_OK)
        rig_die(rig.model.error_message);
    rig.file.timeout = (struct file_timeout){ &platform, UINT64_MAX / 2 };
    real_gemv = rig.kernels.gemv_f32_q8x8_q8;
    rig.kernels.gemv_f32_q8x8_q8 = timed_gemv;
    calibrate_storage(&plan->rates, &rig.file, &platform.clock,
                      (struct memory_range){ room, sizeof room }, NULL, NULL);
    sim_ps = ps;
    plan->rates.decode[INGOT_Q8_0] = (uint32_t)ps;
    plan->rates.cores = 1;
    plan_predict(plan, &rig.model.image);
    fw.n_reads = fw.n_flown = 0;
}

/* Returns nanoseconds per token, of the tokens after the first two, which fill the ring; 0: a reply
 * was wrong. */
static uint64_t token_ns(void)
{
    uint64_t begin = 0;
    bool right = true;

    for (uint32_t i = 0; i < N_TOKENS; i++) {
        begin = i == 2 ? sim_ns : begin;
        right = append(i) && right;
    }
    return right ? (sim_ns - begin) / (N_TOKENS - 2) : 0;
}

static int off_percent(uint64_t predicted, uint64_t measured)
{
    return (int)((int64_t)predicted * 100 / (int64_t)measured - 100);
}

/* Returns picoseconds per byte with which computing takes `times` tenths of the transfer's time. */
static uint64_t ps_of(size_t limit, uint64_t tenths)
{
    const struct plan *plan = &rig.model.plan;
    uint64_t at_once, transfer;

    start(true, limit, 1000);
    transfer = transfer_ns(plan->layers.read + plan->head.read);
    rig.model.plan.rates.card = UINT64_MAX / 2000; /* of no time */
    plan_predict(&rig.model.plan, &rig.model.image);
    at_once = plan->prediction.decode_ns;
    return max_u64(transfer * tenths * 100 / at_once, 1);
}

static void test_way(bool flies, const char *what, size_t limit, uint64_t tenths)
{
    uint64_t ps = ps_of(limit, tenths), measured, predicted;
    int off;

    start(flies, limit, ps);
    predicted = rig.model.plan.prediction.decode_ns;
    OK(flies == (rig.model.plan.rates.io_core == 0),
       "%s: a core moves the bytes for %u %% of a transfer", what,
       (unsigned)rig.model.plan.rates.io_core);
    measured = token_ns();
    off = measured != 0 ? off_percent(predicted, measured) : 100;
    OK(off >= -WORST_PERCENT && off <= WORST_PERCENT,
       "%s, computing / transfer %u.%u: %u us are predicted, %u us measured: %d %%", what,
       (unsigned)tenths / 10, (unsigned)tenths % 10, (unsigned)(predicted / 1000),
       (unsigned)(measured / 1000), off);
    OK(flies == (fw.n_flown != 0), "%s: %u reads are in flight, and core 0 waits for %u", what,
       fw.n_flown, fw.n_reads);
}

/* The test notices a plan that takes one way for the other. */
static void test_other_way(size_t limit)
{
    uint64_t ps = ps_of(limit, 10), measured;

    start(false, limit, ps);
    rig.model.plan.rates.io_core = 0;
    plan_predict(&rig.model.plan, &rig.model.image);
    measured = token_ns();
    OK(measured != 0 && off_percent(rig.model.plan.prediction.decode_ns, measured) < -WORST_PERCENT,
       "a plan that takes BlockIO for BlockIO2 is off by %d %%",
       off_percent(rig.model.plan.prediction.decode_ns, max_u64(measured, 1)));
}

int main(void)
{
    static const uint64_t tenths[] = { 3, 10, 30 };
    struct rig_limits limits;

    rig_alone();
    rig_make_model("untied", INGOT_Q8_0);
    rig_compute(true);
    limits = rig_limits();
    set_expected();
    for (unsigned i = 0; i < sizeof tenths / sizeof tenths[0]; i++) {
        test_way(false, "BlockIO", limits.untiled, tenths[i]);
        test_way(true, "BlockIO2", limits.untiled, tenths[i]);
    }
    test_way(false, "BlockIO, the head in tiles", limits.least, 10);
    test_way(true, "BlockIO2, the head in tiles", limits.least, 10);
    test_other_way(limits.untiled);
    return tap_done();
}
