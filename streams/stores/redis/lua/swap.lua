-- Puts fresh keys in the place of the live ones, all at once. ARGV: the writer's epoch and partition, then `swap`, or
-- `remove` to remove both, then the campaign's offset if the fresh head has counted steps instead.
-- KEYS, live and fresh in turn: the two heads, then the other tables.
-- The fresh head says who wrote the fresh keys: what another rebuild put there is not swapped in.
local head = redis.call('HMGET', KEYS[1], 'epoch', 'partition')
if head[2] and head[2] ~= ARGV[2] then
  return {'CONFLICT', KEYS[1] .. ' is written by ' .. head[2]}
end
if head[1] and tonumber(head[1]) > tonumber(ARGV[1]) then
  return {'FENCED', head[1]}
end
if ARGV[3] == 'swap' and redis.call('HGET', KEYS[2], 'epoch') ~= ARGV[1] then
  return {'CONFLICT', KEYS[2] .. ' was not written in epoch ' .. ARGV[1]}
end
for number = 1, #KEYS, 2 do
  if ARGV[3] == 'swap' and redis.call('EXISTS', KEYS[number + 1]) == 1 then
    redis.call('UNLINK', KEYS[number]) -- RENAME would free a large table at once, and Redis would answer nobody
    redis.call('RENAME', KEYS[number + 1], KEYS[number])
  else
    redis.call('UNLINK', KEYS[number], KEYS[number + 1])
  end
end
if ARGV[4] then
  redis.call('HSET', KEYS[1], 'offset', ARGV[4])
  redis.call('HDEL', KEYS[1], 'position')
end
return {'OK', ''}
