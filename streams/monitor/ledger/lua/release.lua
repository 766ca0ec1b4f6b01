-- Ends a lease if this judge holds it. Returns 1 if they did.
-- KEYS: the lease, the matches handed to the judge. ARGV: the judge, 1 if they may get the match again.
local held = redis.call('GET', KEYS[1])
local owner = ARGV[1] .. ' '
if not held or string.sub(held, 1, #owner) ~= owner then
  return 0
end
redis.call('DEL', KEYS[1])
if ARGV[2] == '1' then
  redis.call('SREM', KEYS[2], string.sub(held, #owner + 1))
end
return 1
