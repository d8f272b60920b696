-- Note that a cell has a result, and forget all else of it unless its lease is live: the book stays as small as what runs.
-- KEYS: results attempts holders deadlines    ARGV: cell index kept_s
redis.call('SETBIT', KEYS[1], ARGV[2], 1)
redis.call('EXPIRE', KEYS[1], ARGV[3])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if tonumber(redis.call('ZSCORE', KEYS[4], ARGV[1]) or '0') <= now then
  redis.call('HDEL', KEYS[2], ARGV[1])
  redis.call('HDEL', KEYS[3], ARGV[1])
  redis.call('ZREM', KEYS[4], ARGV[1])
end
return 1
