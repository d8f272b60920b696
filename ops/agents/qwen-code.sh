#!/bin/sh
# Starts it with the Node that stands beside it.
exec "${0%/*}/node" "${0%/*}/../package/cli-entry.js" "$@"
