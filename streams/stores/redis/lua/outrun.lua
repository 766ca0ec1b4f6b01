-- Moves a partition to a later epoch for its present owner: its campaigns are ahead, because the partition's head was
-- lost or came back older.
-- ARGV: the owner's epoch and partition, the later epoch. KEYS: the partition's head.
local epoch = redis.call('HGET', KEYS[1], 'epoch')
if epoch and tonumber(epoch) > tonumber(ARGV[1]) then
  return {'FENCED', epoch}
end
redis.call('HSET', KEYS[1], 'epoch', ARGV[3])
return {'OK', ''}
