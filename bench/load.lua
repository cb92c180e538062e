-- The requests of bench/load.py for wrk: METHOD PATH BODIES MARK CONVERSATIONS FIRST.
-- Bodies are lines of a file, cut where the mark stands; a number comes in its place.

local method, path, pieces, conversations, number

local function cut(text, mark)
  local parts, from = {}, 1
  while true do
    local first, last = text:find(mark, from, true)
    if not first then break end
    parts[#parts + 1] = text:sub(from, first - 1)
    from = last + 1
  end
  parts[#parts + 1] = text:sub(from)
  return parts
end

function init(args)
  local mark = args[4]
  method, path, conversations, number = args[1], cut(args[2], mark), tonumber(args[5]), tonumber(args[6])
  pieces = {}
  for line in io.lines(args[3]) do
    pieces[#pieces + 1] = cut(line, mark)
  end
  wrk.headers["Content-Type"] = "application/json"
end

function request()
  number = number + 1
  local where = table.concat(path, tostring(number % conversations))
  local body = nil
  if #pieces > 0 then
    body = table.concat(pieces[number % #pieces + 1], tostring(number))
  end
  return wrk.format(method, where, nil, body)
end

function done(summary, latency, requests)
  local errors = summary.errors
  print(string.format(
    '\n{"requests": %d, "seconds": %.6f, "failed": %d, "median_ms": %.4f, "p99_ms": %.4f}',
    summary.requests, summary.duration / 1e6,
    errors.connect + errors.read + errors.write + errors.status + errors.timeout,
    latency:percentile(50) / 1e3, latency:percentile(99) / 1e3))
end
