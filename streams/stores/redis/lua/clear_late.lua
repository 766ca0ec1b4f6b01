-- Removes a report of late outputs, unless there is a newer one. ARGV: the report. KEYS: the partition's late outputs.
if redis.call('GET', KEYS[1]) == ARGV[1] then
  redis.call('DEL', KEYS[1])
end
return {'OK', ''}
