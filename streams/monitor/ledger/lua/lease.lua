-- Returns the lease that a judge holds already, or leases the first request that is free and new to them.
-- KEYS: the request that the judge holds, the matches handed to the judge, then the lease of each offer.
-- ARGV: the judge, milliseconds of a lease, milliseconds that matches are remembered, then request and match of each offer.
local judge, lease, remembered = ARGV[1], ARGV[2], ARGV[3]
local held = redis.call('GET', KEYS[1])
for number = 3, #KEYS do
  local request = ARGV[2 * number - 2]
  if request == held and redis.call('GET', KEYS[number]) == judge then
    return {request, redis.call('PTTL', KEYS[number])}
  end
end
for number = 3, #KEYS do
  local request, match = ARGV[2 * number - 2], ARGV[2 * number - 1]
  if redis.call('SISMEMBER', KEYS[2], match) == 0 and redis.call('SET', KEYS[number], judge, 'NX', 'PX', lease) then
    redis.call('SET', KEYS[1], request, 'PX', lease)
    redis.call('SADD', KEYS[2], match)
    redis.call('PEXPIRE', KEYS[2], remembered)
    return {request, tonumber(lease)}
  end
end
return false
