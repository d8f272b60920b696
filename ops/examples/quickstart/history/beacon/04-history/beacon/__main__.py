import sys

from beacon import alert, history
from beacon.poll import is_up

before = history.load()
now = {}
with open(sys.argv[1], encoding="utf-8") as sites:
    for site in map(str.strip, sites):
        now[site] = is_up(site)
        print(site, "up" if now[site] else "DOWN")
        if before.get(site, True) and not now[site]:
            alert.send(site)
history.save(now)
