// SPDX-License-Identifier: GPL-2.0-only
/*
 * Contestant: the policies of policies.lua on Lua 5.4.
 *
 * An event is one lua_call(), the cheapest way in: not protected, and without
 * the count hook that would bound what a policy runs.
 */
#include <lua5.4/lauxlib.h>
#include <lua5.4/lua.h>
#include <lua5.4/lualib.h>

#include "contestant.h"
#include "host.h"

/* What policies.lua returns, where it is on the stack. */
enum { PAGE_FAULT = 1, REPLACE, TOUCH, BRING, TAKE, NR_FUNCTIONS = TAKE };

static void *lua_open(const struct bench_setup *setup)
{
	lua_State *L = luaL_newstate();

	if (!L)
		bench_die("out of memory");
	luaL_openlibs(L);
	if (luaL_loadfile(L, setup->lua_file))
		bench_die("%s", lua_tostring(L, -1));
	lua_pushinteger(L, setup->frames);
	lua_pushinteger(L, setup->universe);
	if (lua_pcall(L, 2, 1, 0))
		bench_die("%s", lua_tostring(L, -1));
	lua_pushstring(L, setup->policy);
	if (lua_pcall(L, 1, NR_FUNCTIONS, 0))
		bench_die("%s", lua_tostring(L, -1));
	if (lua_isfunction(L, PAGE_FAULT))
		return L;
	lua_close(L);
	return NULL;
}

static void lua_end(void *c)
{
	lua_close(c);
}

static void push_access(lua_State *L, int function, u32 pgno, bool write)
{
	lua_pushvalue(L, function);
	lua_pushinteger(L, pgno);
	lua_pushboolean(L, write);
}

static bool lua_touch(void *c, u32 pgno, bool write)
{
	bool hit;

	push_access(c, TOUCH, pgno, write);
	lua_call(c, 2, 1);
	hit = lua_toboolean(c, -1);
	lua_pop(c, 1);
	return hit;
}

static void lua_bring(void *c, u32 pgno, bool write)
{
	push_access(c, BRING, pgno, write);
	lua_call(c, 2, 0);
}

static void lua_page_fault(void *c, const u32 *pgno, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++) {
		lua_pushvalue(c, PAGE_FAULT);
		lua_pushinteger(c, (lua_Integer)pgno[i] << BENCH_PAGE_SHIFT);
		lua_call(c, 1, 0);
	}
}

static void lua_replace_event(void *c, const u32 *pgno, u32 n)
{
	(void)pgno;
	while (n--) {
		lua_pushvalue(c, REPLACE);
		lua_call(c, 0, 0);
	}
}

static u32 lua_take(void *c, u32 *pgno)
{
	u32 n, i;

	lua_pushvalue(c, TAKE);
	lua_call(c, 0, 2);
	n = lua_tointeger(c, -1);
	lua_pop(c, 1);
	for (i = 0; i < n; i++) {
		lua_rawgeti(c, -1, i + 1);
		pgno[i] = lua_tointeger(c, -1);
		lua_pop(c, 1);
	}
	lua_pop(c, 1);
	return n;
}

const struct contestant bench_lua = {
	.name = "Lua",
	.open = lua_open,
	.close = lua_end,
	.touch = lua_touch,
	.bring = lua_bring,
	.page_fault = lua_page_fault,
	.replace = lua_replace_event,
	.take = lua_take,
};
