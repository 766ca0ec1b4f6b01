-- Takes a partition over with a new epoch. ARGV: the layout of this version.
-- KEYS: the partition's head, the list of its campaigns, its outbox.
local head = redis.call('HMGET', KEYS[1], 'layout', 'rows')
if head[1] and tonumber(head[1]) > tonumber(ARGV[1]) then
  return {'NEWER', head[1]}
end
if redis.call('TYPE', KEYS[2]).ok == 'set' then -- before layout 3 the list had no offsets
  local names = redis.call('SMEMBERS', KEYS[2])
  redis.call('DEL', KEYS[2])
  for _, name in ipairs(names) do
    redis.call('HSET', KEYS[2], name, '-1')
  end
end
local epoch = redis.call('HINCRBY', KEYS[1], 'epoch', 1)
local lost = ''
if head[2] and head[2] ~= 'campaigns=' .. redis.call('HLEN', KEYS[2]) then
  -- Nobody knows which campaigns there were. The log does: it is read again, and campaigns skip what they have.
  lost = head[2]
  redis.call('DEL', KEYS[1])
  redis.call('HSET', KEYS[1], 'epoch', epoch)
end
return {'OK', epoch, redis.call('HGETALL', KEYS[1]), redis.call('HGETALL', KEYS[2]), redis.call('GET', KEYS[3]), lost}
