-- Let claims through, but for cells from an index on: in one step, so that no claim falls between.
-- KEYS: gate    ARGV: paused_from (empty: none)
redis.call('HSET', KEYS[1], 'open', '1')
if ARGV[1] == '' then
  redis.call('HDEL', KEYS[1], 'paused_from')
else
  redis.call('HSET', KEYS[1], 'paused_from', ARGV[1])
end
return 1
