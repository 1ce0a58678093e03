/* Reads the date from the firmware's clock. UEFI 2.10, 8.3. */
#include "board/efi/efi_call.h"
#include "board/efi/efi_parts.h"

enum { FIRST_YEAR = 1998, LAST_YEAR = 2199, MINUTE = 60, HOUR = 3600, DAY = 86400 };

static bool is_date(const struct efi_time *t)
{
    return t->year >= FIRST_YEAR && t->year <= LAST_YEAR && t->month >= 1 && t->month <= 12 &&
           t->day >= 1 && t->day <= 31 && t->hour < 24 && t->minute < 60 && t->second < 60;
}

/* Days since 1 March of year 0. Years begin in March here, so that the leap day is a year's last
 * day. */
static uint64_t days_of(unsigned year, unsigned month, unsigned day)
{
    unsigned y = month < 3 ? year - 1 : year, m = month < 3 ? month + 9 : month - 3;

    return 365ull * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1;
}

/* The firmware's local time in seconds since 1970; it is not converted, because nothing here needs
 * another zone. */
uint64_t efi_clock_date(void)
{
    struct efi_time t = { 0 };

    if (efi_system()->runtime->get_time == NULL ||
        efi_failed(EFI_CALL(efi_system()->runtime->get_time(&t, NULL))) || !is_date(&t))
        return 0;
    return (days_of(t.year, t.month, t.day) - days_of(1970, 1, 1)) * DAY + t.hour * HOUR +
           t.minute * MINUTE + t.second;
}
