"""Reset, memory map, traps: seen on the emulated machines."""

from row import row

MMU, PANIC = "boot/mmu.c", "boot/panic.c"

ROWS = [
    row("stacks: the guards of trap stacks are mapped", MMU,
        "map_own(stack_trap_bottom(core), stack_trap_bottom(core) + STACK_TRAP, MAP_DATA);",
        "map_own(stack_trap_bottom(core) - STACK_GUARD, stack_trap_bottom(core) + STACK_TRAP,\n"
        "                MAP_DATA);", "boot/traps.t:virt-arm64:trap-stack"),
    row("stacks: the guards of stacks are mapped", MMU,
        "map_own(stack_bottom(core), stack_bottom(core) + stack_bytes(core), MAP_DATA);",
        "map_own(stack_bottom(core) - STACK_GUARD, stack_bottom(core) + stack_bytes(core),\n"
        "                MAP_DATA);", "boot/traps.t:virt-arm64:stack-overflow"),
    row("mmu: constants may be written", MMU, "map_own(rodata_start, rodata_end, MAP_RODATA);",
        "map_own(rodata_start, rodata_end, MAP_DATA);", "boot/traps.t:virt-riscv64:write-rodata"),
    row("mmu arm64: code may be written", "boot/arm64/mmu.c",
        "return ENTRY_ATTRIBUTE(ATTRIBUTE_NORMAL) | ENTRY_INNER | ENTRY_READ_ONLY |\n"
        "               ENTRY_NO_EXECUTE_0;",
        "return ENTRY_ATTRIBUTE(ATTRIBUTE_NORMAL) | ENTRY_INNER | ENTRY_NO_EXECUTE_0;",
        "boot/traps.t:virt-arm64:write-code"),
    row("mmu arm64: constants may be executed", "boot/arm64/mmu.c",
        "ENTRY_INNER | ENTRY_READ_ONLY | ENTRY_NO_EXECUTE;", "ENTRY_INNER | ENTRY_READ_ONLY;",
        "boot/traps.t:virt-arm64:execute-rodata"),
    row("mmu riscv64: data may be executed", "boot/riscv64/mmu.c",
        "case MAP_DATA: return flags | ENTRY_WRITE | ENTRY_DIRTY;",
        "case MAP_DATA: return flags | ENTRY_WRITE | ENTRY_DIRTY | ENTRY_EXECUTE;",
        "boot/traps.t:virt-riscv64:execute-data"),
    row("trap riscv64: no address of what was read", "boot/riscv64/trap.c",
        "(cause >= 12 && cause <= 15)", "(cause > 13 && cause <= 15)",
        "boot/traps.t:virt-riscv64:read-null"),
    row("trap arm64: a write is called a read", "boot/arm64/trap.c",
        "(frame->esr >> 6 & 1) != 0", "(frame->esr >> 7 & 1) != 0",
        "boot/traps.t:virt-arm64:write-rodata"),
    row("trap arm64: a register in the wrong place", "boot/arm64/vectors.S",
        "    b       trap_save\n.endm", "    mov     x17, x28\n    b       trap_save\n.endm",
        "boot/traps.t:virt-arm64:undefined"),
    row("trap riscv64: a register in the wrong place", "boot/riscv64/start.S",
        "    sd      x1, 8(sp)\n", "    sd      x5, 8(sp)\n",
        "boot/traps.t:virt-riscv64:undefined"),
    row("panic: a backtrace without its last call", PANIC, "frame % 16 == 0; n++",
        "frame % 16 == 0 && n < 1; n++", "boot/traps.t:virt-arm64:panic"),
    row("reset arm64: secondary cores on the wrong stack", "boot/arm64/start.S",
        "    csel    x10, x11, x10, eq\n", "    csel    x10, x11, x10, al\n", "golden/demo_boot.t"),
    row("reset riscv64: the FPU is off", "boot/riscv64/start.S",
        "    li      t0, SSTATUS_FS | SSTATUS_VS\n", "    li      t0, SSTATUS_VS\n",
        "golden/demo_boot.t"),
    row("strings: the last byte is not looked at", "boot/strings.c",
        "    for (; n != 0; at++, n--) {", "    for (; n > 1; at++, n--) {", "golden/demo_boot.t"),
]
