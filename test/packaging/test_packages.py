# SPDX-License-Identifier: GPL-2.0-only
"""make deb; its packages in a clean root of this Debian: DKMS builds the module for the stock
kernels, the commands and the libraries work, and removing all of it leaves nothing behind.

The root is made by mmdebstrap once, and kept in the cache."""

import hashlib
import os
import re
import shutil
import subprocess
import sys

import pytest

from conftest import KERNELS, PACKAGES, ROOT, vm

sys.path.insert(0, str(ROOT / "packaging"))

import parameters  # noqa: E402  (packaging/parameters.py)

pytestmark = pytest.mark.night
# What they depend on, and what the headers of a kernel do: pahole and libelf1; what it
# boots with, and what is run in it by test_packages_guest.py.
WANTED = ("dkms,kmod,passwd,pahole,libelf1,python3,openssl,libblkid1,libedit2,libjson-c5,libzstd1,"
          "libc6-dev,systemd-sysv,udev,sqlite3")
# What dpkg, the loader and DKMS write for themselves; the last, its key.
OWN = r"/var/(log|cache|lib/dpkg)/.*|/var/lib/dkms/mok\.(key|pub)|/etc/(passwd|group|g?shadow|subuid|subgid)-"


def clean_root():
    """A minimal Debian with what the packages depend on, as a tar file."""
    name = subprocess.run(["sh", "-c", ". /etc/os-release; echo $VERSION_CODENAME"],
                          capture_output=True, text=True, check=True).stdout.strip()
    key = hashlib.sha256(WANTED.encode()).hexdigest()[:12]
    path = vm.cache_dir() / f"root-{name}-{key}.tar"
    if not path.exists():
        sources = [source for source in ("/etc/apt/sources.list.d/debian.sources",
                                         "/etc/apt/sources.list") if os.path.exists(source)]
        made = subprocess.run(["mmdebstrap", "--variant=minbase", f"--include={WANTED}",
                               "--dpkgopt=force-unsafe-io", name, f"{path}.new.tar",
                               *sources[:1]], check=False, text=True,
                              capture_output=True)
        if made.returncode:
            pytest.skip(f"mmdebstrap: {made.stderr.strip().splitlines()[-1]}")
        os.rename(f"{path}.new.tar", path)
    return path


class Root:
    """A Debian below a folder."""

    def __init__(self, where, kernels):
        self.where = where
        subprocess.run(["tar", "-xf", clean_root(), "-C", where], check=True)
        self.releases = [self.add_headers(kernel) for kernel in kernels
                         if (vm.cache_dir() / "kernels" / kernel / "release").exists()]

    def add_headers(self, kernel):
        """Of a stock kernel, as its packages have them. Return: its release."""
        cache = vm.cache_dir() / "kernels" / kernel
        release = (cache / "release").read_text().strip()
        modules = self.where / "usr/lib/modules" / release
        subprocess.run(["cp", "-aT", cache / "root/usr", self.where / "usr"], check=True)
        modules.mkdir(parents=True)
        for path in (cache / "modules").resolve().glob("modules.*"):
            shutil.copy(path, modules)
        (modules / "build").symlink_to(f"/usr/src/linux-headers-{release}")
        return release

    def run(self, command):
        """Run a shell command there, with processes of its own; it must not fail."""
        got = subprocess.run(
            ["unshare", "--mount", "--pid", "--fork", f"--mount-proc={self.where}/proc",
             "chroot", self.where, "/bin/sh", "-ec", command], text=True, check=False,
            capture_output=True, env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C",
                                      "DEBIAN_FRONTEND": "noninteractive"})
        assert not got.returncode, got.stdout + got.stderr
        return got.stdout

    def files(self):
        """All that there is, folders too, but for the kernels' listings and OWN."""
        found = self.run("find / -xdev -path /proc -prune -o -print").splitlines()
        return {path for path in found if not re.fullmatch(OWN, path) and
                not re.match(r"/usr/lib/modules/[^/]+/modules\.", path)}


@pytest.fixture(scope="module")
def root(debs, tmp_path_factory):
    """With the packages installed; before is what there was."""
    where = Root(tmp_path_factory.mktemp("root"), KERNELS)
    where.before = where.files()
    where.group = where.run("cat /etc/group")
    for path in debs.values():
        shutil.copy(path, where.where / "tmp")
    where.run("dpkg --force-unsafe-io -i /tmp/*.deb; rm /tmp/*.deb")
    yield where
    shutil.rmtree(where.where)


def test_commands_compiler_and_policies(root):
    version = root.run("hipec --version").split()[1]
    assert root.run("dpkg-query -W -f '${Version}' hipec-tools") == version
    root.run("cd /tmp; ampc -o x.hpo /usr/share/hipec/policies/mru.hp; "
             "cmp x.hpo /usr/share/hipec/policies/mru.hpo; rm x.hpo")
    assert "mru" in root.run("printf 'r 1 3\\nr 1 3\\n' | hipec sim -p mru -f 2 -")
    assert "mru" in root.run("printf 'r 1 3\\nr 1 3\\n' | hipec profile -p mru --text -")
    assert root.run("hipec run --quiet --policy mru --budget 1M -- echo done") == "done\n"


def test_python(root):
    """Without the module: there is none for the kernel that this root runs on."""
    assert root.run("python3 -c 'import hipec; print(hipec.available())'") == "False\n"


def test_programs_of_others_compile(root):
    shutil.copy(ROOT / "test/packaging/install/absent.c", root.where / "tmp")
    root.run("cd /tmp; gcc -o absent absent.c -lhipec; ./absent | grep -q 'all is refused'; "
             "rm absent absent.c")


@pytest.mark.parametrize("kernel", KERNELS)
def test_dkms_builds_the_module(root, kernel):
    """For each stock kernel whose headers are installed, when the package comes."""
    release = next((name for name in root.releases if name.startswith(f"{kernel}.")), None)
    if not release:
        pytest.skip(f"this Debian has no kernel {kernel}")
    version = root.run("hipec --version").split()[1]
    assert f"hipec/{version}, {release}, x86_64: installed" in root.run("dkms status")
    assert root.run(f"modinfo -k {release} -F vermagic hipec").split()[0] == release
    assert root.run(f"modinfo -k {release} -F license hipec") == "GPL\n"


def test_dkms_signs_the_module_with_the_key_of_the_machine(root):
    """Which the firmware is told of with mokutil, as docs/user/install.md has it: the serial number
    of the signer's certificate is that of mok.pub."""
    serial = root.run("openssl x509 -inform der -in /var/lib/dkms/mok.pub -noout -serial")
    for release in root.releases:
        found = root.run(f"modinfo -k {release} -F sig_key hipec").replace(":", "").strip()
        assert found and f"serial={found}\n" == serial
        assert root.run(f"modinfo -k {release} -F sig_hashalgo hipec").strip()


def test_parameters_are_those_of_the_module(root):
    """As modinfo has them, which docs/user/install.md and hipec(4) repeat."""
    lines = root.run(f"modinfo -k {root.releases[0]} -F parm hipec").splitlines()
    found = dict(re.sub(r" \(\w+\)$", "", line).split(":", 1) for line in lines)
    listed = {name: text for name, _, text in parameters.parameters()}
    assert found == listed


def test_dkms_leaves_kernels_that_nobody_tested(root):
    """It says so and does not fail, so that their installation does not either."""
    got = root.run("sed -n 's/^BUILD_EXCLUSIVE_KERNEL=//p' /usr/src/hipec-*/dkms.conf").strip('"\n')
    assert all(re.match(got, release) for release in root.releases)
    assert not re.match(got, "6.18.0-1-amd64") and not re.match(got, "6.11.0-1-amd64")


@pytest.mark.parametrize("series", ["6.12", "6.1"])
def test_the_module_is_built_for_the_oldest_kernel(series):
    """Of those in the archive, whose headers have fewer functions for modules; all that dkms.conf
    and hipec doctor let pass."""
    key = f"{series}-oldest"
    subprocess.run(["make", "-s", "-C", ROOT, f"build/kmod-{key}/stamp"], check=True)
    release = (ROOT / f"build/kernel-{key}.stamp").read_text().strip()
    if not release:
        pytest.skip(f"the archive has no headers of a kernel {series}")
    assert (ROOT / f"build/kmod-{key}/hipec.ko").exists()
    conf = (ROOT / "packaging/dkms.conf.in").read_text()
    assert re.search(re.search(r'^BUILD_EXCLUSIVE_KERNEL="(.*)"$', conf, re.M)[1], release)


def test_dkms_leaves_real_time_kernels(root):
    """Of a series that is tested: those of a stock kernel, configured so."""
    release, version = root.releases[0], root.run("hipec --version").split()[1]
    said = root.run(f"""
        mkdir /usr/lib/modules/{release}-rt
        cp -a /usr/src/linux-headers-{release} /usr/src/rt
        ln -s /usr/src/rt /usr/lib/modules/{release}-rt/build
        echo CONFIG_PREEMPT_RT=y >>/usr/src/rt/.config
        dkms install -k {release}-rt hipec/{version} 2>&1 && echo built || :
        rm -r /usr/src/rt /usr/lib/modules/{release}-rt""")
    assert "BUILD_EXCLUSIVE directive which does not match this kernel" in said
    assert f"{release}-rt" not in root.run("dkms status") and "built" not in said.split("\n")


def test_the_device_is_the_group_s(root):
    rule = root.run("cat /usr/lib/udev/rules.d/60-hipec.rules").splitlines()[-1]
    assert 'KERNEL=="hipec"' in rule and 'GROUP="hipec", MODE="0660"' in rule
    assert root.run("getent group hipec").startswith("hipec:")
    assert "hipec" in root.run("useradd somebody; adduser somebody hipec >/dev/null; "
                               "id -nG somebody; userdel somebody; rm /run/adduser").split()
    assert "hipec" in root.run("cat /usr/lib/modules-load.d/hipec.conf").splitlines()


def test_removal_leaves_nothing_behind(root):
    """Of what came with the packages, and what was built by them since."""
    during = root.files()
    assert len(during - root.before) > 100
    root.run(f"dpkg --purge {' '.join(PACKAGES)}")
    assert root.files() == root.before
    assert root.run("cat /etc/group") == root.group


def test_dkms_builds_what_make_install_installed(root):
    """Without packages: docs/user/install.md's other way."""
    subprocess.run(["make", "-s", "-C", ROOT, "install", f"DESTDIR={root.where}"], check=True,
                   capture_output=True)
    version = root.run("/usr/local/bin/hipec --version").split()[1]
    release = root.releases[0]
    root.run(f"dkms install -k {release} /usr/local/src/hipec-{version}")
    assert f"hipec/{version}, {release}, x86_64: installed" in root.run("dkms status")
    assert root.run(f"modinfo -k {release} -F signer hipec").strip() == "DKMS module signing key"
    root.run(f"dkms remove hipec/{version} --all")
    assert "hipec" not in root.run("dkms status")
