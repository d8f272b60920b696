#!/bin/sh
# Installs the Vitest that the oracle `vitest` is tested with, as ops/vitest/package-lock.json pins it by hashes, into
# FOLDER/node_modules: whole or not at all. A task brings it as a dependency (or its own, installed by its own lock).
# Usage: sh ops/vitest.sh FOLDER
set -eu
umask 022
here=$(cd "$(dirname "$0")" && pwd)
[ $# = 1 ] || { echo "usage: sh ops/vitest.sh FOLDER" >&2; exit 2; }
command -v npm >/dev/null 2>&1 || { echo "vitest: npm is needed; install it: apt-get install npm" >&2; exit 2; }
mkdir -p "$1"
folder=$(cd "$1" && pwd)
mark=$(cat "$here/vitest/package.json" "$here/vitest/package-lock.json" | sha256sum)
[ "$(cat "$folder/.installed" 2>/dev/null)" != "$mark" ] || exit 0
new=$(mktemp -d "$folder/.new-XXXXXX")
trap 'rm -rf "$new"' EXIT
trap 'exit 130' INT TERM HUP
cp "$here/vitest/package.json" "$here/vitest/package-lock.json" "$new/"
(cd "$new" && npm ci --ignore-scripts --no-audit --no-fund --silent --cache "$new/cache") >"$new/npm.log" 2>&1 || {
  cat "$new/npm.log" >&2
  echo "vitest: npm could not install what ops/vitest/package-lock.json pins; see above" >&2
  exit 2
}
[ ! -e "$folder/node_modules" ] || mv "$folder/node_modules" "$new/replaced"
mv "$new/node_modules" "$folder/node_modules"
printf '%s\n' "$mark" >"$folder/.installed"
