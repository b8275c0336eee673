"""Which paths are noise, by which rule, and which of them an import leaves out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.model import Noise
from graphmem.noise import included, left_out, noise_of, rule_of


def words(text: str) -> list[str]:
    return text.split()


LOCK_FILES = words(
    """
package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml bun.lock bun.lockb deno.lock
Cargo.lock poetry.lock uv.lock pdm.lock pixi.lock Pipfile.lock pylock.toml conda-lock.yml requirements.lock
go.sum go.work.sum Gopkg.lock glide.lock Gemfile.lock gems.locked composer.lock mix.lock rebar.lock
pubspec.lock Podfile.lock Package.resolved Cartfile.resolved packages.lock.json paket.lock gradle.lockfile
buildscript-gradle.lockfile flake.lock Chart.lock .terraform.lock.hcl stack.yaml.lock cabal.project.freeze
shard.lock renv.lock Manifest.toml conan.lock dub.selections.json MODULE.bazel.lock spago.lock
"""
)
VENDORED = words(
    """
vendor/github.com/x/y.go node_modules/a/index.js web/node_modules/a.js third_party/zlib/z.c lib/3rdparty/a.c
bower_components/d3/d3.js Godeps/_workspace/a.go Pods/AFNetworking/a.m .yarn/releases/yarn-4.cjs
.venv/lib/a.py lib/python3/site-packages/a.py src/pip/_vendor/a.py a/ThirdParty/b.cs .bundle/config
"""
)
MINIFIED = words(
    """
js/app.min.js css/app.min.css jquery-3.7.min.js build/app.bundle.js 2.chunk.js app.js.map app.min.js.map
site.css.map yui-min.js __pycache__/a.cpython-311.pyc a.pyc Main.class .DS_Store docs/.DS_Store
"""
)
GENERATED = words(
    """
dist/index.js api/v1/user.pb.go user_pb2.py user_pb2_grpc.py model.g.dart model.freezed.dart Form.Designer.cs
zz_generated.deepcopy.go client/generated/a.ts types.generated.ts parser_generated.go __generated__/q.ts
"""
)
OWN = words(
    """
src/app.py package.json Cargo.toml pyproject.toml go.mod vendor.py src/vendors.ts lock.go locker.rs clock.ts
docs/vendor.md src/minify.js src/bundle.js src/generated.py distance.py mapping.map.py

.github/workflows/ci.yml app/pods/list.go manifest.toml tests/fixtures/node_modules/a.js testdata/vendor/a.go
src/dist.py a.min.jsx
"""
)


@pytest.mark.parametrize("name", LOCK_FILES)
@pytest.mark.parametrize("folder", ["", "web/", "a/b c/"])
def test_lock_files_of_every_ecosystem_are_damped_and_kept(folder: str, name: str) -> None:
    assert noise_of(folder + name) is Noise.LOCK
    assert left_out(folder + name) is None


@pytest.mark.parametrize("path", VENDORED)
def test_vendored_code_is_left_out(path: str) -> None:
    assert noise_of(path) is Noise.VENDORED
    assert left_out(path) is Noise.VENDORED
    assert left_out(f"deep/er/{path}") is Noise.VENDORED


@pytest.mark.parametrize("path", MINIFIED)
def test_what_a_build_wrote_is_left_out(path: str) -> None:
    assert noise_of(path) is Noise.GENERATED
    assert left_out(path) is Noise.GENERATED


@pytest.mark.parametrize("path", GENERATED)
def test_generated_code_is_damped_and_kept(path: str) -> None:
    assert noise_of(path) is Noise.GENERATED
    assert left_out(path) is None


@pytest.mark.parametrize("path", OWN)
def test_what_somebody_writes_by_hand_is_no_noise(path: str) -> None:
    assert noise_of(path) is None


def test_a_rule_that_leaves_out_goes_before_one_that_damps() -> None:
    assert noise_of("node_modules/x/package-lock.json") is Noise.VENDORED
    assert noise_of("dist/app.min.js") is Noise.GENERATED
    assert left_out("dist/app.min.js") is Noise.GENERATED
    assert noise_of("dist/yarn.lock") is Noise.LOCK


def test_a_rule_has_a_label_people_understand() -> None:
    labels = {path: rule.label for path in ("a/vendor/b.go", "x.min.js", "go.sum") if (rule := rule_of(path))}
    assert labels == {"a/vendor/b.go": "vendor/", "x.min.js": "*.min.js", "go.sum": "lock files"}


@pytest.mark.parametrize(
    ("pattern", "fits", "fits_not"),
    [
        ("vendor", ["vendor/a.go", "x/vendor/a.go"], ["vendors/a.go", "a/vendor.go"]),
        ("vendor/", ["vendor/a.go", "x/vendor/b/a.go"], ["vendors/a.go"]),
        ("/vendor", ["vendor/a.go"], ["x/vendor/a.go"]),
        ("vendor/ours", ["vendor/ours/a.go", "vendor/ours"], ["x/vendor/ours/a.go", "vendor/oursx"]),
        ("vendor/**", ["vendor/a.go", "vendor/x/a.go"], ["x/vendor/a.go"]),
        ("**/vendor/**", ["vendor/a.go", "x/y/vendor/z/a.go"], ["vendor"]),
        ("vendor/*.go", ["vendor/a.go"], ["vendor/x/a.go"]),
        ("*.min.js", ["a.min.js", "x/a.min.js"], ["a.min.jsx"]),
        ("js/?.js", ["js/a.js"], ["js/ab.js", "js//.js"]),
        ("js/[ab].js", ["js/a.js"], ["js/c.js"]),
        ("js/[!ab].js", ["js/c.js"], ["js/a.js", "js//.js"]),
        ("./vendor/ours", ["vendor/ours/a"], ["x/vendor/ours/a"]),
        ("vendor\\ours", ["vendor/ours/a"], ["vendor/other"]),
        ("a+b(c)", ["a+b(c)/x"], ["aab(c)/x"]),
        ("模块/*", ["模块/a.py"], ["模/a.py"]),
        ("a\nb", ["a\nb/c"], ["ab"]),
    ],
)
def test_an_include_pattern_fits_like_a_gitignore_one(
    pattern: str, fits: list[str], fits_not: list[str]
) -> None:
    assert [path for path in fits if not included(path, (pattern,))] == []
    assert [path for path in fits_not if included(path, (pattern,))] == []


@pytest.mark.parametrize("pattern", ["", " ", "/", "./"])
def test_a_pattern_that_says_nothing_includes_nothing(pattern: str) -> None:
    assert left_out("vendor/a.go", [pattern]) is Noise.VENDORED


def test_an_include_pattern_overrules_leaving_out_and_not_the_kind() -> None:
    assert left_out("vendor/a.go", ["nothing", "vendor/**"]) is None
    assert noise_of("vendor/a.go") is Noise.VENDORED
    assert left_out("node_modules/a.js", ["vendor/**"]) is Noise.VENDORED


@given(st.text(), st.lists(st.text(max_size=10), max_size=3))
def test_any_path_and_any_pattern_get_an_answer(path: str, include: list[str]) -> None:
    kind = noise_of(path)
    assert left_out(path, include) in (None, kind)
    assert left_out(path, [*include, "**"]) is None


@given(st.text(st.characters(exclude_characters="*?[]\\/", exclude_categories=["Cs", "Z", "Cc"]), min_size=1))
def test_a_name_is_a_pattern_for_itself(name: str) -> None:
    if name != ".":
        assert included(f"a/{name}/b", (name,))
        assert included(name, (f"/{name}",))
