-- gpucost for Slurm: a job over the limit is submitted only under a live grant.
--
-- slurmctld calls this while it holds its locks, so it asks nobody: it reads the file
-- that `gpucost grants cache` keeps, checks its signature (HMAC-SHA256) and age, and
-- remembers it until it changes. Never a Prolog: that would drain nodes.
--
-- Needs Lua 5.3 or newer. Settings are in gpucost_slurm_config.lua beside the cache.

local CONFIG = os.getenv("GPUCOST_SLURM_CONFIG") or "/etc/slurm/gpucost_slurm_config.lua"
local NO_VAL, INFINITE = 4294967294, 4294967295
local NO_VAL16 = 65534
local clock = os.time

-- ------------------------------------------------------------------------- SHA-256

local K = {}
do
  local found, candidate = 0, 2
  while found < 64 do
    local is_prime = true
    for divisor = 2, math.floor(candidate ^ 0.5) do
      if candidate % divisor == 0 then is_prime = false break end
    end
    if is_prime then
      found = found + 1
      local root = candidate ^ (1 / 3)
      K[found] = math.floor((root - math.floor(root)) * 4294967296)
    end
    candidate = candidate + 1
  end
end

local function compress(state, block, at)
  local w = { string.unpack(">I4I4I4I4I4I4I4I4I4I4I4I4I4I4I4I4", block, at) }
  for i = 17, 64 do
    local x, y = w[i - 15], w[i - 2]
    local s0 = ((x >> 7) | (x << 25)) ~ ((x >> 18) | (x << 14)) ~ (x >> 3)
    local s1 = ((y >> 17) | (y << 15)) ~ ((y >> 19) | (y << 13)) ~ (y >> 10)
    w[i] = (w[i - 16] + (s0 & 0xffffffff) + w[i - 7] + (s1 & 0xffffffff)) & 0xffffffff
  end
  local a, b, c, d = state[1], state[2], state[3], state[4]
  local e, f, g, h = state[5], state[6], state[7], state[8]
  for i = 1, 64 do
    local s1 = ((e >> 6) | (e << 26)) ~ ((e >> 11) | (e << 21)) ~ ((e >> 25) | (e << 7))
    local t1 = h + (s1 & 0xffffffff) + ((e & f) ~ (~e & g)) + K[i] + w[i]
    local s0 = ((a >> 2) | (a << 30)) ~ ((a >> 13) | (a << 19)) ~ ((a >> 22) | (a << 10))
    local t2 = (s0 & 0xffffffff) + ((a & b) ~ (a & c) ~ (b & c))
    h, g, f, e = g, f, e, (d + t1) & 0xffffffff
    d, c, b, a = c, b, a, (t1 + t2) & 0xffffffff
  end
  local now = { a, b, c, d, e, f, g, h }
  for i = 1, 8 do state[i] = (state[i] + now[i]) & 0xffffffff end
end

local function sha256(text)
  local state = {
    0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
  }
  local padded = text .. "\128" .. ("\0"):rep((55 - #text) % 64) .. string.pack(">I8", #text * 8)
  for at = 1, #padded, 64 do compress(state, padded, at) end
  return string.pack(">I4I4I4I4I4I4I4I4", table.unpack(state))
end

local function hmac(key, text)
  if #key > 64 then key = sha256(key) end
  key = key .. ("\0"):rep(64 - #key)
  local inner = key:gsub(".", function(c) return string.char(c:byte() ~ 0x36) end)
  local outer = key:gsub(".", function(c) return string.char(c:byte() ~ 0x5c) end)
  return (sha256(outer .. sha256(inner .. text)):gsub(".", function(c)
    return ("%02x"):format(c:byte())
  end))
end

-- --------------------------------------------------------------------------- cache

local kept = { text = nil, grants = nil, written = nil, why = nil }

local function read_file(path)
  local file = io.open(path, "rb")
  if not file then return nil end
  local text = file:read("a")
  file:close()
  return text
end

local function unescape(text)
  return (text:gsub("%%(%x%x)", function(hex) return string.char(tonumber(hex, 16)) end))
end

local function parse(text, key)
  local body, signature = text:match("^(.*\n)hmac\t(%x+)\n$")
  if not body then return nil, nil, "the cache of grants is cut short" end
  if hmac(key, body) ~= signature then
    return nil, nil, "the cache of grants is not signed by the sidecar"
  end
  local written = tonumber(body:match("^gpucost%-grants\t1\t(%d+)\n"))
  if not written then return nil, nil, "the cache of grants is of another release" end
  local grants = {}
  for line in body:gmatch("([^\n]+)\n") do
    local part = {}
    for one in (line .. "\t"):gmatch("([^\t]*)\t") do part[#part + 1] = one end
    if part[1] == "grant" then
      grants[part[2]] = {
        job = unescape(part[3]), instance_type = part[4], count = tonumber(part[5]),
        hours = tonumber(part[6]), purchase = part[7], region = part[8],
        from = tonumber(part[9]), to = tonumber(part[10]), left = tonumber(part[11]),
        running = tonumber(part[12]),
      }
    end
  end
  return grants, written, nil
end

-- Returns grants by id, or nil and why nothing is known.
local function live_grants(config)
  local text, key = read_file(config.cache), read_file(config.cache .. ".key")
  if not text or not key then return nil, "the cache of grants cannot be read" end
  if text ~= kept.text then
    local grants, written, why = parse(text, (key:gsub("%s", "")))
    kept = { text = text, grants = grants, written = written, why = why }
  end
  if not kept.grants then return nil, kept.why end
  if clock() - kept.written > config.max_age_s then
    return nil, "the cache of grants is older than " .. config.max_age_s .. " s"
  end
  return kept.grants, nil
end

-- --------------------------------------------------------------------------- asked

local function known(value)
  if value == nil or value == NO_VAL or value == INFINITE or value == NO_VAL16 then
    return nil
  end
  return value
end

-- Returns how many jobs an array has, and how many of them may run at once.
local function array_size(text)
  if text == nil or text == "" then return 1, 1 end
  local list, most = text:match("^([^%%]+)%%?(%d*)$")
  local size = 0
  for part in (list or text):gmatch("[^,]+") do
    local first, last, step = part:match("^(%d+)%-(%d+):?(%d*)$")
    if first then
      step = math.max(tonumber(step) or 1, 1)
      size = size + (tonumber(last) - tonumber(first)) // step + 1
    else
      size = size + 1
    end
  end
  local at_once = tonumber(most)
  return size, at_once and at_once > 0 and math.min(size, at_once) or size
end

local function shape(config, job, record)
  local function of(name) return known(job[name]) or (record and known(record[name])) end
  local partition = job.partition or (record and record.partition) or config.default_partition
  if partition and partition:find(",", 1, true) then
    for one in partition:gmatch("[^,]+") do
      if config.partitions[one] then partition = one break end
    end
  end
  local place = partition and config.partitions[partition]
  if not place then return nil end
  local minutes = of("time_limit") or place.default_minutes
  local nodes = math.max(of("max_nodes") or 0, of("min_nodes") or 0, 1)
  local comment = job.comment or (record and record.comment) or ""
  local size, at_once = array_size(job.array_inx)
  return {
    place = place, minutes = minutes, count = nodes * at_once,
    hours = minutes and minutes / 60,
    total = minutes and nodes * size * minutes / 60,
    name = job.name or (record and record.name) or "",
    job = comment:match("gpucost%-job=([^%s,;]+)"),
    grant = comment:match("gpucost=(apr%-%w+)"),
  }
end

local function normal(name) return (name:lower():gsub("^%s+", ""):gsub("%s+$", "")) end

-- Returns why a grant does not cover what is asked; nil when it does.
local function refusal(grant, asked)
  local now = clock()
  if now < grant.from or now >= grant.to then return "its time is over; ask again" end
  if normal(asked.job or asked.name) ~= normal(grant.job) then
    return ("it is of job %s, not of %s"):format(grant.job, asked.job or asked.name)
  end
  for _, part in ipairs({ "instance_type", "purchase", "region" }) do
    if asked.place[part] ~= grant[part] then
      return ("%s %s was not approved, %s was"):format(
        part:gsub("_", " "), tostring(asked.place[part]), grant[part])
    end
  end
  if asked.count + grant.running > grant.count then
    return ("%d nodes are more than the %d approved, of which %d run"):format(
      asked.count, grant.count, grant.running)
  end
  if asked.hours > grant.hours then
    return ("%g h are more than the %g h approved"):format(asked.hours, grant.hours)
  end
  if grant.left <= 0 then return "all its instance hours are used; ask again" end
  return nil
end

-- Returns why a job is refused (nil: it is not), what to log, and its grant.
local function judge(config, job, record)
  local asked = shape(config, job, record)
  if not asked then return nil end
  local place = asked.place
  local is_over = not asked.total or asked.total > place.free_node_hours
  if not is_over and not asked.grant then return nil end
  if not asked.minutes then return "say how long it runs with --time: approval depends on it" end
  local grants, why = live_grants(config)
  if not grants then
    local said = why .. ", and when_down is " .. config.when_down
    if config.when_down == "open" then return nil, said .. ": submitted unchecked" end
    if config.when_down == "over-limit" and not is_over then
      return nil, said .. ": under the limit, submitted unchecked"
    end
    return said
  end
  if not asked.grant then
    return ("%g node hours are more than the %g that need no approval. Ask with: gpucost"
      .. " approval request --job %s --instance-type %s --count %d --hours %g --purchase %s"
      .. " --region %s; then submit with --comment gpucost=ID"):format(
      asked.total, place.free_node_hours, asked.job or asked.name, place.instance_type,
      asked.count, asked.hours, place.purchase, place.region)
  end
  local grant = grants[asked.grant]
  if not grant then return asked.grant .. " has no live grant (a new one takes up to a minute)" end
  local no = refusal(grant, asked)
  if no then return ("%s does not cover this: %s"):format(asked.grant, no) end
  return nil, asked.grant .. " covers it", asked.grant
end

-- --------------------------------------------------------------------------- Slurm

local config

local function settings()
  if not config then
    config = dofile(CONFIG)
    config.max_age_s = config.max_age_s or 300
    config.when_down = config.when_down or "over-limit"
  end
  return config
end

-- A broken gate must not stop a cluster by surprise: it does what when_down says.
local function guarded(job, record)
  local is_read, found = pcall(settings)
  if not is_read then
    return "gpucost's settings cannot be read", tostring(found)
  end
  local done, why, said, grant = pcall(judge, found, job, record)
  if done then return why, said, grant end
  if found.when_down == "open" then return nil, "failed, submitted unchecked: " .. why end
  return "it failed, and when_down is " .. found.when_down, why
end

function slurm_job_submit(job_desc, part_list, submit_uid)
  local why, said, grant = guarded(job_desc, nil)
  if said then slurm.log_info("gpucost: %s", said) end
  if why then
    slurm.log_user("gpucost: " .. why)
    return slurm.ERROR
  end
  if grant then job_desc.admin_comment = "gpucost-grant-id=" .. grant end
  return slurm.SUCCESS
end

function slurm_job_modify(job_desc, job_rec, part_list, modify_uid)
  local grows = known(job_desc.time_limit) or known(job_desc.min_nodes)
    or known(job_desc.max_nodes) or job_desc.partition or job_desc.comment
  if not grows then return slurm.SUCCESS end
  local why, said = guarded(job_desc, job_rec)
  if said then slurm.log_info("gpucost: %s", said) end
  if why then
    slurm.log_user("gpucost: " .. why)
    return slurm.ERROR
  end
  return slurm.SUCCESS
end

-- For tests: what is pure, and the clock.
gpucost_internals = {
  hmac = hmac, array_size = array_size,
  set_clock = function(now) clock = function() return now end end,
}

settings()  -- Settings that cannot be read keep slurmctld from loading this at all.
slurm.log_info("gpucost: job_submit is loaded")
return slurm.SUCCESS
