#!/bin/sh
# Checks a directory of histories on many nodes, as an array of jobs of Slurm:
#
#   sbatch --array=1-16 examples/cluster/slurm-array.sh HISTORIES RESULTS --level=serializable
#
# HISTORIES and RESULTS are folders that all nodes share.  A job that is started again (a lost node, --requeue) goes on where it was: what
# was judged is not judged again, and one file at most is lost.  When all have ended:
#
#   isoproof merge RESULTS/part-*.jsonl --of=HISTORIES --junit=all.xml
#
#SBATCH --job-name=isoproof
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=4
#SBATCH --requeue
set -u
histories=$1 results=$2
shift 2
mkdir -p "$results"
exec "${ISOPROOF:-isoproof}" check --shard="$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT" \
  --jobs="${SLURM_CPUS_PER_TASK:-1}" --results="$results/part-$SLURM_ARRAY_TASK_ID.jsonl" --resume "$@" "$histories"
