"""Machines with EFI firmware in QEMU: the firmware that is installed, the sticks from which it starts, and runs."""

import os
import subprocess

from machine import BUILD, HOST, WORK, run

AAVMF, UBOOT = "/usr/share/qemu-efi-aarch64/QEMU_EFI.fd", "/usr/lib/u-boot"
OVMF = "/usr/share/ovmf/OVMF.fd"
VIRT = ["-nographic", "-nic", "none"]
# EDK2 reads an NVMe or SATA drive while the program continues (BlockIO2), and a virtio disk while it waits.
VIRTIO, NVME, SATA = "virtio-blk-pci,drive=card,romfile=", "nvme,drive=card,serial=ingot,romfile=", "ide-hd,drive=card,bus=ide.0"


class Firmware:
    """A machine and its firmware: the program's board, the firmware's package and file."""

    def __init__(self, name, board, package, path, command, memory="1G"):
        self.name, self.board, self.package, self.path, self.command = name, board, package, path, command + ["-m", memory]

    def missing(self):
        """The first missing part without which the machine cannot run; "" if there is none."""
        for path in (self.path, os.path.join(BUILD, self.board, "ingot.bin"), f"/usr/bin/{self.command[0]}"):
            if not os.path.exists(path):
                return f"{path} is not installed ({self.package}: make setup-tests)" if path == self.path else f"{path} is not there"
        return ""

    def run(self, stick, cores=1, more=(), timeout=150, disk=VIRTIO):
        """Start the machine from the stick, by the firmware's own boot order, until it switches off: (status, console)."""
        return run(self.start(stick, cores, more, disk), timeout)

    def start(self, stick, cores=1, more=(), disk=VIRTIO):
        drive = f"if=none,id=card,format=raw,cache=unsafe,file.locking=off,file={stick}"
        return self.command + VIRT + ["-smp", str(cores), "-no-reboot", "-drive", drive, "-device", disk, *more]


ARM = ["qemu-system-aarch64", "-cpu", "cortex-a72"]
FIRMWARE = {f.name: f for f in (
    Firmware("AAVMF with ACPI", "efi-arm64", "qemu-efi-aarch64", AAVMF, ARM + ["-M", "virt", "-bios", AAVMF]),
    Firmware("AAVMF with a tree", "efi-arm64", "qemu-efi-aarch64", AAVMF, ARM + ["-M", "virt,acpi=off", "-bios", AAVMF]),
    Firmware("U-Boot arm64", "efi-arm64", "u-boot-qemu", f"{UBOOT}/qemu_arm64/u-boot.bin",
             ARM + ["-M", "virt", "-bios", f"{UBOOT}/qemu_arm64/u-boot.bin"]),
    Firmware("U-Boot riscv64", "efi-riscv64", "u-boot-qemu", f"{UBOOT}/qemu-riscv64_smode/u-boot.bin",
             ["qemu-system-riscv64", "-M", "virt", "-cpu", "rv64,v=false", "-kernel", f"{UBOOT}/qemu-riscv64_smode/u-boot.bin"]),
    # OVMF loads a program at its linked address if there is memory. Here memory ends at 256 MiB, below that address.
    Firmware("OVMF", "efi-x86_64", "ovmf", OVMF, ["qemu-system-x86_64", "-M", "q35", "-cpu", "max", "-bios", OVMF], "256M"),
)}
PROGRAMS = {"efi-arm64": "BOOTAA64.EFI", "efi-riscv64": "BOOTRISCV64.EFI", "efi-x86_64": "BOOTX64.EFI"}


def make_stick(name, words, *models, board="efi", options=()):
    """Make a stick with `ingot card efi` for the boards that are built."""
    os.makedirs(WORK, exist_ok=True)
    out = os.path.join(WORK, name)
    subprocess.run([HOST, "card", board, "-o", out, "--boards", BUILD, "--cmdline", words, *options, *models],
                   check=True, capture_output=True, timeout=120)
    return out


class Started:
    """A machine with a stick, in the form that talk.Console needs."""

    def __init__(self, name, stick, cores=2, more=(), disk=VIRTIO):
        self.board, self.words = name, FIRMWARE[name].start(stick, cores, more, disk)

    def command(self, _words, _cores, _drives):
        return list(self.words)


def put_program(stick, board, program):
    """Put another program on the stick, in the place of Ingot."""
    path = os.path.join(WORK, os.path.basename(stick) + ".efi")
    with open(path, "wb") as f:
        f.write(program)
    subprocess.run(["mcopy", "-o", "-i", stick + "@@1M", path, "::EFI/BOOT/" + PROGRAMS[board]], check=True, capture_output=True, timeout=60)
    os.remove(path)
