from __future__ import annotations

from datetime import timedelta

from django_leasejobs.worker.book import LeaseBook

from .support import claimed


def book_with(*leases: float, started: float = 100.0):
    book = LeaseBook()
    runs = [claimed(lease=timedelta(seconds=seconds)) for seconds in leases]
    book.add(runs, started)
    return book, runs


def test_an_empty_book_has_nothing_to_renew_or_distrust():
    book = LeaseBook()
    assert (len(book), book.tokens(), book.next_renewal(), book.next_distrust()) == (0, [], None, None)


def test_the_most_pressing_lease_sets_the_times_even_beside_one_that_lasts_much_longer():
    book, _ = book_with(600, 6)
    assert book.next_renewal() == 102
    assert book.next_distrust() == 105


def test_a_renewal_counts_from_its_start_and_a_late_answer_moves_nothing_back():
    book, (run,) = book_with(60)
    book.renewed([run.token], 130)
    book.renewed([run.token], 110)
    assert book.next_renewal() == 150
    assert book.next_distrust() == 185


def test_a_lease_is_distrusted_before_its_end_and_only_once():
    book, (run,) = book_with(60)
    assert book.drop_distrusted(154.9) == []
    assert book.drop_distrusted(155) == [run]
    assert book.drop_distrusted(155) == []
    assert len(book) == 0


def test_what_this_worker_is_ending_itself_is_neither_lost_nor_distrusted():
    book, (ending, other) = book_with(60, 60)
    book.finishing([ending.token])
    assert book.drop_lost([ending.token, other.token]) == [other]
    assert book.drop_distrusted(1000) == []
    assert book.drop([ending.token]) == [ending]


def test_unknown_tokens_are_nobodys_business():
    book, (run,) = book_with(60)
    book.renewed([run.token + 1], 500)
    book.finishing([run.token + 1])
    assert book.drop([run.token + 1]) == []
    assert book.drop_lost([run.token + 1]) == []
    assert book.get(run.token + 1) is None
    assert book.get(run.token) is run
