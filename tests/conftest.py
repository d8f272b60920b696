import pytest

pytest.register_assert_rewrite("farm.testing", "sandbox.testing", "tests.builders", "tests.services")

pytest_plugins = ["tests.services.fixtures", "tests.services.no_skips", "tests.services.one_place"]
