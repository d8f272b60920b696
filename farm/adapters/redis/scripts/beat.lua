-- Note that a host is alive, or that a queue has tickets, for a while.
-- KEYS: deadlines facts    ARGV: id facts ttl_ms
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZADD', KEYS[1], now + ARGV[3], ARGV[1])
redis.call('HSET', KEYS[2], ARGV[1], ARGV[2])
return 1
