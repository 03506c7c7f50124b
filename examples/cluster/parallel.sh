#!/bin/sh
# Checks a directory of histories with GNU parallel, on this machine or on those of --sshlogin:
#
#   examples/cluster/parallel.sh 16 HISTORIES RESULTS --level=serializable
#   PARALLEL='--sshlogin node1,node2 --workdir .' examples/cluster/parallel.sh 16 HISTORIES RESULTS --level=serializable
#
# The first argument is the number of parts.  HISTORIES and RESULTS are folders that all machines share.  Given again, the command goes on
# where it was.  The exit code is that of `isoproof merge`: the worst of all files.
set -u
parts=$1 histories=$2 results=$3
shift 3
mkdir -p "$results"
seq "$parts" | parallel --quote "${ISOPROOF:-isoproof}" check --quiet --shard="{}/$parts" --jobs=1 \
  --results="$results/part-{}.jsonl" --resume "$@" "$histories" >"$results/log.txt" 2>&1
exec "${ISOPROOF:-isoproof}" merge "$results"/part-*.jsonl --of="$histories"
