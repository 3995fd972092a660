"""Packages of the npm registry, for tests that talk to other people's libraries."""
import os
import shutil
import subprocess


def npm_packages(folder, packages, timeout):
    """Installs packages ("name@version") into the folder; returns their folder, or None without npm or a registry."""
    modules = os.path.join(folder, "node_modules")
    names = [package[: package.rindex("@")] for package in packages]
    if all(os.path.isdir(os.path.join(modules, name)) for name in names):
        return modules
    if not shutil.which("npm") or not shutil.which("node"):
        return None
    os.makedirs(folder, exist_ok=True)
    command = ["npm", "install", "--no-audit", "--no-fund", "--prefix", folder, *packages]
    try:
        subprocess.run(command, capture_output=True, timeout=timeout, check=True)
    except subprocess.SubprocessError:
        return None
    return modules
