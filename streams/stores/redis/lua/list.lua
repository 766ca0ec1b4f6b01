-- Changes the list of a partition's campaigns. ARGV: the writer's epoch and partition, the campaign, then its offset, or
-- `new` to add it before it is written, or `none` to remove it. KEYS: the partition's head, the list.
local head = redis.call('HMGET', KEYS[1], 'epoch', 'rows')
if head[1] and tonumber(head[1]) > tonumber(ARGV[1]) then
  return {'FENCED', head[1]}
end
if head[1] ~= ARGV[1] or (head[2] and head[2] ~= 'campaigns=' .. redis.call('HLEN', KEYS[2])) then
  return {'CONFLICT', KEYS[2] .. ' was lost, or came back older'}
end
if ARGV[4] == 'none' then
  redis.call('HDEL', KEYS[2], ARGV[3])
elseif ARGV[4] == 'new' then
  redis.call('HSETNX', KEYS[2], ARGV[3], ARGV[4])
else
  redis.call('HSET', KEYS[2], ARGV[3], ARGV[4])
end
if head[2] then
  redis.call('HSET', KEYS[1], 'rows', 'campaigns=' .. redis.call('HLEN', KEYS[2]))
end
return {'OK', ''}
