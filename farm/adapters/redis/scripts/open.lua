-- Let claims through, but for cells from an index on: in one step, so that no claim falls between.
-- KEYS: gate    ARGV: paused_from (empty: none) kept_s
redis.call('HSET', KEYS[1], 'open', '1')
if ARGV[1] == '' then
  redis.call('HDEL', KEYS[1], 'paused_from')
else
  redis.call('HSET', KEYS[1], 'paused_from', ARGV[1])
end
redis.call('EXPIRE', KEYS[1], ARGV[2])
return 1
