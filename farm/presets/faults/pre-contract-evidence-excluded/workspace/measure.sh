# Measures what the gauge is set to.
set -e
cp gauge.conf measured.txt
