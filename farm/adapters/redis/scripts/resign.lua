-- Give the lead up if this holder has it.
-- KEYS: lead    ARGV: holder
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
return 1
