#!/bin/sh
# Says the version of what stands beside it.
exec "${0%/*}/python" -I -c 'from importlib.metadata import version; print(version("mini-swe-agent"))'
