-- Take the lease of an attempt, or say why not, in the port's order of refusals.
-- KEYS: gate attempts results holders deadlines    ARGV: cell index attempt holder ttl_ms kept_s
local cell, index, attempt, holder = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4]
if redis.call('HEXISTS', KEYS[1], 'open') == 0 then return 'closed' end
local paused_from = redis.call('HGET', KEYS[1], 'paused_from')
if paused_from and index >= tonumber(paused_from) then return 'paused' end
if redis.call('GETBIT', KEYS[3], index) == 1 then return 'settled' end
local current = tonumber(redis.call('HGET', KEYS[2], cell) or '0')
if attempt < current then return 'stale' end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local deadline = tonumber(redis.call('ZSCORE', KEYS[5], cell) or '0')
local ours = ARGV[3] .. ' ' .. ARGV[2] .. ' ' .. holder
if deadline > now and redis.call('HGET', KEYS[4], cell) ~= ours then return 'held' end
redis.call('HSET', KEYS[2], cell, attempt)
redis.call('HSET', KEYS[4], cell, ours)
redis.call('ZADD', KEYS[5], now + ARGV[5], cell)
for _, key in ipairs({2, 4, 5}) do redis.call('EXPIRE', KEYS[key], ARGV[6]) end
return 'granted'
