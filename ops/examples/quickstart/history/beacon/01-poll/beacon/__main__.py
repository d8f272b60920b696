import sys

from beacon.poll import is_up

with open(sys.argv[1], encoding="utf-8") as sites:
    for site in sites:
        print(site.strip(), "up" if is_up(site.strip()) else "DOWN")
