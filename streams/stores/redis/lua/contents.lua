-- Reads a campaign as of one moment; unlike MULTI it works in a Redis that is full.
-- KEYS: the head, the outbox, the ids seen, the leaderboard, the match requests, the systems, then the other tables.
-- ARGV: the first and last of the ids, and the largest number of rows and ids that one call may read.
-- Returns the head, the sizes of the other keys, then outbox, leaderboard, match requests and systems, which are never
-- large. The ids and the other tables follow if they are small enough together. With a negative limit only the head and the sizes are read.
local most = tonumber(ARGV[3])
local head = redis.call('HMGET', KEYS[1], 'layout', 'campaign', 'status', 'offset', 'rows', 'epoch', 'kept_ids')
local sizes = {redis.call('EXISTS', KEYS[2]), redis.call('LLEN', KEYS[3]), redis.call('ZCARD', KEYS[4])}
local total = ARGV[2] == '-1' and sizes[2] or 0
for number = 5, #KEYS do
  sizes[number - 1] = redis.call('HLEN', KEYS[number])
  total = total + sizes[number - 1]
end
if most < 0 then
  return {head, sizes}
end
local found = {
  head,
  sizes,
  redis.call('GET', KEYS[2]),
  redis.call('ZRANGE', KEYS[4], 0, -1, 'WITHSCORES'),
  redis.call('HVALS', KEYS[5]),
  redis.call('HGETALL', KEYS[6]),
}
if total <= most then
  found[7] = redis.call('LRANGE', KEYS[3], ARGV[1], ARGV[2])
  for number = 7, #KEYS do
    found[number + 1] = redis.call('HGETALL', KEYS[number])
  end
end
return found
