// SPDX-License-Identifier: GPL-2.0-only
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include "hipec.h"

static int failed(const char *what, int error)
{
	fprintf(stderr, "%s: %s\n", what, strerror(-error));
	return 1;
}

int main(int argc, char **argv)
{
	size_t length = 500 * 4096;
	char log[512] = "";
	int hipec = hipec_open(), file, region, ret;
	char *data;

	if (hipec < 0)
		return failed(HIPEC_DEVICE, hipec);
	ret = hipec_load_file(hipec, "search.hpo", 250, 0, log, sizeof(log));
	if (ret)
		return failed(log, ret);
	file = open(argc > 1 ? argv[1] : "documents", O_RDONLY);
	region = hipec_attach(hipec, file, 0, length, false, NULL);
	if (region < 0)
		return failed("attach", region);
	data = mmap(NULL, length, PROT_READ, MAP_SHARED, region, 0);
	if (data == MAP_FAILED)
		return 1;
	return data[4096 * 17] == 0;	/* use it like the file */
}
