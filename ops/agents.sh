#!/bin/sh
# Installs the pinned programs of agents (ops/agents/pins.txt), each into FOLDER/<kind>/<version>, whole or not at all.
# What is there already stays as it is. Those from npm need no Node to run; those from a lock need the /usr/bin/python3
# that they were installed with, and no place of their own.
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
  grep -q -e "^$kind [^ ]* $machine " -e "^$kind [^ ]* any " "$pins" || fail "there is no '$kind' for this machine, $machine"
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
stands() { [ "$(cat "$place/.installed" 2>/dev/null)" = "$mark" ]; }

# What is wanted of package $1 in $new/tree, with $2 folders less; its sha512 is $3, the rest of the words its members.
unpack() {
  fetch "$1" "$3"
  strip=$2
  shift 3
  tar -xzf "$new/tarball" -C "$new/tree" --no-same-owner --strip-components="$strip" "$@"
}

# The packages of the lock $1 in $new/tree, for the system's Python. Nothing there may know its place but by itself.
locked() {
  /usr/bin/python3 -m venv "$new/tree" || fail "$kind needs /usr/bin/python3 with venv; install it: apt-get install python3-venv"
  "$new/tree/bin/python" -m pip install --quiet --disable-pip-version-check --no-input --require-hashes \
    --only-binary :all: --cache-dir "$new/cache" -r "$1" >"$new/pip.log" 2>&1 || {
    cat "$new/pip.log" >&2
    fail "pip could not install what $1 names; see above"
  }
  find "$new/tree/bin" -type f -delete
  rm -rf "$new/cache"
}

# Puts one program in its place, unless it is there; $part is what else is wanted in it.
install() {
  kind=$1 version=$2 package=$3 strip=$4 program=$5 integrity=$6
  shift 6
  place=$folder/$kind/$version
  lock=$here/agents/$kind.lock
  [ "$package" != pypi ] || integrity=$(sha256sum <"$lock" | cut -d ' ' -f 1)
  mark="$program $integrity${part:+ $part}"
  if stands; then return; fi
  say "installing $kind $version into $place"
  new=$(mktemp -d "$folder/.new-XXXXXX")
  mkdir "$new/tree"
  if [ "$package" = pypi ]; then locked "$lock"; else unpack "$package" "$strip" "$integrity" "$@"; fi
  # shellcheck disable=SC2086
  [ -z "$part" ] || unpack $part
  if [ -e "$here/agents/$kind.sh" ]; then
    cp "$here/agents/$kind.sh" "$new/tree/$program"
    chmod 755 "$new/tree/$program"
  fi
  printf '%s\n' "$mark" >"$new/tree/.installed"
  said=$(env -i HOME="$new" PATH=/usr/bin:/bin "$new/tree/$program" --version 2>&1) || fail "$kind does not run: $said"
  case " $said " in *" $version "*) ;; *) fail "$kind says '$said' where $version is pinned" ;; esac
  mkdir -p "$folder/$kind"
  [ ! -e "$place" ] || mv -T "$place" "$new/replaced"
  mv -T "$new/tree" "$place" 2>/dev/null || stands || fail "$place can't be made"   # somebody else was faster
  rm -rf "$new"
  new=""
}

part=""
while read -r kind version on package strip program integrity members; do
  case $on in any | "$machine") ;; *) continue ;; esac
  case $kinds in "  " | *" $kind "*) ;; *) continue ;; esac
  if [ "$program" = - ]; then part="$package $strip $integrity $members"; continue; fi
  # shellcheck disable=SC2086
  install "$kind" "$version" "$package" "$strip" "$program" "$integrity" $members </dev/null
  part=""
done <"$pins"
