-- Makes an epoch the writer of a campaign that its partition lists and that is not written yet, before the former owner
-- comes to write it. ARGV: the epoch, its partition. KEYS: the campaign's head.
local head = redis.call('HMGET', KEYS[1], 'epoch', 'partition', 'campaign')
if head[2] and head[2] ~= ARGV[2] then
  return {'FOREIGN', head[2]}
end
if not head[3] and not (head[1] and tonumber(head[1]) > tonumber(ARGV[1])) then
  redis.call('HSET', KEYS[1], 'epoch', ARGV[1], 'partition', ARGV[2])
end
return {'OK', ''}
