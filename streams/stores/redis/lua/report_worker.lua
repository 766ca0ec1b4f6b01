-- Writes the report of a worker with the time of Redis (milliseconds), and removes those that are forgotten.
-- ARGV: milliseconds after which a report is forgotten, the worker, its report. KEYS: the hash of the reports.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local reports = redis.call('HGETALL', KEYS[1])
for i = 1, #reports, 2 do
  if tonumber(string.match(reports[i + 1], '^%d+')) < now - ARGV[1] then
    redis.call('HDEL', KEYS[1], reports[i])
  end
end
redis.call('HSET', KEYS[1], ARGV[2], string.format('%.0f', now) .. ' ' .. ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return {'OK', ''}
