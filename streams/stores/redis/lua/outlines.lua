-- Looks where campaigns are, and whether their tables have the sizes that they were left with.
-- KEYS: the heads, whose names end with 'meta'. ARGV: the names of the tables.
-- Returns for each campaign its offset if it is whole, an empty text if it is not stored, or else its offset, the sizes
-- that it was left with, and the sizes of all tables. That of a key of another type is -1.
local SIZE = {seen = 'LLEN', leaderboard = 'ZCARD', outbox = 'EXISTS'} -- the other tables are hashes
local found = {}
for place, key in ipairs(KEYS) do
  local head = redis.pcall('HMGET', key, 'offset', 'rows')
  if head.err or not head[1] then
    found[place] = ''
  else
    local rows, is_whole, sizes = ' ' .. (head[2] or '') .. ' ', true, {head[1], head[2] or ''}
    for number, name in ipairs(ARGV) do
      local size = redis.pcall(SIZE[name] or 'HLEN', key:sub(1, -5) .. name)
      size = type(size) == 'number' and size or -1
      is_whole = is_whole and rows:find(' ' .. name .. '=' .. size .. ' ', 1, true)
      sizes[number + 2] = size
    end
    found[place] = is_whole and head[1] or sizes
  end
end
return found
