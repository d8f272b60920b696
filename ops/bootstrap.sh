#!/bin/sh
# Makes the virtual environment and installs what the farm needs on Debian or Ubuntu, saying each thing it installs.
# Usage: sh ops/bootstrap.sh runtime|dev     (PYTHON names the interpreter, python3 by default)
set -eu

kind=${1:?usage: sh ops/bootstrap.sh runtime|dev}
python=${PYTHON:-python3}
say() { printf 'bootstrap: %s\n' "$*"; }

case $kind in runtime | dev) ;; *) say "unknown kind '$kind': say runtime or dev"; exit 2 ;; esac
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
  say "Python 3.11 or newer is needed; set PYTHON=/path/to/python3.11"; exit 2; }

missing=""
need() { command -v "$1" >/dev/null 2>&1 || missing="$missing $2"; }
need bwrap bubblewrap
need git git
need cc "gcc libc6-dev"
# the farm itself runs on the Valkey of the locked packages; the tests also want Redis, RabbitMQ, node for a preset's check, npm for agents' programs,
# and what turns clocks and cuts networks
if [ "$kind" = dev ]; then
  need redis-server redis-server
  need /usr/lib/rabbitmq/bin/rabbitmq-server rabbitmq-server
  need node nodejs
  need npm npm
  need dockerd docker.io
  need docker docker.io
  need busybox busybox-static
  need faketime faketime
  need ip iproute2
  need nft nftables
fi
"$python" -c 'import venv, ensurepip' 2>/dev/null || missing="$missing python3-venv"

if [ -n "$missing" ]; then
  command -v apt-get >/dev/null 2>&1 || { say "install these yourself, there is no apt-get:$missing"; exit 2; }
  root=""
  [ "$(id -u)" = 0 ] || root=sudo
  [ -z "$root" ] || command -v sudo >/dev/null 2>&1 || {
    say "you are not root and there is no sudo; as root: apt-get install$missing"; exit 2; }
  say "installing Debian packages with ${root:+sudo }apt-get:$missing"
  $root apt-get update -qq
  # No service is started by what is installed: the tests start servers of their own.
  policy=/usr/sbin/policy-rc.d
  if [ "$kind" = dev ] && [ ! -e $policy ]; then
    printf '#!/bin/sh\nexit 101\n' | $root tee $policy >/dev/null
    $root chmod 755 $policy
    trap '$root rm -f $policy' EXIT
  fi
  # shellcheck disable=SC2086
  $root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
fi

# asking for pip and not for a file: an interrupted attempt leaves a Python without it
.venv/bin/python -m pip --version >/dev/null 2>&1 || { say "making the virtual environment .venv"; "$python" -m venv .venv; }
say "installing locked Python packages (requirements/$kind.lock)"
.venv/bin/python -m pip install -q --disable-pip-version-check --require-hashes -r "requirements/$kind.lock"
.venv/bin/python -m pip install -q --disable-pip-version-check --require-hashes -r requirements/build.lock
.venv/bin/python -m pip install -q --disable-pip-version-check --no-deps --no-build-isolation -e .
say "done"
