-- End a lease if this holder still has it. Who held it last stays known while the cell has no result: nobody else may
-- renew that attempt.
-- KEYS: attempts holders deadlines results    ARGV: cell index attempt holder
local ours = ARGV[3] .. ' ' .. ARGV[2] .. ' ' .. ARGV[4]
if redis.call('HGET', KEYS[2], ARGV[1]) ~= ours then return 1 end
redis.call('ZREM', KEYS[3], ARGV[1])
if redis.call('GETBIT', KEYS[4], ARGV[2]) == 1 then
  redis.call('HDEL', KEYS[1], ARGV[1])
  redis.call('HDEL', KEYS[2], ARGV[1])
end
return 1
