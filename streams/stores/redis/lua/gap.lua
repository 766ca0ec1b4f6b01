-- Writes down a gap in the log, in place of another gap with the same start, and returns it as it is stored.
-- ARGV: the writer's epoch, the gap's start, its field (START-END), its value. KEYS: the partition's head, its gaps.
local epoch = redis.call('HGET', KEYS[1], 'epoch')
if epoch and tonumber(epoch) > tonumber(ARGV[1]) then
  return {'FENCED', epoch}
end
for _, field in ipairs(redis.call('HKEYS', KEYS[2])) do
  if field ~= ARGV[3] and string.find(field, ARGV[2] .. '-', 1, true) == 1 then
    redis.call('HDEL', KEYS[2], field)
  end
end
redis.call('HSETNX', KEYS[2], ARGV[3], ARGV[4])
return {'OK', redis.call('HGET', KEYS[2], ARGV[3])}
