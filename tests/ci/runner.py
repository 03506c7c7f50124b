"""Runs what build servers would run, here: steps of a composite action and of workflows of GitHub, jobs of GitLab.

Nothing is stubbed but the actions of others (FOREIGN), whose inputs are checked instead: what is uploaded has to be there.
Expressions are those that our files have; whatever else fails, rather than mean something else than on the server.
"""
import json
import os
import re
import subprocess
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")
# Actions of others: the inputs that we give, which of them are needed, and which name a file.
FOREIGN = {
    "actions/checkout@v4": {"inputs": set(), "needed": set(), "files": set()},
    "actions/upload-artifact@v4": {"inputs": {"name", "path", "if-no-files-found"}, "needed": {"path"}, "files": {"path"}},
    "github/codeql-action/upload-sarif@v3": {"inputs": {"sarif_file", "category"}, "needed": {"sarif_file"}, "files": {"sarif_file"}},
}


class Broken(Exception):
    """A file that the server would refuse, or not understand as it is meant."""


def load(path):
    """A YAML file; the key `on`, which YAML 1.1 takes for a truth value, is put right."""
    data = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    if isinstance(data, dict) and True in data:
        data["on"] = data.pop(True)
    return data


def value_of(term, context):
    """A string, or a name such as steps.run.outputs.verdict."""
    term = term.strip()
    if term == "always()":
        return True
    if re.fullmatch(r"'[^']*'", term):
        return term[1:-1]
    if not re.fullmatch(r"[a-z]+(\.[A-Za-z_-]+)+", term):
        raise Broken(f"an expression that this runner does not know: {term}")
    found = context
    for name in term.split("."):
        if not isinstance(found, dict) or name not in found:
            raise Broken(f"{term}: there is no {name}")
        found = found[name]
    return found


def evaluate(expression, context):
    """Comparisons, joined by &&."""
    result = True
    for part in expression.split("&&"):
        sides = re.split(r"\s*(==|!=)\s*", part)
        if len(sides) == 3:
            result = (value_of(sides[0], context) == value_of(sides[2], context)) == (sides[1] == "==")
        else:
            result = value_of(part, context)
        if not result:
            break
    return result


def filled(text, context):
    """A text with its expressions replaced."""
    return EXPRESSION.sub(lambda found: str(evaluate(found.group(1), context)), str(text))


class Steps:
    """A job, or a run of a composite action, in a workspace."""

    def __init__(self, workspace, temporary, environment, context):
        self.workspace, self.temporary = Path(workspace), Path(temporary)
        self.environment, self.context = dict(environment), context
        self.context.setdefault("steps", {})
        self.failed, self.code, self.uploads, self.said = False, 0, [], ""

    def runs(self, step):
        """Whether its condition holds; without always() a step that failed ends those that follow."""
        condition = str(step.get("if", ""))
        condition = EXPRESSION.sub(lambda found: found.group(1), condition)
        if self.failed and "always()" not in condition:
            return False
        return not condition or bool(evaluate(condition, self.context))

    def shell(self, step):
        place = Path(self.temporary)
        names = {"GITHUB_OUTPUT": place / "output", "GITHUB_PATH": place / "path", "GITHUB_STEP_SUMMARY": place / "summary"}
        names["GITHUB_OUTPUT"].write_text("")
        names["GITHUB_PATH"].touch()
        script = place / "step.sh"
        script.write_text(filled(step["run"], self.context), encoding="utf-8")
        given = {name: filled(text, self.context) for name, text in step.get("env", {}).items()}
        done = subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)], cwd=self.workspace, check=False,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=3000,
                              env={**self.environment, **given, **{n: str(p) for n, p in names.items()},
                                   "RUNNER_TEMP": str(place), "GITHUB_WORKSPACE": str(self.workspace), "GITHUB_ACTIONS": "true"})
        self.said += done.stdout.decode("utf-8", "backslashreplace")
        outputs = dict(line.split("=", 1) for line in names["GITHUB_OUTPUT"].read_text().splitlines())
        for folder in names["GITHUB_PATH"].read_text().splitlines():
            self.environment["PATH"] = folder + ":" + self.environment["PATH"]
        names["GITHUB_PATH"].write_text("")
        if done.returncode != 0:
            self.failed, self.code = True, done.returncode
        return outputs

    def foreign(self, name, given):
        known = FOREIGN[name]
        if not set(given) <= known["inputs"] or not known["needed"] <= set(given):
            raise Broken(f"{name} has no such inputs, or needs others: {sorted(given)}")
        values = {key: filled(text, self.context) for key, text in given.items()}
        for key in known["files"]:
            path = self.workspace / values[key]
            if not path.exists() or (path.is_dir() and not any(path.iterdir())):
                raise Broken(f"{name}: {values[key]} is not there")
            if path.suffix == ".sarif" and json.loads(path.read_text())["version"] != "2.1.0":
                raise Broken(f"{values[key]} is no SARIF 2.1.0")
        self.uploads.append((name, values))
        return {}

    def run(self, steps):
        """Runs all steps; `uses: ./` is the action of this repository."""
        for step in steps:
            if ("run" in step) == ("uses" in step):
                raise Broken(f"a step either runs or uses something: {step}")
            outputs = {}
            if self.runs(step):
                if "run" in step:
                    outputs = self.shell(step)
                elif step["uses"] == "./":
                    given = {key: filled(text, self.context) for key, text in step.get("with", {}).items()}
                    inner = action(self.workspace, self.temporary, self.environment, given)
                    self.environment["PATH"] = inner.environment["PATH"]
                    self.said, self.uploads = self.said + inner.said, self.uploads + inner.uploads
                    if inner.failed:
                        self.failed, self.code = True, inner.code
                    outputs = inner.outputs
                else:
                    outputs = self.foreign(step["uses"], step.get("with", {}))
            if "id" in step:
                # What a step did not say is empty.
                self.context["steps"][step["id"]] = {"outputs": Absent(outputs)}
        return self


class Absent(dict):
    """Outputs: those that were not written are empty."""

    def __contains__(self, name):
        return True

    def __missing__(self, name):
        return ""


def action(workspace, temporary, environment, given, path=ROOT / "action.yml"):
    """Runs the composite action with inputs; `outputs` of what it returns are those that it declares."""
    declared = load(path)
    unknown = set(given) - set(declared["inputs"])
    if unknown:
        raise Broken(f"{path.name} has no input {', '.join(sorted(unknown))}")
    inputs = {name: str(given.get(name, about["default"])) for name, about in declared["inputs"].items()}
    steps = declared["runs"]["steps"]
    if declared["runs"]["using"] != "composite" or any("run" in step and step.get("shell") != "bash" for step in steps):
        raise Broken("steps of a composite action name their shell")
    context = {"inputs": inputs, "github": {"action_path": str(path.parent)}}
    done = Steps(workspace, temporary, environment, context).run(steps)
    done.outputs = {name: filled(about["value"], done.context) for name, about in declared["outputs"].items()}
    return done


class Job:
    """A job of GitLab that extends a hidden one: its variables, scripts and artifacts."""

    def __init__(self, template, own):
        self.variables = {**template.get("variables", {}), **own.get("variables", {})}
        self.script = [*template.get("before_script", []), *own.get("before_script", []), *(own.get("script") or template["script"])]
        self.artifacts = own.get("artifacts", template["artifacts"])

    def run(self, workspace, environment, shell):
        """Runs the lines in one shell that ends at the first failure; returns the exit code and what was said."""
        lines = "set -eo pipefail\n" if shell == "bash" else "set -e\n"
        done = subprocess.run([shell, "-c", lines + "\n".join(self.script)], cwd=workspace, stdin=subprocess.DEVNULL, check=False,
                              env={**environment, **{k: str(v) for k, v in self.variables.items()}}, timeout=3000,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return done.returncode, done.stdout.decode("utf-8", "backslashreplace")

    def named(self, text):
        """A path of the artifacts with its variables."""
        return re.sub(r"\$(\w+)", lambda found: str(self.variables[found.group(1)]), text)


def environment(home, folder):
    """What a runner has, with the program of a folder on PATH."""
    return {"PATH": f"{folder}:{os.environ.get('PATH', '/usr/bin:/bin')}", "HOME": str(home), "TMPDIR": str(home), "LC_ALL": "C.UTF-8"}
