-- Writes batches of partitions, each whole or not at all. ARGV: for each partition the writer's epoch, the partition, the
-- number of units, then the units, one after the other.
-- A unit is a campaign, or the partition itself. Its head, a hash with epoch, partition and offset, moves from
-- `before` to `after`, and with it go its writes:
--   beginning of all keys, head, start, before, after, tables, number of writes, (command, key, number of arguments,
--   arguments ...) ...
-- The command IDS appends ids to a list: how many of all ids are kept, how many are new, and the element with them.
-- Keys are given without their beginning. The tables are 'all' for those of a campaign, the key of the only one, or empty.
-- KEYS are all keys in a cluster, which needs to know them, and none elsewhere.
-- The head also knows the number of rows of each of these tables. If one has another number, keys were lost, and the
-- unit is refused. A table that the head does not name is new in this version.
-- A head that is at `after` in the writer's own epoch was written by this very batch, whose reply was lost.
-- If `before` is 'same', the head stays at `after`, and the writes are made however often they are asked for.
-- Returns a status and a detail for each partition. One that is refused does not hold up the others.
local SIZE = {seen = 'LLEN', leaderboard = 'ZCARD', outbox = 'EXISTS'} -- the other tables are hashes
local TABLES = {'systems', 'judges', 'segments', 'segment_pages', 'pairs', 'cells', 'replicas', 'votes', 'residuals',
                'categories', 'requests', 'seen', 'leaderboard', 'outbox'} -- of a campaign, beside its head
local CHUNK = 4000 -- even, for pairs; Lua's stack holds about twice as many
local at = 1

-- How the reply of a command changes the number of rows.
local GROWS = {HSET = 1, ZADD = 1, HDEL = -1, ZREM = -1}

-- Counts the rows of the unit's tables.
local function count_rows(unit)
  for number, key in ipairs(unit.keys) do
    local size = redis.pcall(SIZE[unit.tables[number]] or 'HLEN', key)
    unit.sizes[key] = type(size) == 'number' and size or -1 -- it is a key of another type
  end
end

-- Returns the names of the unit's tables and their numbers of rows, or of those tables that `left` names.
local function rows(unit, left)
  local sizes = {}
  for number, name in ipairs(unit.tables) do
    if not left or (' ' .. left):find(' ' .. name .. '=', 1, true) then
      sizes[#sizes + 1] = name .. '=' .. unit.sizes[unit.keys[number]]
    end
  end
  return table.concat(sizes, ' ')
end

local function read_unit()
  local beginning = ARGV[at]
  local unit = {head = beginning .. ARGV[at + 1], start = ARGV[at + 2], before = ARGV[at + 3], after = ARGV[at + 4]}
  unit.tables, unit.keys, unit.sizes, unit.writes = {}, {}, {}, {}
  local tables = ARGV[at + 5]
  if tables == 'all' then
    local beside = unit.head:sub(1, -1 - #'meta')
    unit.tables = TABLES
    for number, name in ipairs(TABLES) do
      unit.keys[number] = beside .. name
    end
  elseif tables ~= '' then
    unit.tables, unit.keys = {tables:match('[^:]+$')}, {beginning .. tables}
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
    end
    if not unit.done then
      count_rows(unit)
      if head[4] and #unit.tables > 0 and head[4] ~= rows(unit) and head[4] ~= rows(unit, head[4]) then
        return 'CONFLICT', unit.head .. ' was left with ' .. head[4] .. ', and has ' .. rows(unit)
      end
    end
  end
end

-- Appends ids as one element. The oldest elements go while the others have enough ids. An element of an earlier version
-- is one id.
local function push_ids(head, key, kept, count, element)
  local length = redis.call('LLEN', key)
  local ids = count + (length > 0 and (redis.call('HGET', head, 'ids') or length) or 0)
  redis.call('RPUSH', key, element)
  while ids > kept do
    local size = tonumber(redis.call('LINDEX', key, 0):match('^\255(%d+)\n') or 1)
    if ids - size < kept then
      break
    end
    redis.call('LPOP', key)
    ids = ids - size
  end
  redis.call('HSET', head, 'ids', ids, 'kept_ids', kept)
end

local function write(epoch, partition, unit)
  for _, each in ipairs(unit.writes) do
    local size = unit.sizes[each.key]
    if each.command == 'IDS' then
      push_ids(unit.head, each.key, tonumber(ARGV[each.first]), tonumber(ARGV[each.first + 1]), ARGV[each.last])
      size = redis.call('LLEN', each.key)
    else
      for first = each.first, each.last, CHUNK do
        local reply = redis.call(each.command, each.key, unpack(ARGV, first, math.min(first + CHUNK - 1, each.last)))
        if size and GROWS[each.command] then
          size = size + GROWS[each.command] * reply
        elseif size then
          size = each.command == 'SET' and 1 or 0 -- UNLINK
        end
      end
    end
    unit.sizes[each.key] = size
  end
  local head = {'epoch', epoch, 'partition', partition, 'offset', unit.after}
  if #unit.tables > 0 then
    head[7], head[8] = 'rows', rows(unit)
  end
  redis.call('HSET', unit.head, unpack(head))
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
