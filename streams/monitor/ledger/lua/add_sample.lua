-- Appends a sample to a list, unless it is not newer or too near. If the list is too long, every other one is dropped.
-- streams/reports/thinning.py holds the same rule in Python; a test compares the two.
-- KEYS: the list, its head (a hash: the last sequence, and the step to the next). ARGV: sequence, most, the sample.
local sequence, most = tonumber(ARGV[1]), tonumber(ARGV[2])
local head = redis.call('HMGET', KEYS[2], 'sequence', 'step')
local step = tonumber(head[2] or 1)
if head[1] then
  local last = tonumber(head[1])
  if sequence < math.floor(last / 2) then -- the campaign was started again
    redis.call('DEL', KEYS[1])
    step = 1
  elseif sequence < last + step then
    return 0
  end
end
if redis.call('RPUSH', KEYS[1], ARGV[3]) > most then
  local samples = redis.call('LRANGE', KEYS[1], 0, -1)
  redis.call('DEL', KEYS[1])
  for number = 1, #samples, 2 do
    redis.call('RPUSH', KEYS[1], samples[number])
  end
  step = math.max(1, math.floor(2 * sequence / most))
end
redis.call('HSET', KEYS[2], 'sequence', ARGV[1], 'step', step)
return 1
