-- Remembers an answer that is on its way: the judge is free, and nobody else is asked for so long.
-- KEYS: what the judge holds, the request's lease. ARGV: the request, milliseconds.
if redis.call('GET', KEYS[1]) == ARGV[1] then
  redis.call('DEL', KEYS[1])
end
redis.call('SET', KEYS[2], '', 'PX', ARGV[2])
return 1
