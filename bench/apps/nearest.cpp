// SPDX-License-Identifier: GPL-2.0-only
/*
 * Asks usearch, a library of others, for nearest neighbours. Vectors are near one of 1,000
 * centres; each query is near one of these, too.
 *
 *   nearest build FILE VECTORS
 *   nearest ask FILE QUERIES     maps FILE, and prints the keys of ten neighbours a query
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

#include <usearch/index_dense.hpp>

using namespace unum::usearch;

namespace {

constexpr std::size_t DIMENSIONS = 256, CENTRES = 1000, NEIGHBOURS = 10;

/* The standard distributions are not used: C++ libraries draw different numbers. */
class points {
	std::minstd_rand rng;
	std::vector<float> centre;

	float number()
	{
		return rng() / float(rng.max());
	}

public:
	explicit points(unsigned seed) : rng(1997), centre(CENTRES * DIMENSIONS)
	{
		for (float &x : centre)
			x = number();
		rng.seed(seed);
	}

	void draw(std::vector<float> &v)
	{
		const float *c = &centre[rng() % CENTRES * DIMENSIONS];

		for (std::size_t i = 0; i < DIMENSIONS; i++)
			v[i] = c[i] + number() / 2;
	}
};

[[noreturn]] void die(const char *what, const char *why)
{
	std::fprintf(stderr, "nearest: %s: %s\n", what, why);
	std::exit(1);
}

void build(index_dense_t &index, const char *path, std::size_t nr)
{
	std::vector<float> v(DIMENSIONS);
	points from(1);

	if (!index.try_reserve(index_limits_t(nr, 1)))
		die(path, "no memory");
	for (std::size_t key = 0; key < nr; key++) {
		from.draw(v);
		if (auto added = index.add(key, v.data()); !added)
			die(path, added.error.release());
	}
	if (auto saved = index.save(path); !saved)
		die(path, saved.error.release());
}

void ask(index_dense_t &index, const char *path, std::size_t nr)
{
	std::vector<float> v(DIMENSIONS);
	points from(2);

	if (auto mapped = index.view(path); !mapped)
		die(path, mapped.error.release());
	while (nr--) {
		from.draw(v);
		auto found = index.search(v.data(), NEIGHBOURS);
		if (!found)
			die(path, found.error.release());
		for (std::size_t i = 0; i < found.size(); i++)
			std::printf("%llu ", (unsigned long long)found[i].member.key);
		std::printf("\n");
	}
}

} // namespace

int main(int argc, char **argv)
{
	if (argc != 4)
		die("usage", "nearest build|ask FILE NUMBER");
	metric_punned_t metric(DIMENSIONS, metric_kind_t::l2sq_k, scalar_kind_t::f32_k);
	index_dense_t index = index_dense_t::make(metric);
	std::size_t nr = std::strtoul(argv[3], nullptr, 10);

	(std::strcmp(argv[1], "build") ? ask : build)(index, argv[2], nr);
	return std::ferror(stdout);
}
