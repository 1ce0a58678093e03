/* MP services of a PC's firmware, of which each function may fail: cores that cannot start are left
 * out, and a sentence says why there is only one. */
#include "board/efi/efi_parts.h"
#include "board/left_out.h"

#include "tests/unit/board/fakes/fake_efi.h"

#if defined(__x86_64__)

#include "board/efi/x86_64/efi_core.h"

enum { MOST = 20 };

/* UEFI Platform Initialization 1.7, volume 2, 13.4. */
struct fake_mp {
    efi_status(EFI_API *count)(void *mp, uint64_t *n, uint64_t *enabled);
    efi_status(EFI_API *info)(void *mp, uint64_t number, void *info);
    void *start_all;
    efi_status(EFI_API *start_one)(void *mp, void(EFI_API *procedure)(void *arg), uint64_t number,
                                   efi_event event, uint64_t timeout, void *arg, bool *finished);
    void *others[3];
};
static const struct efi_guid mp_guid = {
    0x3fdda605, 0xa76e, 0x4f46, { 0xad, 0x29, 0x12, 0xf4, 0x53, 0x1b, 0x3d, 0x08 }
};

static struct {
    struct fake_mp mp;
    uint64_t n, broken; /* processors; the one about which nothing is known */
    uint64_t started[MOST];
    unsigned n_started;
    bool no_count, no_start;
} fake;

static efi_status EFI_API fake_count(void *mp, uint64_t *n, uint64_t *enabled)
{
    (void)mp;
    *n = fake.n;
    *enabled = fake.n;
    return fake.no_count ? FAKE_ERROR : EFI_SUCCESS;
}

/* Number 0 has started the machine, number 2 is switched off. */
static efi_status EFI_API fake_info(void *mp, uint64_t number, void *to)
{
    struct {
        uint64_t id;
        uint32_t status;
    } info = { 2 * number, number == 0 ? 7 : number == 2 ? 4 : 6 };

    (void)mp;
    memcpy(to, &info, sizeof info);
    return number == fake.broken ? FAKE_ERROR : EFI_SUCCESS;
}

static efi_status EFI_API fake_start(void *mp, void(EFI_API *procedure)(void *arg), uint64_t number,
                                     efi_event event, uint64_t timeout, void *arg, bool *finished)
{
    (void)mp, (void)procedure, (void)arg, (void)finished;
    if (fake.no_start || event == NULL || timeout != 0)
        return FAKE_ERROR;
    fake.started[fake.n_started++] = number;
    return EFI_SUCCESS;
}

void core_keep_job(unsigned number, void (*entry)(void *arg), void *arg)
{
    (void)number, (void)entry, (void)arg;
}

void EFI_API core_begin(void *arg)
{
    (void)arg;
}

static void work(void *arg)
{
    (void)arg;
}

static struct machine machine;

static const char *find(void)
{
    memset(&machine, 0, sizeof machine);
    machine.n_cores = 1;
    return efi_isa_find_cores(NULL, &machine);
}

static void power_up(uint64_t n)
{
    fake_power_up();
    memset(&fake, 0, sizeof fake);
    fake.mp = (struct fake_mp){ .count = fake_count, .info = fake_info, .start_one = fake_start };
    fake.n = n;
    fake.broken = MOST;
    fake_add(7, &mp_guid, &fake.mp);
}

static bool starts(unsigned number)
{
    return efi_isa_start_core(number, work, NULL) == ERR_OK;
}

int main(void)
{
    const char *why;

    power_up(5);
    OK(find() == NULL && machine.n_cores == 4 && machine.core_ids[1] == 2 &&
           machine.core_ids[2] == 6,
       "a processor that is switched off is left out");
    OK(starts(1) && starts(2) && fake.started[0] == 1 && fake.started[1] == 3,
       "a core is started by the firmware's number");
    OK(!starts(0) && !starts(4), "core 0 does not start again, and there is no fifth core");
    fw.no_events = true;
    OK(!starts(3), "a core does not start if CreateEvent fails");
    fw.no_events = false;
    fake.no_start = true;
    OK(!starts(3), "a core does not start if StartupThisAP fails");
    power_up(5);
    fake.broken = 1;
    OK(find() == NULL && machine.n_cores == 3 && machine.core_ids[1] == 6,
       "the other cores work if GetProcessorInfo fails for one");
    fake.no_count = true;
    why = find();
    OK(why != NULL && machine.n_cores == 1,
       "only one core works if GetNumberOfProcessors fails: %s", why);
    fake_power_up();
    why = find();
    OK(why != NULL && machine.n_cores == 1, "only one core works without MP services: %s", why);
    power_up(MOST);
    OK(find() == NULL && machine.n_cores == BOARD_MAX_CORES, "%u cores are taken at most",
       (unsigned)BOARD_MAX_CORES);
    OK(left_out_number(LEFT_OUT_CORES) == MOST - 1 - BOARD_MAX_CORES,
       "the cores that are left out are counted: %u", left_out_number(LEFT_OUT_CORES));
    return tap_done();
}

#else

int main(void)
{
    printf("1..0 # SKIP MP services are a PC's, and this test runs on one\n");
    return 0;
}

#endif
