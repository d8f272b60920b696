-- End a lease if this holder still has it. Who held it last stays known: nobody else may renew that attempt.
-- KEYS: holders deadlines    ARGV: cell index attempt holder
local ours = ARGV[3] .. ' ' .. ARGV[2] .. ' ' .. ARGV[4]
if redis.call('HGET', KEYS[1], ARGV[1]) == ours then redis.call('ZREM', KEYS[2], ARGV[1]) end
return 1
