#!/bin/sh
# Tests a database from many nodes at once, as a job of Slurm; each node is a client machine:
#
#   sbatch --nodes=8 examples/cluster/slurm-load.sh --db=postgres://db.example/test --isolation=serializable --expect=strict-serializable \
#     --sessions=256 --time=60
#
# Everything is saved below isoproof-out (or --directory) on the first node, so that it should be a folder that outlives the job.  A node that is
# lost does not end the others (--no-kill): the report says what is not known because of it.
#
#SBATCH --job-name=isoproof-load
#SBATCH --ntasks-per-node=1
#SBATCH --no-kill
set -u
# Parts of the history are on the disk of each node until the first one has joined them.
export TMPDIR="${SLURM_TMPDIR:-${TMPDIR:-/tmp}}"
exec srun --kill-on-bad-exit=0 --no-kill "${ISOPROOF_MPI:-isoproof-mpi}" test "$@"
