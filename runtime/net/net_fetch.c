/* Opens a file of a store as a block device, and takes the device's requests. */
#include "runtime/net/net_private.h"

#include <string.h>

#include <lwip/dns.h>

#include "board/min_max.h"

enum { MS_A_SECOND = 1000 };

/* ---- the device ---- */

static enum err net_file_submit(struct block_device *device, struct block_request *request)
{
    struct net_file *f = device->driver;
    uint64_t first = request->sector * SECTOR_BYTES;
    size_t room = (size_t)request->n_sectors * SECTOR_BYTES;
    enum err e = block_request_check(device, request);
    struct net_job job = { .request = request, .first = first, .to = request->buffer };

    if (e != net_fine) {
        return e;
    }
    /* The file may end within the last sector. */
    job.bytes = min_u64(room, f->version.bytes - first);
    memset(job.to + job.bytes, 0, room - (size_t)job.bytes);
    request->done = false;
    return err_unless(net_store_add(f, &job), ERR_BUSY);
}

static enum err net_file_poll(struct block_device *device)
{
    struct net_file *f = device->driver;

    if (net_store_works(&f->net->store)) {
        net_poll(f->net);
    }
    return net_fine;
}

/* The requests took too long. If nothing went wrong with them, the answers come too slowly. */
static enum err net_file_reset(struct block_device *device)
{
    if (device->reason == NULL) {
        device->reason = "the store sends too slowly";
    }
    net_store_forget(device->driver);
    return net_fine;
}

/* ---- opening ---- */

static bool has_address(struct net_file *f)
{
    struct net *n = f->net;

    (void)net_address_changed(n);
    return n->link && (n->address[0] != '\0' || n->address6[0] != '\0');
}

static bool is_resolved(struct net_file *f)
{
    return f->resolved || f->resolve_failed;
}

static bool is_open(struct net_file *f)
{
    return f->opening == HTTP_RANGE_DONE || f->opening == HTTP_RANGE_WRONG;
}

/* Poll until the condition holds. Returns false if the wait took too long. */
static bool wait_until(struct net_file *f, bool (*ready)(struct net_file *f), uint32_t seconds)
{
    const struct platform *p = f->net->setup.platform;
    uint64_t begin = net_now_ms(f->net);

    while (!ready(f)) {
        if (net_now_ms(f->net) - begin > seconds * MS_A_SECOND) {
            return false;
        }
        net_poll(f->net);
        platform_alive(&p->power);
    }
    return true;
}

static void on_resolved(const char *name, const ip_addr_t *ip, void *context)
{
    struct net_file *f = context;

    /* Ignore the answer to an earlier question, which was about another host. */
    if (strcmp(name, f->address.host) != 0) {
        return;
    }
    f->resolved = ip != NULL;
    f->resolve_failed = ip == NULL;
    if (ip != NULL) {
        f->ip = *ip;
    }
}

/* Resolve the host. Returns NULL if f->ip is now the host's address. */
static const char *resolve(struct net_file *f)
{
    if (ipaddr_aton(f->address.host, &f->ip)) {
        return NULL;
    }
    switch (dns_gethostbyname(f->address.host, &f->ip, on_resolved, f)) {
    case ERR_OK: return NULL;
    case ERR_INPROGRESS: break;
    default: return "the name of the store cannot be looked up: give its address";
    }
    if (!wait_until(f, is_resolved, NET_STORE_OPEN_SECONDS) || !f->resolved) {
        return "no DNS server knows the store's name: give its address";
    }
    return NULL;
}

/* Open the file. Returns NULL if the file's length and version are known. */
static const char *open_file(struct net_file *f)
{
    const struct net_job job = { .bytes = 1, .to = &f->first };
    const char *why = http_address_read(&f->address, f->name);

    if (why != NULL) {
        return why;
    }
    if (!wait_until(f, has_address, NET_STORE_ADDRESS_SECONDS)) {
        return "the board has no address: look at the cable, and at net=";
    }
    why = resolve(f);
    if (why != NULL) {
        return why;
    }
    if (!net_store_add(f, &job)) {
        return "too many reads from stores at once";
    }
    if (wait_until(f, is_open, NET_STORE_OPEN_SECONDS) && f->opening == HTTP_RANGE_DONE) {
        return NULL;
    }
    net_store_forget(f);
    return f->reason[0] != '\0' ? f->reason : "the store does not answer";
}

static void fill_device(struct net_file *f)
{
    f->device = (struct block_device){
        .name = f->name,
        .n_sectors = (f->version.bytes + SECTOR_BYTES - 1) / SECTOR_BYTES,
        .max_sectors = NET_STORE_SECTORS,
        .queue_depth = NET_STORE_JOBS - 1, /* one job is reserved for opening files */
        .flash = true,                     /* the device is one .ingot file from its first byte
                                            * on */
        .submit = net_file_submit,
        .poll = net_file_poll,
        .reset = net_file_reset,
        .driver = f,
    };
}

void net_fetch_forget(struct net *n)
{
    for (unsigned i = 0; i < NET_STORE_FILES; i++) {
        n->store.files[i].device.in_use = false;
    }
}

struct block_device *net_fetch(struct net *n, const char *address, const char **why)
{
    struct net_file *f = NULL;

    for (unsigned i = 0; i < NET_STORE_FILES; i++) {
        if (!n->store.files[i].device.in_use) {
            f = &n->store.files[i];
        }
    }
    *why = "too many files of stores are in use";
    if (f == NULL) {
        return NULL;
    }
    *why = "the address of a model has up to 255 characters";
    if (strlen(address) >= sizeof f->name) {
        return NULL;
    }
    memset(f, 0, sizeof *f);
    f->net = n;
    memcpy(f->name, address, strlen(address) + 1);
    *why = open_file(f);
    if (*why != NULL) {
        return NULL;
    }
    fill_device(f);
    return &f->device;
}
