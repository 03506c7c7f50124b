"""Builds the wheel and the source archive of the package (PEP 517) with nothing but the standard library.

The package is pure Python, so a wheel is an archive of its files, a description of them and their checksums.
"""
import base64
import gzip
import hashlib
import io
import tarfile
import zipfile
from pathlib import Path

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.9 and 3.10
    tomllib = None

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src"
EPOCH = (1980, 1, 1, 0, 0, 0)  # every build of the same files has the same bytes
TAG = "py3-none-any"


def _project():
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    if tomllib is not None:
        return tomllib.loads(text)["project"]
    project = {}
    for line in text.split("[project]", 1)[1].splitlines():
        name, equals, value = line.partition(" = ")
        if line.startswith("["):
            break
        if equals and value.startswith('"'):
            project[name] = value.strip('"')
    project.setdefault("classifiers", [])
    return project


def _metadata(project):
    lines = [
        "Metadata-Version: 2.1",
        f"Name: {project['name']}",
        f"Version: {project['version']}",
        f"Summary: {project['description']}",
        "License: Apache-2.0",
        f"Requires-Python: {project['requires-python']}",
    ]
    lines += [f"Classifier: {classifier}" for classifier in project["classifiers"]]
    lines += ["Description-Content-Type: text/markdown", "", (ROOT / "README.md").read_text(encoding="utf-8")]
    return "\n".join(lines).encode()


def _package_files():
    return sorted(path for path in (SOURCE / "isoproof").rglob("*") if path.suffix in (".py", ".typed"))


def _record_line(name, data):
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(data)}"


def _write_wheel(path, files, project):
    folder = f"{project['name']}-{project['version']}.dist-info"
    wheel = f"Wheel-Version: 1.0\nGenerator: isoproof\nRoot-Is-Purelib: true\nTag: {TAG}\n"
    files = [*files, (f"{folder}/METADATA", _metadata(project)), (f"{folder}/WHEEL", wheel.encode())]
    record = [_record_line(name, data) for name, data in files] + [f"{folder}/RECORD,,"]
    files.append((f"{folder}/RECORD", ("\n".join(record) + "\n").encode()))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files:
            entry = zipfile.ZipInfo(name, EPOCH)
            entry.external_attr = 0o644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    project = _project()
    files = [(str(path.relative_to(SOURCE)), path.read_bytes()) for path in _package_files()]
    name = f"{project['name']}-{project['version']}-{TAG}.whl"
    _write_wheel(Path(wheel_directory) / name, files, project)
    return name


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    """A wheel that points here, for those who work on the package."""
    project = _project()
    name = f"{project['name']}-{project['version']}-{TAG}.whl"
    _write_wheel(Path(wheel_directory) / name, [("isoproof_editable.pth", f"{SOURCE}\n".encode())], project)
    return name


def build_sdist(sdist_directory, config_settings=None):
    project = _project()
    base = f"{project['name']}-{project['version']}"
    paths = [ROOT / "pyproject.toml", ROOT / "README.md", Path(__file__).resolve(), *_package_files()]
    files = [(str(path.relative_to(ROOT)), path.read_bytes()) for path in paths] + [("PKG-INFO", _metadata(project))]
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, data in files:
            entry = tarfile.TarInfo(f"{base}/{name}")
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    (Path(sdist_directory) / f"{base}.tar.gz").write_bytes(gzip.compress(packed.getvalue(), mtime=0))
    return f"{base}.tar.gz"
