ISA := riscv64
# A U54 has neither vectors nor carry-less products.
KERNELS_WITHOUT := rvv zvfh zvknha zbb zbc
QEMU ?= qemu-system-riscv64
QEMU_MACHINE ?= -M sifive_u -m 512M -nographic -nic none
# QEMU needs one more hart than cores: the E51, which we do not use.
QEMU_SMP = $(shell expr $(CORES) + 1)
QEMU_CARD = -drive if=sd,format=raw,file=$(1)
# Text of the log about the card; the golden table runs on every board that has this line.
QEMU_CARD_SAYS := SD over SPI at 0x10050000
# make run NETWORK=yes: the board's server is at port 8080 of this computer.
QEMU_NETWORK ?= -nic user,id=lan,model=cadence_gem,hostfwd=tcp:127.0.0.1:8080-:80
