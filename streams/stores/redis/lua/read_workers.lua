-- Returns the time of Redis (milliseconds) and the reports of the workers. KEYS: the hash of the reports.
local time = redis.call('TIME')
return {time[1] * 1000 + math.floor(time[2] / 1000), redis.call('HGETALL', KEYS[1])}
