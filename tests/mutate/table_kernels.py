"""Kernels in assembly and the references, against each other under the emulators of qemu-user."""

from row import row

A53, A76 = "kernels/arm64/cortex-a53/", "kernels/arm64/cortex-a76/"
RVV = "kernels/riscv64/rv64,v=true,vlen=128,elen=64/"
RV64 = "kernels/riscv64/rv64,v=false/"
NATIVE = "kernels/x86_64/native/"

ROWS = [
    row("arm64 add: sixteen left over are skipped", "kernels/arm64/add_f32_neon.S",
        "    tbz     left, #4, 3f\n", "    b       3f\n", A53 + "add_f32_neon"),
    row("arm64 add: the last one is not added", "kernels/arm64/add_f32_neon.S",
        "    b.ne    4b\n", "    b.hi    5f\n    cbnz    left, 4b\n", A53 + "add_f32_neon"),
    row("arm64 rmsnorm: two roundings for one", "kernels/arm64/rmsnorm_f32_neon.S",
        "    fmadd   s5, s4, s4, s5\n", "    fmul    s4, s4, s4\n    fadd    s5, s4, s5\n",
        A53 + "rmsnorm_f32_neon"),
    row("arm64 rmsnorm: no eps", "kernels/arm64/rmsnorm_f32_neon.S",
        "    fadd    s16, s16, s0\n", "", A53 + "rmsnorm_f32_neon"),
    row("arm64 rope: the sine's sign", "kernels/arm64/rope_f32_halves_neon.S",
        "    fmsub   s4, s1, s3, s4\n", "    fmadd   s4, s1, s3, s4\n",
        A53 + "rope_f32_halves_neon"),
    row("arm64 quantize: half to the larger", "kernels/arm64/quantize_q8_f32_neon.S",
        "    fcvtns  v3.4s, v3.4s\n", "    fcvtas  v3.4s, v3.4s\n", A53 + "quantize_q8_f32_neon"),
    row("arm64 gemv q8: -128 times -128 wraps", "kernels/arm64/gemv_f32_q8x8_q8_neon.S",
        "    cmn     least, #128\n", "    cmn     least, #129\n", A53 + "gemv_f32_q8x8_q8_neon"),
    row("arm64 gemv q8: a register that must be kept", "kernels/arm64/gemv_f32_q8x8_q8_neon.S",
        "    restore_vectors\n", "    restore_vectors\n    fmov    d9, d0\n",
        A53 + "gemv_f32_q8x8_q8_neon"),
    row("arm64 gemv q4: the high nibbles are the low ones",
        "kernels/arm64/gemv_f32_q4x8_q8_neon_dotprod.S",
        "    ushr    \\rows4567\\().16b, \\rows4567\\().16b, #4\n", "",
        A76 + "gemv_f32_q4x8_q8_neon_dotprod"),
    row("arm64 crc32c: the pieces' power", "kernels/arm64/crc32c_u8_neon_crc.S",
        "#define POWER 0xa3c88bd4", "#define POWER 0xa3c88bd5", A53 + "crc32c_u8_neon_crc"),
    row("riscv64 add: one element less", "kernels/riscv64/add_f32_rvv.S",
        "    vfadd.vv total, total, addend\n",
        "    addi t1, taken, -1\n    vsetvli t1, t1, e32, m8, ta, ma\n"
        "    vfadd.vv total, total, addend\n    vsetvli t1, taken, e32, m8, ta, ma\n"
        "    slli bytes, taken, 2\n", RVV + "add_f32_rvv"),
    row("riscv64 rope: the sine's sign", "kernels/riscv64/rope_f32_halves_rvv.S",
        "    vfnmsac.vv new_first, second, sine", "    vfmacc.vv new_first, second, sine",
        RVV + "rope_f32_halves_rvv"),
    row("riscv64 rmsnorm: the tail is left out", "kernels/riscv64/rmsnorm_f32_rvv.S",
        "    beqz left, .Lfold\n", "    j .Lfold\n", RVV + "rmsnorm_f32_rvv"),
    row("riscv64 exp: the last bit of the smallest coefficient", "kernels/riscv64/exp_rvv.h",
        "    .word 0x3ab6889e, 0x3c0905d1 ", "    .word 0x3ab6889d, 0x3c0905d1 ",
        RVV + "exp_sum_f32_rvv " + RVV + "silu_mul_f32_rvv",
        "it moves one result in 12 million, counted over the floats of the reference"),
    row("riscv64 exp: the last bit of a large coefficient", "kernels/riscv64/exp_rvv.h",
        "    .word 0x3d2aaa8d, 0x3e2aaa6e ", "    .word 0x3d2aaa8d, 0x3e2aaa6f ",
        RVV + "exp_sum_f32_rvv " + RVV + "silu_mul_f32_rvv"),
    row("riscv64 gemv q4: the packed sums' bias", "kernels/riscv64/gemv_f32_q4x8_q8_rv64gc.S",
        "    li start, (1 << 47) + (1 << 15)\n", "    li start, (1 << 47)\n",
        RV64 + "gemv_f32_q4x8_q8_rv64gc"),
    row("reference softmax: the maximum of earlier tiles is forgotten", "kernels/ref/attention.c",
        "tile_max > s[a].max ? tile_max : s[a].max", "tile_max", NATIVE + "online_softmax"),
    row("reference rmsnorm: the offset after the product", "kernels/ref/vector.c",
        "(x[i] * scale) * (offset + w[i])", "x[i] * (scale * (offset + w[i]))", NATIVE + "rmsnorm"),
    row("reference attention: positions of a tile from the end", "kernels/ref/attention.c",
        "            for (size_t j = 0; j < n; j++) {\n                o[i] = fmaf(s[a].s[j], f32",
        "            for (size_t j = n; j-- > 0;) {\n                o[i] = fmaf(s[a].s[j], f32",
        NATIVE + "accumulate_f32_f16"),
]
