#!/usr/bin/env bash
# Is this working tree slower than the commit that it is based on? For CI, or before a push; to be called in a clone
# of tailrace. Both are built, run block by block on this machine, and compared: docs/compare.md.
#
#   examples/compare-ci.sh                              against the merge base with origin/main, under mix and ingest
#   examples/compare-ci.sh v1.2 --workloads tail        against a commit, with the flags of tailrace run
#
# Exit codes: 0 no regression, or no telling; 1 a regression, wrong answers, or something that the commit has and this
# tree lacks; 2 it could not be done; 3 no telling, with STRICT=1. From the environment, with these defaults:
#
#   THRESHOLD=5%    how much worse is no regression yet
#   METRIC=         what is compared, instead of the primary metrics: cpu-sec/op is steadier where others use the processors
#   BLOCKS=12       times that everything runs; twice as many if that leaves no telling
#   STRICT=0        whether no telling is a failure
#   OUT=out/compare-TIME   directory for the results
set -euo pipefail
cd "$(git rev-parse --show-toplevel)"

threshold=${THRESHOLD:-5%} blocks=${BLOCKS:-12} out=${OUT:-out/compare-$(date +%Y%m%d-%H%M%S)}
fail() { echo "compare-ci: $*" >&2; exit 2; }

if (($# > 0)); then
	base=$1
	shift
else
	base=$(git merge-base HEAD origin/main) || fail 'no merge base with origin/main: fetch it, with its history, or name a commit'
	# On the branch itself, that is the commit before.
	test "$base" != "$(git rev-parse HEAD)" || base=HEAD~1
fi
base=$(git rev-parse --verify --quiet "$base^{commit}") || fail "no such commit"
(($# > 0)) || set -- --workloads mix,ingest

work=$(mktemp -d)
clean() {
	git worktree remove --force "$work/tree" 2>/dev/null || true
	git worktree prune
	rm -rf "$work"
}
trap clean EXIT

git worktree add --quiet --detach "$work/tree" "$base" || fail "$base cannot be checked out"
(cd "$work/tree" && go build -o "$work/base" ./cmd/tailrace) || fail "$base cannot be built"
go build -o "$work/head" ./cmd/tailrace || fail 'the working tree cannot be built'

# compare BLOCKS DIR: its exit code is that of tailrace compare.
compare() {
	local code=0
	"$work/head" run --against "$work/base" --blocks "$1" --out "$2" --quiet "${@:3}" >"$work/run" || code=$?
	case $code in
	0 | 1 | 3) ;; # what is wrong with single runs, the comparison says
	*) cat "$work/run"; exit $code ;;
	esac
	"$work/head" compare "$2" --require-all --threshold "$threshold" ${METRIC:+--metric "$METRIC"}
}

code=0
compare "$blocks" "$out" "$@" || code=$?
if ((code == 3)); then
	echo "compare-ci: again, with twice the blocks"
	code=0
	compare $((2 * blocks)) "$out-again" "$@" || code=$?
fi
if ((code == 3 && ${STRICT:-0} == 0)); then
	echo "compare-ci: warning: there is no telling whether this is a regression"
	code=0
fi
exit $code
