-- Records an answer: the judge is free, and the request is not leased again until the time is over.
-- KEYS: the request that the judge holds, the lease of the request. ARGV: the request, milliseconds.
if redis.call('GET', KEYS[1]) == ARGV[1] then
  redis.call('DEL', KEYS[1])
end
redis.call('SET', KEYS[2], '', 'PX', ARGV[2])
return 1
