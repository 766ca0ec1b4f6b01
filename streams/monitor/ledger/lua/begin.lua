-- Records that a token begins a campaign. Returns 0, or the milliseconds until it may begin one more.
-- KEYS: the campaigns that the token has begun. ARGV: the campaign, how many it may begin, milliseconds of a day.
if redis.call('SISMEMBER', KEYS[1], ARGV[1]) == 0 then
  if redis.call('SCARD', KEYS[1]) >= tonumber(ARGV[2]) then
    return math.max(1, redis.call('PTTL', KEYS[1]))
  end
  redis.call('SADD', KEYS[1], ARGV[1])
  if redis.call('PTTL', KEYS[1]) < 0 then
    redis.call('PEXPIRE', KEYS[1], ARGV[3])
  end
end
return 0
