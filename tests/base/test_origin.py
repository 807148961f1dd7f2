"""Which requests a page answers."""

import pytest

from pliant.base.errors import BridgeError
from pliant.base.origin import foreign
from pliant.page.server import check_page_host


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "localhost:8080"},
        {"Host": "127.0.0.1:8080"},
        {"Host": "[::1]:8080"},
        {"Host": "LOCALHOST"},
        {"Host": "localhost:9000", "Origin": "http://localhost:9000"},  # another port: a tunnel
        {"Host": "localhost:8080", "Origin": "http://localhost:8080", "Sec-Fetch-Site": "same-origin"},
        {"Host": "localhost:8080", "Sec-Fetch-Site": "none"},
        {
            "Host": "localhost:8080",
            "Sec-Fetch-Site": "cross-site",
            "Sec-Fetch-Mode": "navigate",
            "Sec-Fetch-Dest": "document",
        },
    ],
)
def test_a_page_answers_its_own_requests_and_those_of_programs(headers):
    assert foreign(headers.items(), "127.0.0.1") == ""


@pytest.mark.parametrize(
    ("headers", "says"),
    [
        ({}, "is not this machine"),
        ({"Host": "site.example:8080"}, "is not this machine"),  # DNS rebinding
        ({"Host": "localhost.site.example"}, "is not this machine"),
        ({"Host": "127.0.0.1.site.example"}, "is not this machine"),
        ({"Host": "localhost:80@site.example"}, "is not this machine"),
        ({"Host": "localhost:8080", "Origin": "http://site.example"}, "is not this page"),
        ({"Host": "localhost:8080", "Origin": "null"}, "is not this page"),
        ({"Host": "localhost:8080", "Origin": ""}, "is not this page"),
        ({"Host": "localhost:8080", "Origin": "http://localhost:3000"}, "is not this page"),
        ({"Host": "localhost:8080", "Origin": "http://localhost:8080.site.example"}, "is not this page"),
        ({"Host": "localhost:8080", "Sec-Fetch-Site": "cross-site"}, "another site"),
        ({"Host": "localhost:8080", "Sec-Fetch-Site": "same-site"}, "another site"),
        (
            {
                "Host": "localhost:8080",
                "Sec-Fetch-Site": "cross-site",
                "Sec-Fetch-Mode": "navigate",
                "Sec-Fetch-Dest": "iframe",
            },
            "another site",
        ),
        ({"Host": "localhost:" + "8" * 500}, "too long"),
    ],
)
def test_a_page_does_not_answer_other_sites(headers, says):
    assert says in foreign(headers.items(), "127.0.0.1")


def test_a_header_that_is_there_twice_is_refused():
    assert "twice" in foreign([("Host", "localhost"), ("host", "site.example")], "127.0.0.1")


def test_a_form_of_another_site_that_opens_the_page_by_post_is_refused():
    headers = {
        "Host": "localhost",
        "Sec-Fetch-Site": "cross-site",
        "Sec-Fetch-Mode": "navigate",
        "Sec-Fetch-Dest": "document",
    }
    assert "another site" in foreign(headers.items(), "127.0.0.1", method="POST")


def test_the_name_that_a_page_is_served_under_is_its_own():
    assert foreign([("Host", "lab-pc.local:8080")], "lab-pc.local") == ""


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "[::]", ""])
def test_a_page_is_not_served_on_every_interface(host):
    with pytest.raises(BridgeError, match="must be one address of it"):
        check_page_host(host)
