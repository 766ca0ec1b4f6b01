-- Writes a batch whole or not at all. ARGV: the writer's epoch and partition, then units, one after the other.
-- A unit is a campaign, or the partition itself. Its head, a hash with epoch, partition and offset, moves from
-- `before` to `after`, and with it go its writes:
--   head, start, before, after, number of tables, tables ..., number of writes, (command, key, number of arguments,
--   arguments ...) ...
-- The head also knows the number of rows of each of these tables. If one has another number, keys were lost, and the
-- unit is refused. A table that the head does not name is new in this version.
-- A head that is at `after` in the writer's own epoch was written by this very batch, whose reply was lost.
-- If `before` is 'same', the head stays at `after`, and the writes are made however often they are asked for.
local epoch, partition = ARGV[1], ARGV[2]
local units = {}
local SIZE = {hash = 'HLEN', list = 'LLEN', zset = 'ZCARD', string = 'EXISTS', none = 'EXISTS'}

local function rows(tables, left)
  local sizes = {}
  for _, key in ipairs(tables) do
    local name, command = key:match('.*:(.+)'), SIZE[redis.call('TYPE', key).ok]
    if not left or (' ' .. left):find(' ' .. name .. '=', 1, true) then
      sizes[#sizes + 1] = name .. '=' .. (command and redis.call(command, key) or -1)
    end
  end
  return table.concat(sizes, ' ')
end

local at = 3
while at <= #ARGV do
  local unit = {head = ARGV[at], start = ARGV[at + 1], before = ARGV[at + 2], after = ARGV[at + 3]}
  unit.tables, unit.writes = {}, {}
  local count = tonumber(ARGV[at + 4])
  for number = 1, count do
    unit.tables[number] = ARGV[at + 4 + number]
  end
  at = at + 5 + count
  count = tonumber(ARGV[at])
  at = at + 1
  for number = 1, count do
    local size = tonumber(ARGV[at + 2])
    unit.writes[number] = {command = ARGV[at], key = ARGV[at + 1], first = at + 3, last = at + 2 + size}
    at = at + 3 + size
  end
  units[#units + 1] = unit
end

for _, unit in ipairs(units) do
  local head = redis.call('HMGET', unit.head, 'epoch', 'partition', 'offset', 'rows')
  local offset = head[3] or unit.start
  if head[2] and head[2] ~= partition then
    return {'CONFLICT', unit.head .. ' is written by ' .. head[2]}
  end
  if head[1] and tonumber(head[1]) > tonumber(epoch) then
    return {'FENCED', head[1]}
  end
  local own = not head[1] or head[1] == epoch
  if own and offset == unit.after and unit.before ~= 'same' then
    unit.done = true
  elseif not own or offset ~= (unit.before == 'same' and unit.after or unit.before) then
    return {'CONFLICT', unit.head .. ' is at ' .. offset .. ' in epoch ' .. tostring(head[1])
                        .. ', not at ' .. unit.before .. ' in epoch ' .. epoch}
  elseif head[4] and #unit.tables > 0 and head[4] ~= rows(unit.tables, head[4]) then
    return {'CONFLICT', unit.head .. ' was left with ' .. head[4] .. ', and has ' .. rows(unit.tables)}
  end
end

local CHUNK = 4000 -- even, for pairs; Lua's stack holds about twice as many

for _, unit in ipairs(units) do
  if not unit.done then
    for _, write in ipairs(unit.writes) do
      for first = write.first, write.last, CHUNK do
        redis.call(write.command, write.key, unpack(ARGV, first, math.min(first + CHUNK - 1, write.last)))
      end
    end
    redis.call('HSET', unit.head, 'epoch', epoch, 'partition', partition, 'offset', unit.after)
    if #unit.tables > 0 then
      redis.call('HSET', unit.head, 'rows', rows(unit.tables))
    end
  end
end
return {'OK', ''}
