-- Reads a campaign as of one moment; unlike MULTI it works in a Redis that is full.
-- KEYS: the head, the outbox, the ids seen, the leaderboard, then the tables. ARGV: the first and last of the ids.
local found = {
  redis.call('HMGET', KEYS[1], 'layout', 'campaign', 'status', 'offset', 'rows'),
  redis.call('LLEN', KEYS[3]),
  redis.call('GET', KEYS[2]),
  redis.call('LRANGE', KEYS[3], ARGV[1], ARGV[2]),
  redis.call('ZRANGE', KEYS[4], 0, -1, 'WITHSCORES'),
}
for number = 5, #KEYS do
  found[number + 1] = redis.call('HGETALL', KEYS[number])
end
return found
