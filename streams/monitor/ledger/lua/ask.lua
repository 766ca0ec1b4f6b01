-- Records that a judge asks for a number of matches, and returns how many all judges have asked for lately.
-- KEYS: a sorted set with one member for each match that is asked for, by the time when it was asked for last.
-- ARGV: the judge, the number, the time in milliseconds, for how many milliseconds it counts, the most that are counted.
local now, lately = tonumber(ARGV[3]), tonumber(ARGV[4])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - lately)
for number = 1, tonumber(ARGV[2]) do
  redis.call('ZADD', KEYS[1], now, ARGV[1] .. ' ' .. number)
end
redis.call('ZREMRANGEBYRANK', KEYS[1], 0, -tonumber(ARGV[5]) - 1)
redis.call('PEXPIRE', KEYS[1], lately)
return redis.call('ZCARD', KEYS[1])
