import sys

from beacon import alert
from beacon.poll import is_up

with open(sys.argv[1], encoding="utf-8") as sites:
    for site in map(str.strip, sites):
        up = is_up(site)
        print(site, "up" if up else "DOWN")
        if not up:
            alert.send(site)
