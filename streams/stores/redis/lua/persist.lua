-- Writes batches of partitions, each whole or not at all. ARGV: for each partition the writer's epoch, the partition, the
-- number of units, then the units, one after the other.
-- A unit is a campaign, or the partition itself. Its head, a hash with epoch, partition and offset, moves from
-- `before` to `after`, and with it go its writes:
--   beginning of all keys, head, start, before, after, tables, number of writes, (command, key, number of arguments,
--   arguments ...) ...
-- Keys are given without their beginning, and the tables as one string. KEYS are all keys in a cluster, which needs to
-- know them, and none elsewhere.
-- The head also knows the number of rows of each of these tables. If one has another number, keys were lost, and the
-- unit is refused. A table that the head does not name is new in this version.
-- A head that is at `after` in the writer's own epoch was written by this very batch, whose reply was lost.
-- If `before` is 'same', the head stays at `after`, and the writes are made however often they are asked for.
-- Returns a status and a detail for each partition. One that is refused does not hold up the others.
local SIZE = {hash = 'HLEN', list = 'LLEN', zset = 'ZCARD', string = 'EXISTS', none = 'EXISTS'}
local CHUNK = 4000 -- even, for pairs; Lua's stack holds about twice as many
local at = 1

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

local function read_unit()
  local beginning = ARGV[at]
  local unit = {head = beginning .. ARGV[at + 1], start = ARGV[at + 2], before = ARGV[at + 3], after = ARGV[at + 4]}
  unit.tables, unit.writes = {}, {}
  for name in ARGV[at + 5]:gmatch('%S+') do
    unit.tables[#unit.tables + 1] = beginning .. name
  end
  local count = tonumber(ARGV[at + 6])
  at = at + 7
  for number = 1, count do
    local size = tonumber(ARGV[at + 2])
    unit.writes[number] = {command = ARGV[at], key = beginning .. ARGV[at + 1], first = at + 3, last = at + 2 + size}
    at = at + 3 + size
  end
  return unit
end

-- Returns why the units of a partition are refused, or nothing.
local function check(epoch, partition, units)
  for _, unit in ipairs(units) do
    local head = redis.call('HMGET', unit.head, 'epoch', 'partition', 'offset', 'rows')
    local offset = head[3] or unit.start
    if head[2] and head[2] ~= partition then
      return 'CONFLICT', unit.head .. ' is written by ' .. head[2]
    end
    if head[1] and tonumber(head[1]) > tonumber(epoch) then
      return 'FENCED', head[1]
    end
    local own = not head[1] or head[1] == epoch
    if own and offset == unit.after and unit.before ~= 'same' then
      unit.done = true
    elseif not own or offset ~= (unit.before == 'same' and unit.after or unit.before) then
      return 'CONFLICT', unit.head .. ' is at ' .. offset .. ' in epoch ' .. tostring(head[1])
                         .. ', not at ' .. unit.before .. ' in epoch ' .. epoch
    elseif head[4] and #unit.tables > 0 and head[4] ~= rows(unit.tables, head[4]) then
      return 'CONFLICT', unit.head .. ' was left with ' .. head[4] .. ', and has ' .. rows(unit.tables)
    end
  end
end

local function write(epoch, partition, unit)
  for _, each in ipairs(unit.writes) do
    for first = each.first, each.last, CHUNK do
      redis.call(each.command, each.key, unpack(ARGV, first, math.min(first + CHUNK - 1, each.last)))
    end
  end
  redis.call('HSET', unit.head, 'epoch', epoch, 'partition', partition, 'offset', unit.after)
  if #unit.tables > 0 then
    redis.call('HSET', unit.head, 'rows', rows(unit.tables))
  end
end

local result = {}
while at <= #ARGV do
  local epoch, partition, count, units = ARGV[at], ARGV[at + 1], tonumber(ARGV[at + 2]), {}
  at = at + 3
  for number = 1, count do
    units[number] = read_unit()
  end
  local status, detail = check(epoch, partition, units)
  if not status then
    for _, unit in ipairs(units) do
      if not unit.done then
        write(epoch, partition, unit)
      end
    end
  end
  result[#result + 1], result[#result + 2] = status or 'OK', detail or ''
end
return result
