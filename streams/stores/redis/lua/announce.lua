-- Opens a batch that a cluster writes in several calls. ARGV: the writer's epoch and partition, the partition's offset
-- before and after the batch, then its campaigns. KEYS: the partition's head, the list of its campaigns.
-- The campaigns are listed before they are written: what a crash leaves of them is found by the next owner.
local head = redis.call('HMGET', KEYS[1], 'epoch', 'offset', 'rows')
local epoch, offset = head[1] or 'none', head[2] or '0'
if head[1] and tonumber(epoch) > tonumber(ARGV[1]) then
  return {'FENCED', epoch}
end
if epoch ~= ARGV[1] or (offset ~= ARGV[3] and offset ~= ARGV[4]) then
  return {'CONFLICT', KEYS[1] .. ' is at ' .. offset .. ' in epoch ' .. epoch
                      .. ', not at ' .. ARGV[3] .. ' in epoch ' .. ARGV[1]}
end
if head[3] and head[3] ~= 'campaigns=' .. redis.call('HLEN', KEYS[2]) then
  return {'CONFLICT', KEYS[2] .. ' was lost'}
end
for number = 5, #ARGV do
  redis.call('HSETNX', KEYS[2], ARGV[number], 'new')
end
if head[3] then
  redis.call('HSET', KEYS[1], 'rows', 'campaigns=' .. redis.call('HLEN', KEYS[2]))
end
return {'OK', ''}
