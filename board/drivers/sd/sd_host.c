#include "board/drivers/sd/sd_host.h"

enum { RUN_MICROS = 1000000 };

uint64_t sd_host_ticks(const struct sd_host *host, uint64_t micros)
{
    return (micros * host->ticks_hz + 999999) / 1000000;
}

void sd_host_delay(const struct sd_host *host, uint32_t micros)
{
    uint64_t start = host->ticks(), ticks = sd_host_ticks(host, micros) + 1;

    while (host->ticks() - start < ticks)
        continue;
}

enum err sd_host_run(struct sd_host *host, struct sd_command *command)
{
    uint64_t start = host->ticks(), limit = sd_host_ticks(host, RUN_MICROS);
    enum err e;

    command->fault = SD_FAULT_NONE;
    e = host->ops->start(host, command);
    if (e != ERR_OK)
        return e;
    do
        e = host->ops->poll(host);
    while (e == ERR_BUSY && host->ticks() - start < limit);
    if (e == ERR_OK)
        return ERR_OK;
    host->ops->stop(host);
    if (e != ERR_BUSY)
        return e;
    command->fault = command->data != NULL ? SD_FAULT_DATA_TIMEOUT : SD_FAULT_COMMAND_TIMEOUT;
    return ERR_TIMEOUT;
}
