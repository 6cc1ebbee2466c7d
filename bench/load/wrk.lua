-- Sends what a template of requests.mjs describes, filled as it is filled there; wrk.mjs names its file and reads what is printed.

local template, thread
local at = -1
outcomes = {} -- by status; global, for setup's state to get

function setup(the_thread)
  thread = the_thread
end

-- With a function of this name wrk makes tables of each answer's headers, a sixth of its CPU; without, it counts statuses above 399.
local function count(status)
  outcomes[status] = (outcomes[status] or 0) + 1
end

function init(args)
  template = dofile(args[1])
  if template.everyStatus then response = count end
end

local function next_number()
  at = (at + 1) % template.numbers
  return at
end

local parts = {}

local function filled(pieces, number)
  for index = 1, #pieces do
    local piece = pieces[index]
    if type(piece) == 'table' then
      piece = piece.of and piece.of[number % #piece.of + 1] or number % piece.below
    end
    parts[index] = piece
  end
  return table.concat(parts, '', 1, #pieces)
end

local items = {}

function request()
  local body = template.body
  if not body then return filled(template.head, next_number()) end
  for index = 1, body.times do items[index] = filled(body.item, next_number()) end
  local text = body.open .. table.concat(items, ',') .. body.close
  return filled(template.head, at) .. #text .. '\r\n\r\n' .. text
end

-- Two lines: the figures at once, then the histogram, which takes longer than what is measured may wait for.
function done(summary, latency)
  local outcomes, found = thread:get('outcomes'), {}
  for _, trouble in ipairs({ 'connect', 'read', 'write', 'status', 'timeout' }) do outcomes[trouble] = summary.errors[trouble] end
  for what, count in pairs(outcomes) do found[#found + 1] = string.format('"%s":%d', what, count) end
  local figures = '{"answers":%d,"durationUs":%d,"cpuMs":%.3f,"outcomes":{%s}}\n'
  local cpu_ms = os.clock() * 1000
  io.write(figures:format(summary.requests, summary.duration, cpu_ms, table.concat(found, ',')))
  io.flush()
  local samples = {}
  for index = 1, #latency do samples[index] = string.format('[%d,%d]', latency(index)) end
  io.write('[', table.concat(samples, ','), ']\n')
end
