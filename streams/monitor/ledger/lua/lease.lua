-- Returns the leases that a judge holds, and leases requests that are free and new to them, until there are enough.
-- KEYS: the matches handed to the judge, then the lease of each offer, which holds the judge and the match.
-- ARGV: the judge, the number of leases, milliseconds of a lease, milliseconds that matches are remembered, then request
-- and match of each offer.
local judge, count, lease, remembered = ARGV[1], tonumber(ARGV[2]), ARGV[3], ARGV[4]
local found = {}
for number = 2, #KEYS do
  local request, match = ARGV[2 * number + 1], ARGV[2 * number + 2]
  if #found < count and redis.call('GET', KEYS[number]) == judge .. ' ' .. match then
    table.insert(found, {request, redis.call('PTTL', KEYS[number])})
  end
end
for number = 2, #KEYS do
  local request, match = ARGV[2 * number + 1], ARGV[2 * number + 2]
  if #found < count and redis.call('SISMEMBER', KEYS[1], match) == 0
    and redis.call('SET', KEYS[number], judge .. ' ' .. match, 'NX', 'PX', lease) then
    redis.call('SADD', KEYS[1], match)
    redis.call('PEXPIRE', KEYS[1], remembered)
    table.insert(found, {request, tonumber(lease)})
  end
end
return found
