-- Makes an epoch the writer of a campaign. ARGV: the epoch, its partition, the layout of this version.
-- KEYS: the campaign's head.
local head = redis.call('HMGET', KEYS[1], 'epoch', 'partition', 'layout')
if head[3] and tonumber(head[3]) > tonumber(ARGV[3]) then
  return {'NEWER', head[3]}
end
if not head[2] then
  return {'NONE', ''}
end
if head[2] ~= ARGV[2] then
  return {'FOREIGN', head[2]}
end
if tonumber(head[1]) > tonumber(ARGV[1]) then
  return {'FENCED', head[1]}
end
redis.call('HSET', KEYS[1], 'epoch', ARGV[1])
return {'OK', ''}
