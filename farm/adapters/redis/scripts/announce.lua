-- Make an attempt the cell's current one; it only grows.
-- KEYS: attempts    ARGV: cell attempt
local current = tonumber(redis.call('HGET', KEYS[1], ARGV[1]) or '0')
if tonumber(ARGV[2]) > current then redis.call('HSET', KEYS[1], ARGV[1], ARGV[2]) end
return 1
