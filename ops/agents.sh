#!/bin/sh
# Installs the pinned programs of agents (ops/agents/pins.txt) from npm, each into FOLDER/<kind>/<version>, whole or not
# at all. What is there already stays as it is. Running them needs no Node.
# Usage: sh ops/agents.sh [FOLDER] [KIND...]
#   FOLDER  has a slash in it; by default where workers look: FARM_AGENTS, or the folder agents below the work root
#   KIND    claude-code, codex, ...; all of them by default
set -eu
umask 022

here=$(cd "$(dirname "$0")" && pwd)
pins=$here/agents/pins.txt
say() { printf 'agents: %s\n' "$*"; }
fail() { say "$*" >&2; exit 2; }

root=/var/lib/cellfarm
[ "$(id -u)" = 0 ] || root=/var/tmp/cellfarm-$(id -u)
folder=${FARM_AGENTS:-${FARM_WORK_ROOT:-$root}/agents}
case ${1:-} in */*) folder=$1; shift ;; esac
machine=$(uname -m)
case $machine in arm64) machine=aarch64 ;; amd64) machine=x86_64 ;; esac
for kind in "$@"; do
  grep -q "^$kind " "$pins" || fail "there is no agent '$kind' in ops/agents/pins.txt (a FOLDER has a slash in it)"
  grep -q "^$kind [^ ]* $machine " "$pins" || fail "there is no '$kind' for this machine, $machine"
done
kinds=" $* "
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)

new=""
trap '[ -z "$new" ] || rm -rf "$new"' EXIT
trap 'exit 130' INT TERM HUP

# The tarball of package $1 into $new/tarball, its sha512 being what $2 says.
fetch() {
  command -v npm >/dev/null 2>&1 || fail "npm is needed to fetch $1; install it: apt-get install npm"
  npm pack "$1" --silent --ignore-scripts --cache "$new/cache" --pack-destination "$new" >"$new/name" 2>"$new/npm.log" || {
    cat "$new/npm.log" >&2
    fail "npm could not fetch $1; see above"
  }
  mv "$new/$(tail -n 1 "$new/name")" "$new/tarball"
  rm -rf "$new/cache"
  wanted=$(printf %s "${2#sha512-}" | base64 -d | od -An -v -tx1 | tr -d ' \n')
  printf '%s  %s\n' "$wanted" "$new/tarball" | sha512sum --check --status ||
    fail "the package $1 that npm fetched is not the pinned one: its sha512 differs; nothing was installed"
}

# Whether $place holds what is pinned, whole.
stands() { [ "$(cat "$place/.installed" 2>/dev/null)" = "$program $integrity" ]; }

# Puts one program in its place, unless it is there.
install() {
  kind=$1 version=$2 package=$3 strip=$4 program=$5 integrity=$6
  shift 6
  place=$folder/$kind/$version
  if stands; then return; fi
  say "installing $kind $version into $place"
  new=$(mktemp -d "$folder/.new-XXXXXX")
  fetch "$package" "$integrity"
  mkdir "$new/tree"
  tar -xzf "$new/tarball" -C "$new/tree" --no-same-owner --strip-components="$strip" "$@"
  printf '%s %s\n' "$program" "$integrity" >"$new/tree/.installed"
  said=$(env -i HOME="$new" PATH=/usr/bin:/bin "$new/tree/$program" --version 2>&1) || fail "$kind does not run: $said"
  case " $said " in *" $version "*) ;; *) fail "$kind says '$said' where $version is pinned" ;; esac
  mkdir -p "$folder/$kind"
  [ ! -e "$place" ] || mv -T "$place" "$new/replaced"
  mv -T "$new/tree" "$place" 2>/dev/null || stands || fail "$place can't be made"   # somebody else was faster
  rm -rf "$new"
  new=""
}

while read -r kind version on package strip program integrity members; do
  [ "$on" = "$machine" ] || continue
  case $kinds in "  " | *" $kind "*) ;; *) continue ;; esac
  # shellcheck disable=SC2086
  install "$kind" "$version" "$package" "$strip" "$program" "$integrity" $members </dev/null
done <"$pins"
