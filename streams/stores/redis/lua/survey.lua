-- Makes an epoch the writer of campaigns, and returns for each its meta, status, offset, the sizes of its tables as the
-- head has them and as they are, and its outbox. The answer is false for a campaign that is not stored, that another
-- partition or a later epoch has, or that has a key of another type.
-- ARGV: the epoch, its partition, the layout of this version, the number of keys per campaign.
-- KEYS: for each campaign its head, then its tables. The outbox is the last one.
local SIZE = {hash = 'HLEN', list = 'LLEN', zset = 'ZCARD', string = 'EXISTS', none = 'EXISTS'}
local per = tonumber(ARGV[4])

local function survey(first)
  if redis.call('TYPE', KEYS[first]).ok ~= 'hash' then
    return false
  end
  local head = redis.call('HMGET', KEYS[first], 'epoch', 'partition', 'layout', 'campaign', 'status', 'offset', 'rows')
  local outbox = KEYS[first + per - 1]
  if head[2] ~= ARGV[2] or not head[4] or not head[6] or tonumber(head[1]) > tonumber(ARGV[1])
      or tonumber(head[3] or 0) > tonumber(ARGV[3]) or redis.call('EXISTS', outbox) == 1
      and redis.call('TYPE', outbox).ok ~= 'string' then
    return false
  end
  local sizes = {}
  for number = first + 1, first + per - 1 do
    local key = KEYS[number]
    local command = SIZE[redis.call('TYPE', key).ok]
    sizes[#sizes + 1] = key:match('[^:]+$') .. '=' .. (command and redis.call(command, key) or -1)
  end
  redis.call('HSET', KEYS[first], 'epoch', ARGV[1])
  return {head[4], head[5], head[6], head[7], table.concat(sizes, ' '), redis.call('GET', outbox)}
end

local found = {}
for first = 1, #KEYS, per do
  found[#found + 1] = survey(first)
end
return found
