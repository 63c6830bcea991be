"""What Redis does in one go. A script sees and changes a record while nobody else does.

A record is a hash. `h` is its head: when it expires, when it was created, and whose it is. `d` is its kind
and its data. Once they are there, `o` is its outcome, `c` says that it was consumed, and `v` is its
version, which is 1 without it. Few fields, and short names: Redis keeps each name with each record.
"""

from __future__ import annotations

from typing import Final

from midcall.settings.stores import EXPIRED_KEEP_SECONDS

FIELDS: Final = ("h", "d", "o", "c", "v")

_FIELDS: Final = ", ".join(f"'{field}'" for field in FIELDS)
_HEAD: Final = """
local function parts(head)
    local expires, created, owner = string.match(head, '^(%S+) (%S+) (.*)$')
    return tonumber(expires or '') or math.huge, owner or '', tonumber(created or '') and created or '0'
end
"""

# If its memory is full, Redis refuses the first write of a script, but no later ones. So the write that takes
# memory comes first: a script is refused as a whole, or not at all.
# KEYS: record. ARGV: created, head, kind and data; then, each '' if absent: = and the outcome,
# consumed, for how many milliseconds to keep it; channel, message.
CREATE: Final = f"""{_HEAD}
local old = redis.call('HGET', KEYS[1], 'h')
if old and parts(old) > tonumber(ARGV[1]) then
    return redis.call('HMGET', KEYS[1], {_FIELDS})
end
redis.call('HSET', KEYS[1], 'h', ARGV[2], 'd', ARGV[3])
if old then redis.call('HDEL', KEYS[1], 'o', 'c', 'v') end
if ARGV[4] ~= '' then redis.call('HSET', KEYS[1], 'o', string.sub(ARGV[4], 2)) end
if ARGV[5] ~= '' then redis.call('HSET', KEYS[1], 'c', ARGV[5]) end
if ARGV[6] ~= '' then redis.call('PEXPIRE', KEYS[1], ARGV[6]) else redis.call('PERSIST', KEYS[1]) end
redis.call('PUBLISH', ARGV[7], ARGV[8])
return false
"""

# Redis removes it as long after the new `expires` as it would have after the old one, so this needs no clock.
# A record that was kept forever counts from when it was created.
# KEYS: record. ARGV: version, expires, owner, kind and data; = and the outcome, consumed, or ''; channel,
# message. Returns when it was created, or if it has another version, what is there.
CHANGE: Final = f"""{_HEAD}
local head, version = unpack(redis.call('HMGET', KEYS[1], 'h', 'v'))
if not head or (version or '1') ~= ARGV[1] then
    return redis.call('HMGET', KEYS[1], {_FIELDS})
end
local before, _, created = parts(head)
local expires, left = tonumber(ARGV[2]), redis.call('PTTL', KEYS[1])
head = ARGV[2] .. ' ' .. created .. ' ' .. ARGV[3]
redis.call('HSET', KEYS[1], 'h', head, 'd', ARGV[4], 'v', tonumber(ARGV[1]) + 1)
if ARGV[5] ~= '' then redis.call('HSET', KEYS[1], 'o', string.sub(ARGV[5], 2)) else redis.call('HDEL', KEYS[1], 'o') end
if ARGV[6] ~= '' then redis.call('HSET', KEYS[1], 'c', ARGV[6]) else redis.call('HDEL', KEYS[1], 'c') end
if expires == math.huge then
    redis.call('PERSIST', KEYS[1])
else
    if left < 0 then before, left = tonumber(created), {EXPIRED_KEEP_SECONDS * 1000} end
    left = math.max(1, left + (expires - before) * 1000)
    redis.call('PEXPIRE', KEYS[1], string.format('%.0f', left))
end
redis.call('PUBLISH', ARGV[7], ARGV[8])
return created
"""

# KEYS: record. ARGV: outcome, 'any' or 'only', owner, now, channel, message.
COMPLETE: Final = f"""{_HEAD}
local head, outcome, version = unpack(redis.call('HMGET', KEYS[1], 'h', 'o', 'v'))
if not head then return 'unknown' end
local expires, owner = parts(head)
if ARGV[2] == 'only' and owner ~= ARGV[3] then return 'foreign' end
if outcome then return 'already' end
if expires <= tonumber(ARGV[4]) then return 'expired' end
redis.call('HSET', KEYS[1], 'o', ARGV[1], 'v', (tonumber(version or '1') or 1) + 1)
redis.call('PUBLISH', ARGV[5], ARGV[6])
return 'done'
"""

# KEYS: record. ARGV: 'any' or 'only', owner, now, channel, message.
CONSUME: Final = f"""{_HEAD}
local head, consumed, version = unpack(redis.call('HMGET', KEYS[1], 'h', 'c', 'v'))
if not head or consumed then return false end
local expires, owner = parts(head)
if (ARGV[1] == 'only' and owner ~= ARGV[2]) or expires <= tonumber(ARGV[3]) then return false end
local found = redis.call('HMGET', KEYS[1], {_FIELDS})
redis.call('HSET', KEYS[1], 'c', '1', 'v', (tonumber(version or '1') or 1) + 1)
redis.call('PUBLISH', ARGV[4], ARGV[5])
return found
"""

# Most records that somebody looks at do not exist yet: this answers for those that do, which is cheaper to read
# than a pipeline.
# KEYS: records. ARGV: fields, `h` first. Returns which records exist, each followed by its fields.
LOOK: Final = """
local found = {}
for place, key in ipairs(KEYS) do
    local fields = redis.call('HMGET', key, unpack(ARGV))
    if fields[1] then
        found[#found + 1] = place - 1
        found[#found + 1] = fields
    end
end
return found
"""

# KEYS: records. ARGV: now.
SWEEP: Final = f"""{_HEAD}
local gone = 0
for _, key in ipairs(KEYS) do
    local head = redis.call('HGET', key, 'h')
    if head and parts(head) <= tonumber(ARGV[1]) then gone = gone + redis.call('DEL', key) end
end
return gone
"""

# KEYS: values of an owner. ARGV: name, value, sealed that must be there. A value is 'updated sealed'.
SWAP: Final = """
local old = redis.call('HGET', KEYS[1], ARGV[1])
if not old or string.sub(old, (string.find(old, ' ', 1, true)) + 1) ~= ARGV[3] then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
return 1
"""

ALL: Final = (CREATE, CHANGE, COMPLETE, CONSUME, LOOK, SWEEP, SWAP)
