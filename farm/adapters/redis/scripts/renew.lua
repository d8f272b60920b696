-- Extend a lease, or make a missing one again unless another holder, a newer attempt or a result is known.
-- The reply carries the stop order that stands at this instant.
-- KEYS: attempts holders deadlines stop results    ARGV: cell index attempt holder ttl_ms kept_s
local cell, attempt = ARGV[1], tonumber(ARGV[3])
local stop = redis.call('GET', KEYS[4])
local current = tonumber(redis.call('HGET', KEYS[1], cell) or '0')
if current > attempt then return {0, stop} end
local ours = ARGV[3] .. ' ' .. ARGV[2] .. ' ' .. ARGV[4]
local known = redis.call('HGET', KEYS[2], cell)
if known and known ~= ours and tonumber(string.match(known, '^%d+')) == attempt then return {0, stop} end
if not known and redis.call('GETBIT', KEYS[5], ARGV[2]) == 1 then return {0, stop} end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('HSET', KEYS[1], cell, attempt)
redis.call('HSET', KEYS[2], cell, ours)
redis.call('ZADD', KEYS[3], now + ARGV[5], cell)
for key = 1, 3 do redis.call('EXPIRE', KEYS[key], ARGV[6]) end
return {1, stop}
