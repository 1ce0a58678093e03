#!/usr/bin/perl
# Runs the built kernel testers on every CPU that they are made for, and joins their TAP, one line for each row and CPU. Builds nothing. A
# program or emulator that is missing is skipped by name.
#
#   KERNELS_TEST_DIR  where kernels_test.<isa> lie; default $INGOT_BUILD/tests/kernels
#   KERNELS_TEST_SEED repeats a run; the digests of an op must agree between all of them
use strict;
use warnings;

my $dir = $ENV{KERNELS_TEST_DIR} // ($ENV{INGOT_BUILD} // 'build') . '/tests/kernels';
my $seed = $ENV{KERNELS_TEST_SEED} // time;

# Each row: program, name of the CPU in its lines, command before the program, options. References and the broken kernels do not depend on the CPU,
# except for the registers that the tester poisons, so they run once for each set of registers; kernels run on every CPU. If only some kernels depend
# on a vector length or a feature, `make test` runs only those there, and on the RISC-V CPU with 128-bit vectors also the broken kernels.
my $kernels = '--rows kernels';
my $long = ($ENV{INGOT_LONG} // '') eq '1';
my ($sve, $halves) = $long ? ($kernels) x 2 : ('--row _sve', '--row _zvfh');
my @longer = $long ? (256, 512, 1024) : (512);
my ($newer, $longer) = $long ? ($kernels) x 2 : ('--row _dotprod', '--row _rvv');
my @sve = $long ? (16, 32, 64, 256) : (16, 32, 256); # bytes; neoverse-v1 has 32
my @runs = (
    ['x86_64', 'x86-64', '', ''],
    ['x86_64', 'x86-64 without AVX-512', '', '--features avx2'], # on this CPU the tester poisons other registers
    ['x86_64', 'x86-64 with AVX-VNNI', '', '--features avxvnni --row _avx2_vnni'],
    arm64('cortex-a53', ''),
    ($long ? arm64('cortex-a72', $kernels) : ()),
    arm64('cortex-a76', $newer),
    # To emulate all other kernels on this CPU as well would take a third of a minute, and SVE three times as long as with -cpu max.
    arm64('neoverse-v1', $long ? '' : '--row _i8mm'),
    (map { arm64("max,sve-default-vector-length=$_", $sve) } @sve),
    ['riscv64', 'rv64gc', 'qemu-riscv64 -cpu rv64,v=false', ''],
    ($long ? riscv64(128, 'zvfh=false,zvfhmin=false', '') :
        map { riscv64(128, 'zvfh=false,zvfhmin=false', $_) } '--rows broken', $longer),
    (map { riscv64($_, 'zvfh=false,zvfhmin=false', $longer) } @longer),
    (map { riscv64($_, 'zvfh=false,zvfhmin=true', $halves) } 128, 256, $long ? (512, 1024) : ()),
    riscv64(256, 'zvfh=true', $halves),
    riscv64(128, 'zvknha=true', '--row _zvknha'),
    riscv64(256, 'zvknhb=true', '--row _zvknha'),
);

sub arm64 {
    my ($cpu, $options) = @_;
    return ['arm64', $cpu =~ s/max,sve-default-vector-length=(\d+)/'max with SVE ' . 8 * $1/er,
        "qemu-aarch64 -cpu $cpu", $options];
}

sub riscv64 {
    my ($vlen, $halves, $options) = @_;
    my $name = "rv64gcv vlen $vlen" .
        ($halves =~ /zvfh=true/ ? ' zvfh' : $halves =~ /zvfhmin=true/ ? ' zvfhmin' : '') .
        ($halves =~ /(zvkn\w+)/ ? " $1" : '');
    return ['riscv64', $name, "qemu-riscv64 -cpu rv64,v=true,vlen=$vlen,elen=64,$halves", $options];
}

my $n = 0;
my %digest; # by reference, or by op for its kernels: the digest of the first run

sub result {
    my ($good, $text) = @_;
    $n++;
    print(($good ? 'ok' : 'not ok'), " $n - $text\n");
}

sub check_digest {
    my ($symbol, $value, $cpu) = @_;
    $digest{$symbol} //= [$value, $cpu];
    my ($first, $where) = @{ $digest{$symbol} };
    return if $first eq $value;
    result(0, "$symbol gives the same on $cpu as on $where");
}

# Read a tester's lines, add the CPU's name to them, and check plan and exit status.
sub read_tester {
    my ($cpu, $tap) = @_;
    my ($seen, $plan, $failed) = (0, -1, 0);
    while (my $line = <$tap>) {
        chomp $line;
        if ($line =~ /^(not )?ok \d+ - (.*)/) {
            my ($bad, $text) = ($1, $2);
            $seen++;
            $failed++ if $bad;
            result(!$bad, $text =~ s/( # SKIP|,|$)/ on $cpu$1/r);
            # Digests of the reference's answers. The reference's own row runs some of the cases, and a kernel's row runs all of them.
            check_digest($1, $2, $cpu) if $text =~ /^(\w+_ref),.* digest (\w+)/ ||
                $text =~ /^(\w+)_[a-z0-9]+,.* digest (\w+)/;
        } elsif ($line =~ /^1\.\.0 # SKIP (.*)/) {
            return result(1, "$cpu # SKIP $1");
        } elsif ($line =~ /^1\.\.(\d+)/) {
            $plan = $1;
        } else {
            print "# $cpu: ", $line =~ s/^# ?//r, "\n";
        }
    }
    close $tap;
    my $status = $? >> 8;
    result($seen == $plan && !($status && !$failed) && !($? & 127),
        "$cpu: all rows were run ($seen lines, exit status $status)");
}

# The reason why a run is impossible, or nothing.
sub missing {
    my ($program, $emulator) = @_;
    my ($binary) = split ' ', $emulator;
    return "$program is not built" if !-x $program;
    return "$binary is not installed" if $binary && !grep { -x "$_/$binary" } split /:/, $ENV{PATH};
    return;
}

# At most two testers run at a time: the lines of one are read, and those of the next wait in its pipe.
my @waiting;
sub finish_oldest {
    read_tester(@{ shift @waiting }) if @waiting;
}

print "# seed $seed; repeat with KERNELS_TEST_SEED=$seed\n";
for my $run (@runs) {
    my ($isa, $cpu, $emulator, $options) = @$run;
    my $program = "$dir/kernels_test.$isa";
    my $why = missing($program, $emulator);
    if ($why) {
        result(1, "$cpu # SKIP $why");
        next;
    }
    my $command = "timeout 300 $emulator $program --seed $seed $options";
    open my $tap, '-|', $command or die "cannot run $command: $!";
    push @waiting, [$cpu, $tap];
    finish_oldest() if @waiting == 2;
}
finish_oldest();

# A CPU with AVX2 or AVX-VNNI may lack AVX-512, whose instructions begin with 0x62. By default the assembler encodes vpdpbusd in this way.
sub check_codings {
    my $program = "$dir/kernels_test.x86_64";
    my $why = missing($program, 'objdump');
    return result(1, "codings # SKIP $why") if $why;
    my ($symbol, $seen, %bad) = ('', 0);
    for (`objdump -d $program`) {
        ($symbol, $seen) = ($1, $seen + ($1 ne '')) if /^\w+ <(\w+_avx2(?:_vnni)?|).*>:/;
        $bad{$symbol} = 1 if $symbol && /^ *\w+:\t62 /;
    }
    result($seen > 90 && !%bad, "$seen kernels of AVX2 and AVX-VNNI have no instruction of AVX-512" .
        join '', map { " ($_)" } sort keys %bad);
}
check_codings();

# Return the SVE integer kernels that continue in a dotprod kernel if vectors have this many bytes, as QEMU's log of translated code shows.
sub went_on {
    my ($program, $bytes, @symbols) = @_;
    my $log = "$dir/sve-$bytes.log";
    my @found;
    for my $symbol (@symbols) {
        my $out = `timeout 60 qemu-aarch64 -cpu max,sve-default-vector-length=$bytes -d in_asm -D $log $program --seed 1 --row $symbol`;
        my $text = do { local (@ARGV, $/) = $log; <> };
        push @found, 'failed' if $? || $out !~ /^ok/m || $text !~ /^IN: $symbol$/m;
        push @found, $symbol =~ s/_sve$//r if $text =~ /^IN: \w+_neon_dotprod$/m;
    }
    unlink $log;
    return "@found";
}

sub check_choice {
    my $program = "$dir/kernels_test.arm64";
    my $why = missing($program, 'qemu-aarch64');
    return result(1, "the choice at a vector length # SKIP $why") if $why;
    my @gemv = map { "gemv_f32_$_" } qw(q4kx8_q8k q4x8_q8 q6kx8_q8k q8x8_q8);
    my @gemm = map { "gemm_f32_$_" } qw(q4kx8_q8kx4 q4x8_q8x4 q6kx8_q8kx4 q8x8_q8x4);
    my %expected = (16 => "@gemv @gemm", 32 => "@gemv[0, 1]", 64 => '');
    for my $bytes (sort { $a <=> $b } keys %expected) {
        my $found = went_on($program, $bytes, map { $_ . '_sve' } @gemv, @gemm);
        result($found eq $expected{$bytes}, "SVE of $bytes bytes goes on to the dot product: " . ($found || 'never'));
    }
}
check_choice();
print "1..$n\n";
