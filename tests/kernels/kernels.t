#!/usr/bin/perl
# Runs the built kernel testers on every CPU they are meant for and joins their TAP, one line a
# row and CPU. Builds nothing. A program or emulator that is missing is skipped by name.
#
#   KERNELS_TEST_DIR  where kernels_test.<isa> lie; default $INGOT_BUILD/tests/kernels
#   KERNELS_TEST_SEED repeats a run; the references' digests must agree between all of them
use strict;
use warnings;

my $dir = $ENV{KERNELS_TEST_DIR} // ($ENV{INGOT_BUILD} // 'build') . '/tests/kernels';
my $seed = $ENV{KERNELS_TEST_SEED} // time;

my @runs = (
    ['x86_64', 'x86-64', ''],
    ['arm64', 'cortex-a53', 'qemu-aarch64 -cpu cortex-a53'],
    ['arm64', 'arm64 max', 'qemu-aarch64 -cpu max'],
    ['riscv64', 'rv64gc', 'qemu-riscv64 -cpu rv64,v=false'],
    map { ['riscv64', "rv64gcv vlen $_", "qemu-riscv64 -cpu rv64,v=true,vlen=$_,elen=64"] }
        128, 256, 512,
);

my $n = 0;
my %digest; # of a reference: the first run's

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

# Its lines with the CPU's name; its plan and exit status are held against it.
sub run_tester {
    my ($cpu, $command) = @_;
    my ($seen, $plan, $failed) = (0, -1, 0);
    open my $tap, '-|', "timeout 300 $command --seed $seed" or die "cannot run $command: $!";
    while (my $line = <$tap>) {
        chomp $line;
        if ($line =~ /^(not )?ok \d+ - (.*)/) {
            my ($bad, $text) = ($1, $2);
            $seen++;
            $failed++ if $bad;
            result(!$bad, $text =~ s/( # SKIP|,|$)/ on $cpu$1/r);
            check_digest($1, $2, $cpu) if $text =~ /^(\w+_ref),.* digest (\w+)/;
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

print "# seed $seed; repeat with KERNELS_TEST_SEED=$seed\n";
for my $run (@runs) {
    my ($isa, $cpu, $emulator) = @$run;
    my $program = "$dir/kernels_test.$isa";
    my ($binary) = split ' ', $emulator;
    if (!-x $program) {
        result(1, "$cpu # SKIP $program is not built");
    } elsif ($binary && !grep { -x "$_/$binary" } split /:/, $ENV{PATH}) {
        result(1, "$cpu # SKIP $binary is not installed");
    } else {
        run_tester($cpu, "$emulator $program");
    }
}
print "1..$n\n";
