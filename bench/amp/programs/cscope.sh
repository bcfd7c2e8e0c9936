#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Queries over one big symbol index of a kernel's source, without an inverted
# index: each reads all of it. What matches is read as well.
#
# hipec: packages cscope coreutils findutils linux-source-6.12
# hipec: claim loops over a file that is larger than the cache

set -eu
export LC_ALL=C

data=$PWD

prepare()	# the index is made, not traced
{
	cd "$SOURCE"
	find kernel mm fs block ipc init lib security include/linux include/net \
		include/uapi include/trace -name '*.[ch]' | sort >"$data/cscope.files"
	cscope -b -k -u -i "$data/cscope.files" -f "$data/cscope.out" \
		2>"$data/cscope.log"
}

# Kinds are cscope's: 0 the symbol, 1 its definition, 3 who calls it.
query()	# KIND NAME
{
	cscope -d -k -L "-$1" "$2" -f "$data/cscope.out" | cut -d ' ' -f 1 |
		sort -u | xargs -r cat >/dev/null
}

run()
{
	cd "$SOURCE"
	query 1 filemap_add_folio
	query 3 filemap_add_folio
	query 0 page_cache_ra_unbounded
	query 3 folio_mark_accessed
	query 1 vfs_read
	query 3 vfs_read
	query 0 shrink_folio_list
	query 3 mark_page_accessed
}

"$1"
