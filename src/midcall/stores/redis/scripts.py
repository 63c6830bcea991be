"""What Redis does in one go. A script sees and changes a record while nobody else does.

A record is a hash. `h` is its head: when it expires, when it was created, and whose it is. `d` is its kind
and its data. Once they are there, `o` is its outcome, and `c` says that it was consumed. Few fields, and
short names: Redis keeps each name with each record.
"""

from __future__ import annotations

__all__ = ["COMPLETE", "CONSUME", "CREATE", "FIELDS", "SWAP", "SWEEP"]

FIELDS = ("h", "d", "o", "c")

_FIELDS = ", ".join(f"'{field}'" for field in FIELDS)
_HEAD = """
local function parts(head)
    local expires, owner = string.match(head, '^(%S+) %S+ (.*)$')
    return tonumber(expires), owner
end
"""

# Redis refuses to begin writing when its memory is full, and not any more once a script has written: so
# what takes memory comes first, and a script is refused as a whole.
# KEYS: record. ARGV: created, head, kind and data; and where there are any, else '': = and the outcome,
# consumed, for how many milliseconds to keep it.
CREATE = f"""{_HEAD}
local old = redis.call('HGET', KEYS[1], 'h')
if old and parts(old) > tonumber(ARGV[1]) then
    return redis.call('HMGET', KEYS[1], {_FIELDS})
end
redis.call('HSET', KEYS[1], 'h', ARGV[2], 'd', ARGV[3])
if old then redis.call('HDEL', KEYS[1], 'o', 'c') end
if ARGV[4] ~= '' then redis.call('HSET', KEYS[1], 'o', string.sub(ARGV[4], 2)) end
if ARGV[5] ~= '' then redis.call('HSET', KEYS[1], 'c', ARGV[5]) end
if ARGV[6] ~= '' then redis.call('PEXPIRE', KEYS[1], ARGV[6]) else redis.call('PERSIST', KEYS[1]) end
return false
"""

# KEYS: record. ARGV: outcome, 'any' or 'only', owner, now, channel, message.
COMPLETE = f"""{_HEAD}
local head, outcome = unpack(redis.call('HMGET', KEYS[1], 'h', 'o'))
if not head then return 'unknown' end
local expires, owner = parts(head)
if ARGV[2] == 'only' and owner ~= ARGV[3] then return 'foreign' end
if outcome then return 'already' end
if expires <= tonumber(ARGV[4]) then return 'expired' end
redis.call('HSET', KEYS[1], 'o', ARGV[1])
redis.call('PUBLISH', ARGV[5], ARGV[6])
return 'done'
"""

# KEYS: record. ARGV: 'any' or 'only', owner, now.
CONSUME = f"""{_HEAD}
local head, consumed = unpack(redis.call('HMGET', KEYS[1], 'h', 'c'))
if not head or consumed then return false end
local expires, owner = parts(head)
if (ARGV[1] == 'only' and owner ~= ARGV[2]) or expires <= tonumber(ARGV[3]) then return false end
local found = redis.call('HMGET', KEYS[1], {_FIELDS})
redis.call('HSET', KEYS[1], 'c', '1')
return found
"""

# KEYS: records. ARGV: now.
SWEEP = f"""{_HEAD}
local gone = 0
for _, key in ipairs(KEYS) do
    local head = redis.call('HGET', key, 'h')
    if head and parts(head) <= tonumber(ARGV[1]) then gone = gone + redis.call('DEL', key) end
end
return gone
"""

# KEYS: values of an owner. ARGV: name, value, sealed that must be there. A value is 'updated sealed'.
SWAP = """
local old = redis.call('HGET', KEYS[1], ARGV[1])
if not old or string.sub(old, (string.find(old, ' ', 1, true)) + 1) ~= ARGV[3] then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
return 1
"""
