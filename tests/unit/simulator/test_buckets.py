"""Limits of a provider."""

from pointsman.simulator.buckets import Bucket


def test_bucket_admits_as_much_as_comes_back() -> None:
    bucket = Bucket(2.0)
    bucket.take(2.0, 0.0)

    assert not bucket.admits(1.0, 0.4)
    assert bucket.admits(1.0, 0.5)
    assert bucket.reset_s(0.5) == 0.5


def test_looking_takes_nothing() -> None:
    bucket = Bucket(1.0)

    assert all(bucket.admits(1.0, 0.0) for _ in range(3))


def test_request_that_is_larger_than_the_bucket_is_admitted_when_it_is_full() -> None:
    bucket = Bucket(1_000.0)

    assert bucket.admits(5_000.0, 0.0)
    bucket.take(5_000.0, 0.0)
    assert not bucket.admits(1.0, 3.9)
    assert bucket.admits(5_000.0, 5.0)


def test_change_of_the_rate_keeps_what_is_missing() -> None:
    bucket = Bucket(2.0)
    bucket.take(2.0, 0.0)

    bucket.change(8.0, 0.0)

    assert bucket.left(0.0) == 6.0
    assert bucket.left(0.25) == 8.0
