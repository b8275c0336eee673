"""Labels: the terms that tell a class from the others, distinct, the same in any order."""

from __future__ import annotations

import math

import pytest

from inference.labels import labels, term_weights


def test_the_formula_is_that_of_class_based_tf_idf() -> None:
    weights = term_weights({"m": {"auth": 3.0, "fix": 1.0}, "w": {"fix": 2.0}})
    assert weights["m"]["auth"] == pytest.approx(3 / 4 * math.log(1 + 3 / 3))
    assert weights["m"]["fix"] == pytest.approx(1 / 4 * math.log(1 + 3 / 3))
    assert weights["w"] == {"fix": pytest.approx(math.log(1 + 3 / 3))}


def test_a_term_of_every_class_gives_way_to_what_tells_them_apart() -> None:
    found = labels(
        {"m": {"fix": 5.0, "auth": 4.0}, "w": {"fix": 5.0, "cart": 4.0}, "x": {"fix": 5.0, "search": 4.0}}, 1
    )
    assert found == {"m": ("auth",), "w": ("cart",), "x": ("search",)}


def test_terms_come_best_first_and_equals_by_name() -> None:
    assert labels({"m": {"b": 2.0, "a": 2.0, "c": 3.0}}) == {"m": ("c", "a")}


def test_a_term_that_is_part_of_a_better_one_is_left_out() -> None:
    assert labels({"m": {"refresh-token": 5.0, "token": 4.0, "auth": 1.0}}) == {
        "m": ("refresh-token", "auth")
    }


def test_no_two_classes_have_the_same_label_while_there_are_other_terms() -> None:
    same = {"auth": 3.0, "jwt": 2.0, "login": 1.0}
    found = labels({"m": same, "w": same, "x": same, "y": same})
    assert len(set(found.values())) == 4
    assert found["m"] == ("auth", "jwt")


def test_without_other_terms_a_label_may_come_twice() -> None:
    assert labels({"m": {"auth": 3.0}, "w": {"auth": 2.0}}) == {"m": ("auth",), "w": ("auth",)}


def test_a_name_that_is_kept_stays_and_is_not_given_again() -> None:
    same = {"auth": 3.0, "jwt": 2.0, "login": 1.0}
    found = labels({"m": same, "w": same}, named={"w": ("auth", "jwt")})
    assert found["w"] == ("auth", "jwt")
    assert found["m"] not in {("auth", "jwt"), ()}


def test_a_class_without_terms_has_no_label() -> None:
    assert labels({"m": {}, "w": {"auth": 0.0}, "x": {"cart": -1.0}}) == {"m": (), "w": (), "x": ()}
    assert labels({}) == {}


def test_the_order_of_classes_and_terms_does_not_matter() -> None:
    classes = {
        name: {f"t{(number * 7 + place) % 11}": 0.1 * number + 0.3 for number in range(9)}
        for place, name in enumerate("mwxyz")
    }
    turned = {name: dict(reversed(terms.items())) for name, terms in reversed(classes.items())}
    assert labels(turned) == labels(classes)


def test_chinese_terms_are_labels_too() -> None:
    assert labels({"m": {"购物车": 3.0, "优惠券": 2.0}, "w": {"登录": 1.0}})["m"] == ("购物车", "优惠券")
