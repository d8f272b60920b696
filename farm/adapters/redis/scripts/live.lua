-- List cells and holders of the leases that have not expired: cell, holder, cell, holder, ...
-- KEYS: holders deadlines
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local cells = redis.call('ZRANGEBYSCORE', KEYS[2], '(' .. string.format('%.0f', now), '+inf')
local found = {}
for _, cell in ipairs(cells) do
  found[#found + 1] = cell
  found[#found + 1] = redis.call('HGET', KEYS[1], cell)
end
return found
