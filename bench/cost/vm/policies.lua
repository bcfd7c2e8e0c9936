-- SPDX-License-Identifier: GPL-2.0-only
-- The policies of policies/ in Lua, over tables of its own: no policy calls C.
--
-- Called with the number of frames and of page numbers; returns the policies by
-- name. Pages are handles from 1, as in the VM, and each field of a page is an
-- array: as fast as a table for each page (within 3 %), and without keys that
-- are strings, whose hashes would differ from run to run. A page that is on no
-- queue has queue 0.

local frames, universe = ...

local succ, pred, queue, number, ref, mod = {}, {}, {}, {}, {}, {}
local find = {}			-- page number -> handle, 0: not there
local unused = {}		-- handles
local nr_unused = frames
local head, tail, count = {}, {}, {}
local given, nr_given = {}, 0	-- page numbers, in the order they were given up

for h = 1, frames do
	succ[h], pred[h], queue[h], number[h] = 0, 0, 0, 0
	ref[h], mod[h] = false, false
	unused[h] = frames + 1 - h
	given[h] = 0
end
for pgno = 0, universe - 1 do
	find[pgno] = 0
end

local function new_queue()
	local q = #head + 1
	head[q], tail[q], count[q] = 0, 0, 0
	return q
end

local function unlink(h)
	local q = queue[h]
	if q == 0 then
		return
	end
	local n, p = succ[h], pred[h]
	if p ~= 0 then succ[p] = n else head[q] = n end
	if n ~= 0 then pred[n] = p else tail[q] = p end
	count[q] = count[q] - 1
	queue[h] = 0
end

local function append(q, h)
	unlink(h)
	local t = tail[q]
	queue[h], pred[h], succ[h] = q, t, 0
	if t ~= 0 then succ[t] = h else head[q] = h end
	tail[q] = h
	count[q] = count[q] + 1
end

local function give_up(h)
	unlink(h)
	nr_given = nr_given + 1
	given[nr_given] = number[h]
	find[number[h]] = 0
	nr_unused = nr_unused + 1
	unused[nr_unused] = h
end

-- What the driver does beside events.

local function touch(pgno, write)
	local h = find[pgno]
	if h == 0 then
		return false
	end
	ref[h] = true
	if write then
		mod[h] = true
	end
	return true
end

local function bring(pgno, write)
	local h = unused[nr_unused]
	nr_unused = nr_unused - 1
	find[pgno], number[h], queue[h] = h, pgno, 0
	ref[h], mod[h] = true, write
end

local function take()
	local n = nr_given
	nr_given = 0
	return given, n
end

-- fifo and mru keep all pages on one queue, in the order of their faults.

local function queue_policy(replace)
	local q = new_queue()
	return {
		page_fault = function(address)
			local h = find[address >> 12]
			if h ~= 0 then
				append(q, h)
			end
		end,
		replace = replace(q),
	}
end

local function fifo()
	return queue_policy(function(q)
		return function()
			local h = head[q]
			if h ~= 0 then
				give_up(h)
			end
		end
	end)
end

local function mru()
	return queue_policy(function(q)
		return function()
			local h = tail[q]
			if h ~= 0 then
				give_up(h)
			end
		end
	end)
end

local function fifo2()
	local active, inactive = new_queue(), new_queue()

	-- Fill the inactive queue up to two thirds of the pages.
	local function balance()
		local target = (count[active] + count[inactive]) * 2 // 3
		while count[inactive] < target do
			local h = head[active]
			ref[h] = false
			append(inactive, h)
		end
	end

	return {
		page_fault = function(address)
			local h = find[address >> 12]
			if h ~= 0 then
				append(active, h)
			end
		end,
		replace = function()
			while true do
				balance()
				local h = head[inactive]
				if h == 0 then
					return
				end
				if not ref[h] then
					mod[h] = false
					give_up(h)
					break
				end
				append(active, h)
			end
			balance()
		end,
	}
end

local function empty()
	return { page_fault = function() end, replace = function() end }
end

local make = { empty = empty, fifo = fifo, fifo2 = fifo2, mru = mru }

return function(name)
	local policy = make[name] and make[name]()
	if not policy then
		return nil
	end
	return policy.page_fault, policy.replace, touch, bring, take
end
